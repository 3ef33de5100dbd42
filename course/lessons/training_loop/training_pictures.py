"""What the training explorer draws: the way through the valley, and what a step reads."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from course.figures.curves import SIZE, dress
from course.figures.palette import CARD, FAULT, INK, MUTED, RULE, fill
from course.figures.picture import Picture
from course.figures.scene import SMALL, WIDTH, Box, Item, Label, Scene, paint, text_width
from course.lessons.training_loop.training_run import Update, best, loss_at

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["gradient_picture", "path_picture"]

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
        f"{loss_at(weights[at]):.3g}. With all examples in each update: loss "
        f"{loss_at(others[at]):.3g}."
    )
    caption = (
        "Left: the loss over the weight, and the steps so far. Right: the loss over the updates; "
        "dashed with all 22 examples in each step, at the same rate."
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
        (f"mean over these {update.examples} examples", [(update.wanted, "", CARD)]),
        (
            "what step() reads, by batch",
            [(p.added, str(p.examples), fill(n)) for n, p in enumerate(update.parts)],
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
        f"Gradient of the mean over {update.examples} examples: {update.wanted:.3g}; "
        f"what step() reads: {update.grad:.3g}, from batches of "
        f"{', '.join(str(part.examples) for part in update.parts)}."
    )
    caption = "To scale. Numbers in the cells: the examples of each batch."
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
