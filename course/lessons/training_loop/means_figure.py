"""The losses of an epoch's batches beside their two means: `show_means`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from itertools import accumulate

import torch

from course.figures.curves import number_of
from course.figures.palette import FAULT, INK, MUTED, fill
from course.figures.picture import Picture, drawing
from course.figures.scene import SMALL, WIDTH, Box, Item, Label, Scene, paint, text_width

__all__ = ["show_means"]

_LEFT, _RIGHT = 72.0, 216.0  # px beside the bars; the means are named on the right
_TALL = 170.0
_LINE = 17.0  # px from one line of text to the next
_CAPTION = (
    "A bar for each batch: as wide as it has samples, as high as its mean loss. The bars' area "
    "over their width is the mean over all samples; the mean of the batch means treats all "
    "bars as equally wide."
)


def show_means(losses: Sequence[float | torch.Tensor], sizes: Sequence[int]) -> Picture:
    """A picture of the batches' mean losses, with the mean of them and the mean over samples.

    Args:
        losses: The mean loss of each batch, finite and 0 or more.
        sizes: The samples of each batch, 1 or more.

    Raises:
        ValueError: There is no batch, not one size for each loss, or a number out of these bounds.
    """
    if not drawing():
        return Picture(lambda: paint(Scene(1, 1)), alt="Figures are not drawn in this process.")
    values, widths = [number_of(loss) for loss in losses], [int(size) for size in sizes]
    if not values or len(values) != len(widths) or min(widths) < 1:
        raise ValueError("show_means() takes a loss and a size of 1 or more for each batch.")
    if not all(math.isfinite(value) and value >= 0 for value in values):
        raise ValueError(f"show_means() draws losses from 0 upwards, and finite; got {values}.")
    of_batches = sum(values) / len(values)
    pairs = list(zip(values, widths, strict=True))
    of_samples = sum(value * size for value, size in pairs) / sum(widths)
    scene = _scene(pairs, of_batches, of_samples)
    listed = ", ".join(f"{value:.3g} over {size}" for value, size in pairs)
    alt = (
        f"Mean losses of the batches: {listed}. Mean of the batch means {of_batches:.3g}, "
        f"mean over samples {of_samples:.3g}."
    )
    return Picture(partial(paint, scene), alt=alt, caption=_CAPTION)


def _scene(pairs: Sequence[tuple[float, int]], of_batches: float, of_samples: float) -> Scene:
    low = 1.5 * _LINE + _TALL
    unit = _TALL / (max(value for value, _ in pairs) or 1.0)
    each = (WIDTH - _LEFT - _RIGHT) / sum(size for _, size in pairs)
    starts = accumulate((size * each for _, size in pairs), initial=_LEFT)
    items: list[Item] = [
        Label(0, low + 10, "samples", ink=MUTED),
        Label(0, low + 10 + _LINE, "mean loss", ink=MUTED),
    ]
    free = [0.0, 0.0]  # where the next number of each row may begin
    for number, ((value, size), x) in enumerate(zip(pairs, starts, strict=False)):
        height, width = value * unit, size * each
        items.append(Box(x, low - height, width, height, fills=(fill(number),)))
        for row, words in enumerate((str(size), f"{value:.3g}")):
            left = x + (width - text_width(words)) / 2
            if left >= free[row]:
                items.append(Label(x + width / 2, low + 10 + row * _LINE, words, "center"))
                free[row] = left + text_width(words) + 4
    items += _means(low, unit, of_batches, of_samples)
    return Scene(WIDTH, low + 10 + 1.6 * _LINE, tuple(items))


def _means(low: float, unit: float, of_batches: float, of_samples: float) -> list[Item]:
    """Both means as lines over all bars, with their names where they don't meet."""
    end = WIDTH - _RIGHT + 6
    rows = [
        (low - of_batches * unit, f"mean of means {of_batches:.3g}", FAULT, True),
        (low - of_samples * unit, f"mean over samples {of_samples:.3g}", INK, False),
    ]
    rows.sort(key=lambda row: row[0])
    apart = max(0.0, _LINE - (rows[1][0] - rows[0][0])) / 2
    items: list[Item] = []
    for (y, words, ink, dashed), shift in zip(rows, (-apart, apart), strict=True):
        items.append(Box(_LEFT, y, end - _LEFT, 0, edge=ink, dashed=dashed))
        items.append(Label(end + 5, y + shift, words, ink=ink, size=SMALL, bold=True))
    return items
