"""Small grey pictures with their numbers written into the pixels: `show_grey`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from course.figures.palette import CARD, FILLS, MUTED, contrast
from course.figures.picture import Picture
from course.figures.scene import (
    SMALL,
    WIDTH,
    Box,
    Item,
    Label,
    Scene,
    flow,
    heading,
    paint,
    stack,
)
from course.figures.scene import text_width as width_of

__all__ = ["show_grey"]

_PIXEL = 30.0  # px, the least side of a square: three digits fit
_MOST = 12  # rows and columns; more numbers would not be read
_WHITE = 255.0
_MARK = FILLS[5]
_INKS = ("#000000", CARD)  # INK is a little too light for the greys in the middle

Rows = Sequence[Sequence[float]]
Mask = Sequence[Sequence[bool]]


def show_grey(pictures: Mapping[str, Any], marked: Mapping[str, Any] | None = None) -> Picture:
    """A picture of small grey pictures under their names, each pixel with its number in it.

    Args:
        pictures: Tensors or arrays of at most 12 rows and columns; 0 is black and 255 is white.
        marked: Masks of the same shape by the same names; a pixel that is true there gets a frame.

    Raises:
        ValueError: A picture has another shape, or a mask fits none.
    """
    rows = {name: _rows(name, picture) for name, picture in pictures.items()}
    masks = {name: _mask(name, mask, rows) for name, mask in (marked or {}).items()}
    side = _side(rows.values())
    notes = {name: _note(masks.get(name)) for name in rows} if masks else {}
    panels = [_panel(name, rows[name], masks.get(name), side, notes.get(name)) for name in rows]
    told = _row_to_read(masks.values())
    alt = " ".join(_words(name, values, masks.get(name), told) for name, values in rows.items())
    caption = "Each square is one pixel: 0 is black, 255 is white."
    if any(_count(mask) for mask in masks.values()):
        caption += " Framed pixels are marked."
    return Picture(partial(paint, flow(panels, WIDTH, gap=24)), alt=alt, caption=caption)


def _rows(name: str, picture: Any) -> list[list[float]]:
    """The numbers of a picture row by row; refuses what is none."""
    if len(picture.shape) != 2 or not 0 < min(picture.shape) <= max(picture.shape) <= _MOST:
        raise ValueError(
            f"show_grey() draws pictures of at most {_MOST} rows and columns; "
            f"{name!r} has shape {tuple(picture.shape)}."
        )
    return [[float(value) for value in row] for row in picture.tolist()]


def _mask(name: str, mask: Any, rows: Mapping[str, Rows]) -> list[list[bool]]:
    """Which pixels of a picture are marked."""
    if name not in rows:
        raise ValueError(f"marked names {name!r}, but the pictures are {', '.join(rows)}.")
    shape = (len(rows[name]), len(rows[name][0]))
    if tuple(mask.shape) != shape:
        raise ValueError(f"the mask of {name!r} has shape {tuple(mask.shape)} instead of {shape}.")
    return [[bool(value) for value in row] for row in mask.tolist()]


def _side(pictures: Iterable[Rows]) -> float:
    """The side of a pixel into which each number fits."""
    texts = {_number(value) for rows in pictures for row in rows for value in row}
    return max(_PIXEL, *(width_of(text) + 6 for text in texts))


def _panel(name: str, rows: Rows, mask: Mask | None, side: float, note: str | None) -> Scene:
    """One picture under its name; with `note` a line below, so that pictures stay in line."""
    pixels: list[Item] = []
    frames: list[Item] = []
    for y, row in enumerate(rows):
        for x, value in enumerate(row):
            pixels.append(_pixel(value, x * side, y * side, side))
            if mask is not None and mask[y][x]:
                frames += _frame(x * side, y * side, side)
    parts = [heading(name), Scene(len(rows[0]) * side, len(rows) * side, (*pixels, *frames))]
    if note is not None:
        parts.append(Scene(width_of(note), 22, (Label(0, 13, note, ink=MUTED),)))
    return stack(parts)


def _pixel(value: float, x: float, y: float, side: float) -> Box:
    level = round(255 * min(max(value / _WHITE, 0.0), 1.0))
    grey = f"#{level:02x}{level:02x}{level:02x}"
    ink = max(_INKS, key=lambda one: contrast(one, grey))
    return Box(x, y, side, side, _number(value), (grey,), MUTED, ink, size=SMALL)


def _number(value: float) -> str:
    """The number as it is written into a pixel."""
    return f"{value:.0f}" if value == round(value) else f"{value:.1f}"


def _frame(x: float, y: float, side: float) -> list[Item]:
    """Three frames, one in the other: a thick one, seen on black and on white."""
    return [
        Box(x + inset, y + inset, side - 2 * inset, side - 2 * inset, fills=("none",), edge=_MARK)
        for inset in (0.5, 1.5, 2.5)
    ]


def _count(mask: Mask | None) -> int:
    return sum(map(sum, mask or ()))


def _note(mask: Mask | None) -> str:
    if mask is None:
        return ""
    return f"{_count(mask)} of {len(mask) * len(mask[0])} pixels marked"


def _row_to_read(masks: Iterable[Mask]) -> int:
    """The row that the words read out: the one with most marks."""
    marks = [(sum(row), y) for mask in masks for y, row in enumerate(mask)]
    return max(marks, default=(0, 0))[1]


def _words(name: str, rows: Rows, mask: Mask | None, told: int) -> str:
    """What a reader who cannot see the picture would otherwise miss."""
    values = [value for row in rows for value in row]
    told = min(told, len(rows) - 1)
    said = (
        f"Picture {name!r} of {len(rows)} × {len(rows[0])} pixels, "
        f"from {_number(min(values))} to {_number(max(values))}. "
        f"Row {told} reads {', '.join(map(_number, rows[told]))}."
    )
    return f"{said} {_note(mask)}." if mask is not None else said
