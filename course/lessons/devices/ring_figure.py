"""A ring all-reduce, step by step: `show_ring`."""

from __future__ import annotations

from functools import partial

from course.figures.palette import CARD, INK, MUTED, RULE, fill
from course.figures.picture import Picture, drawing
from course.figures.scene import SMALL, WIDTH, Box, Item, Label, Scene, flow, paint

__all__ = ["Held", "ring_steps", "show_ring"]

Held = list[list[frozenset[int]]]  # of each rank, of each piece: whose numbers are in it

_CELL = 46.0  # px
_LEFT = 46.0
_MOST = 4  # ranks: more do not fit
_CAPTION = (
    "A table for each moment: a row for each rank, a column for each piece of the vector. In a "
    "cell: whose numbers are added up there. Dashed: it came in this step. White: the sum of all."
)


def show_ring(ranks: int = 3) -> Picture:
    """A picture of a ring all-reduce: what each rank holds of each piece, after every step.

    Args:
        ranks: 2 to 4.

    Raises:
        ValueError: There are fewer or more ranks.
    """
    if not drawing():
        return Picture(lambda: paint(Scene(1, 1)), alt="Figures are not drawn in this process.")
    if not 2 <= ranks <= _MOST:
        raise ValueError(f"show_ring() draws 2 to {_MOST} ranks, not {ranks}.")
    steps = ring_steps(ranks)
    scenes = [_table(number, steps) for number in range(len(steps))]
    alt = " ".join(
        f"{_title(number, ranks)}: " + "; ".join(", ".join(map(_sum, row)) for row in step) + "."
        for number, step in enumerate(steps)
    )
    return Picture(partial(paint, flow(scenes, WIDTH, gap=22)), alt=alt, caption=_CAPTION)


def ring_steps(ranks: int) -> list[Held]:
    """What every rank holds at first and after each of the 2 * (ranks - 1) steps.

    Args:
        ranks: How many there are.

    Returns:
        For each moment, for each rank, for each piece the ranks whose numbers are in it.
    """
    held: Held = [[frozenset({rank})] * ranks for rank in range(ranks)]
    steps = [held]
    for step in range(2 * (ranks - 1)):
        after = [list(row) for row in held]
        for rank in range(ranks):
            to = (rank + 1) % ranks
            if step < ranks - 1:
                piece = (rank - step) % ranks
                after[to][piece] = held[rank][piece] | held[to][piece]
            else:
                piece = (rank - step + ranks) % ranks
                after[to][piece] = held[rank][piece]
        held = after
        steps.append(held)
    return steps


def _title(number: int, ranks: int) -> str:
    if not number:
        return "at first"
    return f"step {number}: {'add' if number < ranks else 'copy'}"


def _sum(ranks: frozenset[int]) -> str:
    return "+".join(map(str, sorted(ranks)))


def _table(number: int, steps: list[Held]) -> Scene:
    held, before = steps[number], steps[max(0, number - 1)]
    ranks = len(held)
    wide = max(_CELL, 9.0 * (2 * ranks - 1) + 10)
    items: list[Item] = [Label(_LEFT, 9, _title(number, ranks), bold=True)]
    for rank, row in enumerate(held):
        y = 22 + rank * (_CELL - 12)
        items.append(Label(0, y + 17, f"rank {rank}", ink=MUTED))
        for piece, names in enumerate(row):
            new = names != before[rank][piece]
            colour = CARD if len(names) == ranks else fill(piece)
            at = _LEFT + piece * wide, y, wide, _CELL - 12
            edge = INK if new else RULE
            items.append(Box(*at, _sum(names), (colour,), edge, dashed=new, size=SMALL))
    return Scene(_LEFT + ranks * wide, 22 + ranks * (_CELL - 12), tuple(items))
