"""The training explorer: learning rate, batch size and accumulation, update by update.

The training that the explorer shows: one weight, 22 samples, real gradients and steps.

What the training explorer draws: the way through the valley, and what a step reads.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Any

import torch

from course.figures.curves import SIZE, dress
from course.figures.palette import CARD, FAULT, INK, MUTED, RULE, fill
from course.figures.picture import Picture, drawing
from course.figures.scene import SMALL, WIDTH, Box, Item, Label, Scene, paint, text_width
from course.widgets.explorer import Explorer, labelled
from course.widgets.pages import PROSE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "SCALINGS",
    "UPDATES",
    "Part",
    "Settings",
    "TrainingExplorer",
    "TrainingPanel",
    "Update",
    "best",
    "explore_training",
    "gradient_picture",
    "loss_at",
    "path_picture",
    "train",
]

UPDATES = 16
AS_IT_IS, DIVIDED, WEIGHED = "as it is", "divide by accumulation", "weigh by samples"
SCALINGS = (AS_IT_IS, DIVIDED, WEIGHED)
_SAMPLES = 22  # no multiple of 4: the last batch of an epoch is smaller
_START = 3.0


@dataclass(frozen=True)
class Settings:
    """What the controls say: rate, batch size, batches for one step, and what losses are scaled by.

    `scaling` is one of `SCALINGS`: each batch's mean loss goes backward as it is, divided by the
    number of batches that are asked for, or weighed by its share of the step's samples.
    """

    lr: float = 0.1
    batch: int = 4
    accumulate: int = 1
    scaling: str = AS_IT_IS

    def __post_init__(self) -> None:
        if not (self.lr > 0 and math.isfinite(self.lr)):
            raise ValueError(f"lr is a number above 0, not {self.lr}.")
        if not 1 <= self.batch <= _SAMPLES or self.accumulate < 1:
            raise ValueError(
                f"batch is from 1 to {_SAMPLES} and accumulate from 1 on; "
                f"got {self.batch} and {self.accumulate}."
            )
        if self.scaling not in SCALINGS:
            raise ValueError(f"scaling is one of {', '.join(SCALINGS)}; not {self.scaling!r}.")


@dataclass(frozen=True)
class Part:
    """What one batch added to `.grad`."""

    samples: int
    added: float


@dataclass(frozen=True)
class Update:
    """One step: the weight before and after it, and what its gradient was made of.

    `wanted` is the gradient of the mean over this step's samples, computed in one piece.
    """

    before: float
    after: float
    parts: tuple[Part, ...]
    wanted: float

    @property
    def grad(self) -> float:
        """What `step()` read."""
        return sum(part.added for part in self.parts)

    @property
    def samples(self) -> int:
        """How many samples the step has seen."""
        return sum(part.samples for part in self.parts)


def _data() -> tuple[torch.Tensor, torch.Tensor]:
    """Inputs with a mean square of 1, so that rates above 1 diverge, and noisy targets."""
    generator = torch.Generator().manual_seed(11)
    x = torch.randn(_SAMPLES, generator=generator, dtype=torch.float64)
    x = x / x.square().mean().sqrt()
    return x, x + 0.5 * torch.randn(_SAMPLES, generator=generator, dtype=torch.float64)


def loss_at(weight: float) -> float:
    """The mean loss over all samples."""
    x, y = _data()
    return float((x * weight - y).square().mean())


def best() -> float:
    """The weight at which that loss is least."""
    x, y = _data()
    return float((x * y).sum() / x.square().sum())


def train(settings: Settings) -> list[Update]:
    """The first updates of a training with these settings."""
    x, y = _data()
    weight = torch.tensor(_START, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=settings.lr)
    updates: list[Update] = []
    for group in _groups(settings):
        optimizer.zero_grad()
        parts = [_backward(weight, x[part], y[part], group, settings) for part in group]
        together = torch.cat([torch.arange(part.start, part.stop) for part in group])
        wanted = torch.autograd.grad(_loss(weight, x[together], y[together]), weight)[0]
        before = weight.item()
        optimizer.step()
        updates.append(Update(before, weight.item(), tuple(parts), wanted.item()))
    return updates


def _groups(settings: Settings) -> Iterator[list[slice]]:
    """The batches of each update, as many updates as are shown; an epoch's last may have fewer."""
    batches = [
        slice(i, min(i + settings.batch, _SAMPLES)) for i in range(0, _SAMPLES, settings.batch)
    ]
    size = settings.accumulate
    epoch = [batches[i : i + size] for i in range(0, len(batches), size)]
    for number in range(UPDATES):
        yield epoch[number % len(epoch)]


def _loss(weight: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return (x * weight - y).square().mean()


def _backward(
    weight: torch.Tensor, x: torch.Tensor, y: torch.Tensor, group: list[slice], how: Settings
) -> Part:
    """Add the gradient of one batch to the weight's, scaled as the settings say."""
    samples = sum(part.stop - part.start for part in group)
    factor = {AS_IT_IS: 1.0, DIVIDED: 1 / how.accumulate, WEIGHED: len(x) / samples}[how.scaling]
    had = 0.0 if weight.grad is None else weight.grad.item()
    (_loss(weight, x, y) * factor).backward()
    assert weight.grad is not None
    return Part(len(x), weight.grad.item() - had)


_HEIGHT = 2.9  # inches
_LEFT, _BAR = 250.0, 22.0  # px
_REACH = 3.0  # from the best weight to the left and right end of the valley
_WITHIN = 1e6  # times the first loss: what grows beyond isn't drawn


def path_picture(updates: Sequence[Update], full: Sequence[Update], at: int) -> Picture:
    """The loss over the weight with the steps taken so far, and the loss over the updates."""
    weights = [updates[0].before, *(update.after for update in updates)]
    others = [full[0].before, *(update.after for update in full)]
    alt = (
        f"After {at} of {len(updates)} updates: weight {weights[at]:.3g}, loss "
        f"{loss_at(weights[at]):.3g}. With all samples in each update: loss "
        f"{loss_at(others[at]):.3g}."
    )
    caption = (
        "Left: the loss over the weight, and the steps so far. Right: the loss over the updates; "
        "dashed with all 22 samples in each step, at the same rate."
    )
    return Picture(partial(_draw, weights, others, at), alt=alt, caption=caption)


def _draw(weights: Sequence[float], others: Sequence[float], at: int) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH / 96, _HEIGHT), facecolor=CARD, layout="constrained")
    valley, losses = figure.subplots(1, 2)
    _valley(valley, weights[: at + 1])
    most = _WITHIN * loss_at(weights[0])
    for line, style, colour in ((weights, "-", INK), (others, "--", MUTED)):
        heights = [_up_to(most, loss_at(weight)) for weight in line]
        losses.plot(range(len(line)), heights, linestyle=style, color=colour, linewidth=2)
    losses.plot([at], [_up_to(most, loss_at(weights[at]))], "o", color=FAULT, markersize=8)
    dress(valley, "weight", "loss")
    dress(losses, "update", "loss", log=True)
    return figure


def _up_to(most: float, value: float) -> float:
    """The value; beyond `most` the line ends."""
    return value if value <= most else math.nan


def _valley(axes: Axes, weights: Sequence[float]) -> None:
    """The parabola with the weights so far; one outside is named instead."""
    middle = best()
    low, high = middle - _REACH, middle + _REACH
    ground = [low + (high - low) * i / 60 for i in range(61)]
    axes.plot(ground, [loss_at(weight) for weight in ground], color=RULE, linewidth=2)
    axes.plot(
        weights, [loss_at(weight) for weight in weights], ".-", color=INK, linewidth=1, markersize=7
    )
    axes.plot([weights[-1]], [loss_at(weights[-1])], "o", color=FAULT, markersize=8)
    if not low <= weights[-1] <= high:
        words = f"weight {weights[-1]:.3g}: outside"
        axes.text(middle, loss_at(high), words, color=FAULT, ha="center", va="top", fontsize=SIZE)
    axes.set_xlim(low, high)
    axes.set_ylim(0, loss_at(high) * 1.05)


def gradient_picture(update: Update) -> Picture:
    """What the step reads, batch by batch, under the gradient that it stands for."""
    ends = [sum(max(p.added, 0) for p in update.parts), sum(min(p.added, 0) for p in update.parts)]
    high, low = max(*ends, update.wanted, 0), min(*ends, update.wanted, 0)
    unit = (WIDTH - _LEFT - 8) / ((high - low) or 1.0)
    zero = _LEFT - low * unit
    rows = [
        (f"mean over these {update.samples} samples", [(update.wanted, "", CARD)]),
        (
            "what step() reads, by batch",
            [(p.added, str(p.samples), fill(n)) for n, p in enumerate(update.parts)],
        ),
    ]
    items: list[Item] = []
    for number, (words, cells) in enumerate(rows):
        y = number * (_BAR + 6)
        value = sum(cell[0] for cell in cells)
        items.append(Label(0, y + _BAR / 2, f"{words}: {value:.3g}"))
        items += _cells(cells, zero, y, unit)
    items.append(Box(zero, -3, 0, 2 * _BAR + 12, edge=MUTED))
    alt = (
        f"Gradient of the mean over {update.samples} samples: {update.wanted:.3g}; "
        f"what step() reads: {update.grad:.3g}, from batches of "
        f"{', '.join(str(part.samples) for part in update.parts)}."
    )
    caption = "To scale. Numbers in the cells: the samples of each batch."
    return Picture(
        partial(paint, Scene(WIDTH, 2 * _BAR + 10, tuple(items))), alt=alt, caption=caption
    )


def _cells(
    cells: Sequence[tuple[float, str, str]], zero: float, y: float, unit: float
) -> list[Item]:
    """Bars beside each other, those below zero to the left."""
    left = right = zero
    boxes: list[Item] = []
    for value, words, colour in cells:
        width = abs(value) * unit
        x = right if value > 0 else left - width
        left, right = (left, right + width) if value > 0 else (x, right)
        text = words if text_width(words) + 2 < width else ""
        boxes.append(Box(x, y, width, _BAR, text, (colour,), size=SMALL))
    return boxes


_RATES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.0, 1.1)


def explore_training(
    lr: float = 0.1, batch: int = 4, accumulate: int = 1, scaling: str = SCALINGS[0]
) -> TrainingExplorer:
    """An explorer of a training of one weight, which starts from these settings.

    In a live notebook it has sliders for the rate, the batches and the update; anywhere else it is
    a static page of all the updates.

    Args:
        lr: The learning rate, above 0.
        batch: Samples a batch, 1 to 22.
        accumulate: Batches whose gradients add up for one update.
        scaling: "as it is", "divide by accumulation" or "weigh by samples".

    Raises:
        ValueError: A setting is out of range; the message has the ranges.
    """
    return TrainingExplorer(Settings(lr, batch, accumulate, scaling))


class TrainingExplorer(Explorer["TrainingPanel"]):
    """What `explore_training` shows: a panel of widgets, or the same page without sliders."""

    def __init__(self, start: Settings) -> None:
        self._start = start

    def _make_panel(self) -> TrainingPanel:
        return TrainingPanel(self._start)

    def __repr__(self) -> str:
        return "\n".join(words_of(self._start, UPDATES))

    def _repr_html_(self) -> str:
        return page_html(self._start, UPDATES)


class TrainingPanel:
    """The widgets of one explorer. Every control has its label as text."""

    def __init__(self, start: Settings) -> None:
        from ipywidgets import HTML, Dropdown, HBox, Layout, Play, SelectionSlider, VBox, link

        rates = sorted({*_RATES, start.lr})
        self.lr = SelectionSlider(options=rates, value=start.lr, **_quiet("lr:"))
        self.batch = _slider("Batch size:", start.batch, 22)
        self.accumulate = _slider("Batches for one step:", start.accumulate, 6)
        label = labelled("Each batch's mean loss:")
        wide = Layout(width="auto")
        self.scaling = Dropdown(options=SCALINGS, value=start.scaling, layout=wide, **label)
        self.update = _slider("Update:", UPDATES, UPDATES)
        self.play = Play(value=UPDATES, min=1, max=UPDATES, interval=500)
        link((self.play, "value"), (self.update, "value"))
        self.page = HTML()
        rows = [(self.lr, self.batch), (self.accumulate, self.scaling), (self.play, self.update)]
        wrapped = Layout(flex_flow="row wrap")
        self.box = VBox([*(HBox(row, layout=wrapped) for row in rows), self.page])
        for control in (*self._controls(), self.update):
            control.observe(lambda _: self._draw(), names="value")
        self._draw()

    def _controls(self) -> tuple[Any, ...]:
        return self.lr, self.batch, self.accumulate, self.scaling

    @property
    def settings(self) -> Settings:
        """What the controls say now."""
        return Settings(*(control.value for control in self._controls()))

    def _draw(self) -> None:
        self.page.value = page_html(self.settings, self.update.value)


def _quiet(label: str) -> dict[str, Any]:
    """What a slider is made with that draws when it is let go."""
    from ipywidgets import Layout

    return {"continuous_update": False, "layout": Layout(width="400px"), **labelled(label)}


def _slider(label: str, value: int, most: int) -> Any:
    from ipywidgets import IntSlider

    return IntSlider(value, 1, max(most, value), **_quiet(label))


def page_html(settings: Settings, at: int) -> str:
    """The way of the weight up to this update, the update's gradient, and both in words."""
    words = "".join(f"<p>{escape(line)}</p>" for line in words_of(settings, at))
    pictures = ""
    if drawing():
        updates, full = train(settings), train(Settings(settings.lr, batch=22))
        shown = (path_picture(updates, full, at), gradient_picture(updates[at - 1]))
        pictures = "".join(picture._repr_html_() for picture in shown)
    return f"{pictures}<div style='{PROSE}'>{words}</div>"


def words_of(settings: Settings, at: int) -> list[str]:
    """What this update did, and what becomes of the training."""
    updates = train(settings)
    update = updates[at - 1]
    return [
        f"Update {at} of {len(updates)}: the weight goes from {update.before:.3g} to "
        f"{update.after:.3g}. {_reading(update)}",
        _outcome(updates),
    ]


def _reading(update: Update) -> str:
    samples = "its 1 sample" if update.samples == 1 else f"its {update.samples} samples"
    wanted = f"the gradient of the mean loss over {samples}"
    if abs(update.grad - update.wanted) <= 1e-9 * max(1.0, abs(update.wanted)):
        return f"step() reads {wanted}, as one large batch would give it."
    return f"step() reads {update.grad / update.wanted:.3g} times {wanted}."


def _outcome(updates: list[Update]) -> str:
    first, last, least = loss_at(updates[0].before), loss_at(updates[-1].after), loss_at(best())
    told = (
        f"After {len(updates)} updates the loss is {last:.3g}; the least possible is {least:.3g}."
    )
    if last > first:
        return f"{told} It grows: each step leaps over the valley and lands higher than before."
    swings = sum((a.after - best()) * (a.before - best()) < 0 for a in updates)
    if swings > len(updates) // 2:
        return f"{told} The weight swings from one side of the valley to the other."
    return told
