"""What the explorer of ranks draws: a row for each rank, filled in phase by phase."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from course.figures.palette import CARD, INK, MUTED, RULE, fill
from course.figures.picture import Picture
from course.figures.scene import SMALL, Box, Item, Label, Scene, paint
from course.lessons.devices.ranks_run import PHASES, Rank

__all__ = ["ranks_picture"]

# px: where each column begins, and how wide it is
_COLUMNS = {
    "weight": (72.0, 84.0),
    "samples": (168.0, 300.0),
    "own gradient": (480.0, 108.0),
    "all_reduce": (600.0, 108.0),
    "new weight": (720.0, 100.0),
}
_ROW, _GAP, _HEAD = 34.0, 10.0, 24.0
_CAPTION = (
    "A row for each rank, a column for each phase: what it has by then. Dashed: not yet. In a "
    "column, what's the same has the same colour."
)


def ranks_picture(ranks: Sequence[Rank], phase: int) -> Picture:
    """What the ranks have after so many phases of a step.

    Args:
        ranks: The step.
        phase: An index into PHASES.
    """
    rows = [_shown(rank) for rank in ranks]
    items: list[Item] = [
        Label(x + width / 2, 9, name, "center", ink=MUTED) for name, (x, width) in _COLUMNS.items()
    ]
    for number, row in enumerate(rows):
        y = _HEAD + number * (_ROW + _GAP)
        items.append(Label(0, y + _ROW / 2, f"rank {number}", bold=True))
        for column, (text, (x, width)) in enumerate(zip(row, _COLUMNS.values(), strict=True)):
            kinds = list(dict.fromkeys(other[column] for other in rows))
            there = column <= phase
            colour = fill(kinds.index(text)) if there else CARD
            edge = INK if there else RULE
            words = text if there else ""
            box = Box(x, y, width, _ROW, words, (colour,), edge, dashed=not there, size=SMALL)
            items.append(box)
    scene = Scene(824, _HEAD + len(rows) * (_ROW + _GAP), tuple(items))
    names = list(_COLUMNS)[: phase + 1]
    alt = f"After {PHASES[phase]}. " + " ".join(
        f"rank {number}: "
        + ", ".join(f"{name} {text}" for name, text in zip(names, row, strict=False))
        + "."
        for number, row in enumerate(rows)
    )
    return Picture(partial(paint, scene), alt=alt, caption=_CAPTION)


def _shown(rank: Rank) -> list[str]:
    samples = ", ".join(map(str, rank.samples)) or "none"
    numbers = f"{rank.own:.2f}", f"{rank.shared:.2f}", f"{rank.after:.4f}"
    return [f"{rank.before:.2f}", samples, *numbers]
