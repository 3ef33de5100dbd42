"""Small pictures as squares of grey: what a network is given, to compare by eye."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from course.figures.palette import INK, MUTED
from course.figures.picture import Picture
from course.figures.scene import Box, Item, Label, Scene, beside, flow, paint, stack, text_width

__all__ = ["show_pixels"]

_PIXEL = 14.0  # px, the side of a square
_WIDTH = 850.0  # px of a whole figure, at most
_MOST = 32  # rows and columns that are drawn


def show_pixels(pictures: Mapping[str, Any], black: float = 0.0, white: float = 1.0) -> Picture:
    """Each picture in shades of grey under its name.

    Args:
        pictures: Two-dimensional arrays or tensors by name; of each, up to 32 rows and columns are
            drawn.
        black: The value that is drawn black, and so is what lies below.
        white: The value that is drawn white, and so is what lies above.

    Raises:
        ValueError: A picture has no two dimensions or no pixel, or `white` isn't above `black`.
    """
    rows = {name: _rows(picture) for name, picture in pictures.items()}
    if white <= black:
        raise ValueError(f"white={white} must be above black={black}")
    scenes = [_panel(name, values, black, white) for name, values in rows.items()]
    alt = " ".join(_words(name, values) for name, values in rows.items())
    caption = f"Black: {black:g} and below. White: {white:g} and above."
    return Picture(partial(paint, flow(scenes, _WIDTH, gap=24)), alt=alt, caption=caption)


def _rows(picture: Any) -> list[list[float]]:
    rows = picture.tolist()
    if not rows or not isinstance(rows[0], list) or isinstance((rows[0] or [[]])[0], list):
        raise ValueError("a picture has two dimensions, rows and columns, and at least one pixel")
    return [[float(value) for value in row[:_MOST]] for row in rows[:_MOST]]


def _panel(name: str, rows: list[list[float]], black: float, white: float) -> Scene:
    width, height = len(rows[0]) * _PIXEL, len(rows) * _PIXEL
    squares = [
        Box(x * _PIXEL, y * _PIXEL, _PIXEL, _PIXEL, fills=(grey,), edge=grey)
        for y, row in enumerate(rows)
        for x, value in enumerate(row)
        if (grey := _grey((value - black) / (white - black)))
    ]
    frame = Box(0, 0, width, height, fills=("none",), edge=INK)
    span = _span(rows)
    wide = max(width, text_width(name, bold=True), text_width(span)) + 4
    title: list[Item] = [Label(0, 9, name, bold=True)]
    note: list[Item] = [Label(0, 11, span, ink=MUTED)]
    parts = (Scene(wide, 18, tuple(title)), Scene(width, height, (*squares, frame)))
    return beside([stack([*parts, Scene(wide, 20, tuple(note))], gap=3)])


def _grey(share: float) -> str:
    level = round(255 * min(max(share, 0.0), 1.0))
    return f"#{level:02x}{level:02x}{level:02x}"


def _span(rows: list[list[float]]) -> str:
    values = [value for row in rows for value in row]
    return f"from {min(values):.3g} to {max(values):.3g}"


def _words(name: str, rows: list[list[float]]) -> str:
    return f"{name}: {len(rows)} x {len(rows[0])} pixels, {_span(rows)}."
