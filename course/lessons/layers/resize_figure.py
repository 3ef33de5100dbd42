"""Where the pixels of a resized row lie on the old ones, for each way to resize: `show_resize`."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch.nn.functional import interpolate

from course.figures.palette import CARD, INK, RULE, fill
from course.figures.picture import Picture, drawing
from course.figures.scene import (
    SMALL,
    WIDTH,
    Arrow,
    Box,
    Item,
    Scene,
    heading,
    paint,
    stack,
    text_width,
)

__all__ = ["MODES", "places_of", "show_resize"]

_MOST = 12  # pixels before and after; more make boxes that nobody reads
_ROW, _GAP = 26.0, 26.0  # px: the height of a pixel's box, and the room for an arrow
_CAPTION = (
    "Above: the pixels that are there. Below: the new ones. An arrow points at the place whose "
    "value a new pixel takes; a dot marks the middle of a pixel."
)
# What `interpolate` is told for each way to resize.
MODES: dict[str, dict[str, Any]] = {
    "nearest": {"mode": "nearest"},
    "nearest-exact": {"mode": "nearest-exact"},
    "linear": {"mode": "linear", "align_corners": False},
    "linear, align_corners": {"mode": "linear", "align_corners": True},
}
_HEADS = {
    "nearest": 'mode="nearest": the old pixel at the left edge of the new one',
    "nearest-exact": 'mode="nearest-exact": the old pixel at the middle of the new one',
    "linear": "align_corners=False: the outer edges lie on each other",
    "linear, align_corners": "align_corners=True: the corner pixels' middles lie on each other",
}


def show_resize(x: int | torch.Tensor, size: int, *modes: str) -> Picture:
    """A picture of a row of pixels and the new ones below it, to scale, for each way to resize.

    Args:
        x: A row of 2 to 12 numbers, or how many.
        size: The number of new pixels, 1 to 12.
        modes: "nearest", "nearest-exact", "linear" or "linear, align_corners"; without one, the two
            linear ways.

    Raises:
        ValueError: A number is out of these bounds, or a way is none of these.
    """
    row = torch.arange(float(x)) if isinstance(x, int) else x.detach().float()
    if row.dim() != 1 or not 2 <= len(row) <= _MOST or not 1 <= size <= _MOST:
        raise ValueError(
            f"show_resize() draws a row of 2 to {_MOST} pixels, and 1 to {_MOST} new ones; "
            f"got shape {tuple(row.shape)} and size {size}."
        )
    ways = modes or ("linear", "linear, align_corners")
    unknown = [way for way in ways if way not in MODES]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is not a way to resize. Take one of {', '.join(MODES)}.")
    results = {way: _resized(row, size, way) for way in ways}
    alt = f"{len(row)} pixels: {_listed(row)}. " + " ".join(
        f"{way}, to {size}: {_listed(result)}." for way, result in results.items()
    )
    if not drawing():
        return Picture(lambda: paint(Scene(1, 1)), alt=alt)
    scenes = [_scene(row, way, result) for way, result in results.items()]
    return Picture(partial(paint, stack(scenes, gap=16)), alt=alt, caption=_CAPTION)


def _resized(row: torch.Tensor, size: int, way: str) -> torch.Tensor:
    with torch.no_grad():
        return interpolate(row.view(1, 1, -1), size=size, **MODES[way]).flatten()


def _listed(row: torch.Tensor) -> str:
    return ", ".join(map(_number, row.tolist()))


def _number(value: float) -> str:
    """The number with at most two decimals, and none that says nothing."""
    return f"{value:.2f}".rstrip("0").rstrip(".") if abs(value) < 1e4 else f"{value:.3g}"


def places_of(before: int, after: int, way: str) -> list[tuple[float, float]]:
    """For each new pixel, where its middle lies and where its value is taken from.

    Both are counted in old pixels from the left edge of the row, so the middles of the old ones
    lie at 0.5, 1.5, and so on.

    >>> places_of(2, 4, "linear")[0], places_of(2, 4, "nearest")[1]
    ((0.25, 0.25), (0.75, 0.5))
    """
    if way == "linear, align_corners":
        step = (before - 1) / (after - 1) if after > 1 else 0.0
        return [(0.5 + j * step, 0.5 + j * step) for j in range(after)]
    middles = [(j + 0.5) * before / after for j in range(after)]
    if way == "linear":
        return [(middle, middle) for middle in middles]
    if way == "nearest-exact":
        return [(middle, int(middle) + 0.5) for middle in middles]
    return [(middle, j * before // after + 0.5) for j, middle in enumerate(middles)]


# --- the scene ----------------------------------------------------------------------------------


def _scene(row: torch.Tensor, way: str, result: torch.Tensor) -> Scene:
    """The old pixels, the new ones below them, and an arrow from each to its place."""
    before, after = len(row), len(result)
    unit = WIDTH / before
    items: list[Item] = []
    for j, value in enumerate(row.tolist()):
        items.append(_box(j * unit, 0, unit, value, CARD))
        middle = (j + 0.5) * unit
        items.append(Box(middle - 2, _ROW - 2, 4, 4, fills=(INK,)))
    places = places_of(before, after, way)
    wide = _pixel(before, after, way) * unit
    lower = _ROW + _GAP
    for (middle, taken), value in zip(places, result.tolist(), strict=True):
        items.append(_box(middle * unit - wide / 2, lower, wide, value, fill(0)))
        items.append(Arrow(((middle * unit, lower), (taken * unit, _ROW + 3))))
    row_scene = Scene(WIDTH, lower + _ROW, tuple(items))
    return stack([heading(f"{_HEADS[way]}  ({before} → {after})"), row_scene], gap=4)


def _pixel(before: int, after: int, way: str) -> float:
    """How wide a new pixel is, in old ones; with aligned corners none hangs over the edge."""
    if way != "linear, align_corners":
        return before / after
    return min(1.0, (before - 1) / (after - 1)) if after > 1 else 1.0


def _box(x: float, y: float, width: float, value: float, colour: str) -> Box:
    words = _number(value)
    if text_width(words) > width - 4:
        words = f"{value:.1f}"
    return Box(x, y, width, _ROW, words, (colour,), RULE if colour == CARD else INK, size=SMALL)
