"""The explorer of ranks: step through scatter, backward, all_reduce and step.

The step that the explorer of ranks shows: one weight, real gradients, phase by phase.

What the explorer of ranks draws: a row for each rank, filled in phase by phase.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import Any

import torch

from course.figures.palette import CARD, INK, MUTED, RULE, fill
from course.figures.picture import Picture, drawing
from course.figures.scene import SMALL, Box, Item, Label, Scene, paint
from course.widgets.explorer import Explorer, labelled
from course.widgets.pages import PROSE

__all__ = [
    "PHASES",
    "WAYS",
    "Rank",
    "RanksExplorer",
    "RanksPanel",
    "Settings",
    "alone",
    "explore_ranks",
    "ranks_picture",
    "run",
]

PHASES = ("start", "scatter", "backward", "all_reduce", "step")
WEIGHED, PLAIN, SUM, NOTHING = "weighed by samples", "plain mean", "sum", "nothing"
WAYS = (WEIGHED, PLAIN, SUM, NOTHING)
MOST_RANKS, MOST_SAMPLES = 4, 12
_LR, _APART = 0.01, 0.25  # the rate, and how far the starts of two ranks lie apart


@dataclass(frozen=True)
class Settings:
    """What the controls say.

    `way` is one of `WAYS`: what the all_reduce makes of the ranks' gradients. With `alike` all
    ranks start with the same weight, as after a broadcast.
    """

    ranks: int = 2
    samples: int = 5
    way: str = PLAIN
    alike: bool = True

    def __post_init__(self) -> None:
        if not (1 <= self.ranks <= MOST_RANKS and 1 <= self.samples <= MOST_SAMPLES):
            raise ValueError(
                f"ranks is from 1 to {MOST_RANKS} and samples from 1 to {MOST_SAMPLES}; "
                f"got {self.ranks} and {self.samples}."
            )
        if self.way not in WAYS:
            raise ValueError(f"way is one of {', '.join(WAYS)}; not {self.way!r}.")


@dataclass(frozen=True)
class Rank:
    """One rank in one step: its samples, its weights, and its gradient before and afterwards."""

    samples: tuple[int, ...]
    before: float
    own: float
    shared: float
    after: float


def run(settings: Settings) -> list[Rank]:
    """One step of all ranks.

    Args:
        settings: How many ranks and samples there are, and what is averaged.

    Returns:
        What each rank has, in their order. A rank without samples has a gradient of 0.
    """
    shards = torch.arange(1, settings.samples + 1).tensor_split(settings.ranks)
    starts = [0.0 if settings.alike else _APART * rank for rank in range(settings.ranks)]
    own = [_gradient(shard, start) for shard, start in zip(shards, starts, strict=True)]
    shared = _shared(own, [len(shard) for shard in shards], settings.way)
    return [
        Rank(tuple(shard.tolist()), start, mine, ours, start - _LR * ours)
        for shard, start, mine, ours in zip(shards, starts, own, shared, strict=True)
    ]


def alone(settings: Settings) -> float:
    """The weight after the same step in a single process, with all samples.

    Args:
        settings: How many samples there are.
    """
    return run(Settings(1, settings.samples))[0].after


def _gradient(shard: torch.Tensor, start: float) -> float:
    """That of the mean of (weight * x - x)², which is least for a weight of 1."""
    if not len(shard):
        return 0.0
    weight = torch.tensor(start, dtype=torch.float64, requires_grad=True)
    (weight * shard - shard).square().mean().backward()
    assert weight.grad is not None
    return weight.grad.item()


def _shared(own: list[float], sizes: list[int], way: str) -> list[float]:
    if way == NOTHING:
        return own
    weights = {
        WEIGHED: [size / sum(sizes) for size in sizes],
        PLAIN: [1 / len(own)] * len(own),
        SUM: [1.0] * len(own),
    }[way]
    return [sum(w * g for w, g in zip(weights, own, strict=True))] * len(own)


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


_LAST = len(PHASES) - 1
_SAME = 1e-9


def explore_ranks(
    ranks: int = 2, samples: int = 5, way: str = PLAIN, alike: bool = True
) -> RanksExplorer:
    """An explorer of one training step of several ranks, which starts from these settings.

    In a live notebook it has controls, and a slider for the phases of the step; anywhere else it
    is a static page of the whole step.

    Args:
        ranks: 1 to 4.
        samples: 1 to 12, dealt out as evenly as can be.
        way: "weighed by samples", "plain mean", "sum" or "nothing".
        alike: Whether all ranks start with the same weight.
    """
    return RanksExplorer(Settings(ranks, samples, way, alike))


class RanksExplorer(Explorer["RanksPanel"]):
    """What `explore_ranks` shows: a panel of widgets, or the same page without controls."""

    def __init__(self, start: Settings) -> None:
        self._start = start

    def _make_panel(self) -> RanksPanel:
        return RanksPanel(self._start)

    def __repr__(self) -> str:
        return "\n".join(words_of(self._start, _LAST))

    def _repr_html_(self) -> str:
        return page_html(self._start, _LAST)


class RanksPanel:
    """The widgets of one explorer. Every control has its label as text."""

    def __init__(self, start: Settings) -> None:
        from ipywidgets import HTML, Checkbox, Dropdown, HBox, Layout, Play, VBox, link

        self.ranks = _slider("Ranks:", start.ranks, 1, MOST_RANKS)
        self.samples = _slider("Samples:", start.samples, 1, MOST_SAMPLES)
        self.way = Dropdown(options=WAYS, value=start.way, **labelled("all_reduce gives:"))
        self.alike = Checkbox(value=start.alike, **labelled("They start alike"))
        self.phase = _slider("Phase:", 0, 0, _LAST)
        self.play = Play(value=0, min=0, max=_LAST, interval=900)
        link((self.play, "value"), (self.phase, "value"))
        self.page = HTML()
        rows = [(self.ranks, self.samples), (self.way, self.alike), (self.play, self.phase)]
        wrapped = Layout(flex_flow="row wrap")
        self.box = VBox([*(HBox(row, layout=wrapped) for row in rows), self.page])
        for control in (*self._controls(), self.phase):
            control.observe(lambda _: self._draw(), names="value")
        self._draw()

    def _controls(self) -> tuple[Any, ...]:
        return self.ranks, self.samples, self.way, self.alike

    @property
    def settings(self) -> Settings:
        """What the controls say now."""
        return Settings(*(control.value for control in self._controls()))

    def _draw(self) -> None:
        self.page.value = page_html(self.settings, self.phase.value)


def _slider(label: str, value: int, least: int, most: int) -> Any:
    from ipywidgets import IntSlider, Layout

    layout = Layout(width="340px")
    return IntSlider(value, least, most, continuous_update=False, layout=layout, **labelled(label))


def page_html(settings: Settings, phase: int) -> str:
    """The ranks up to this phase as a picture, and what happens in it, in words.

    Args:
        settings: What the controls say.
        phase: An index into PHASES.
    """
    words = "".join(f"<p>{escape(line)}</p>" for line in words_of(settings, phase))
    picture = ranks_picture(run(settings), phase)._repr_html_() if drawing() else ""
    return f"{picture}<div style='{PROSE}'>{words}</div>"


def words_of(settings: Settings, phase: int) -> list[str]:
    """What happens in this phase, and after the last one what became of it.

    Args:
        settings: What the controls say.
        phase: An index into PHASES.
    """
    told = {
        "start": f"Each rank has a model of one weight. Samples in the batch: {settings.samples}.",
        "scatter": "Each rank takes its own samples.",
        "backward": "Each rank computes the gradient of the mean loss over its samples.",
        "all_reduce": f"What all ranks read then: {settings.way}.",
        "step": "Each rank takes a step with a rate of 0.01.",
    }[PHASES[phase]]
    if settings.way == WAYS[-1] and PHASES[phase] == "all_reduce":
        told = "Nobody asks the others: each rank reads its own gradient."
    lines = [f"Phase {phase} of {_LAST}, {PHASES[phase]}. {told}"]
    return [*lines, _outcome(settings)] if phase == _LAST else lines


def _outcome(settings: Settings) -> str:
    after, single = [rank.after for rank in run(settings)], alone(settings)
    if max(after) - min(after) > _SAME:
        return "The ranks have different weights now, and no later step will tell you."
    if abs(after[0] - single) > _SAME:
        return (
            f"All ranks have the weight {after[0]:.4f}; a single process with all samples would "
            f"have {single:.4f}."
        )
    return f"All ranks have the weight {single:.4f}, as a single process with all samples would."
