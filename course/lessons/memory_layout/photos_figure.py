"""Small photos as a model gets them, drawn pixel by pixel: `show_photos`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

import torch

from course.figures.palette import CARD, INK, MUTED, contrast
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
    text_width,
)

__all__ = ["show_photos"]

_PIXEL = 22.0
_MOST = 24  # pixels in a row; more would not be told apart
_LETTERS = "RGB"
_MOST_NAMED = 4  # colours of a photo that its alt text counts


def show_photos(*photos: torch.Tensor, names: Sequence[str]) -> Picture:
    """A picture of photos by their names, each pixel one square.

    Each pixel has its own colour and, in letters, which of R, G and B are at least half on. Below a
    photo stands the mean of each colour.

    Args:
        photos: Of shape (3, height, width), at most 24 pixels a side, with values from 0 to 1; what
            lies beyond is drawn as 0 or 1.
        names: One for each.

    Raises:
        ValueError: A photo has another shape, or there are not as many names.
    """
    if len(photos) != len(names):
        raise ValueError(f"show_photos() got {len(photos)} photos and {len(names)} names.")
    pixels = [_pixels(photo, name) for photo, name in zip(photos, names, strict=True)]
    scenes = [_photo_scene(rows, name) for rows, name in zip(pixels, names, strict=True)]
    words = " ".join(_words(rows, name) for rows, name in zip(pixels, names, strict=True))
    caption = "One square is one pixel. R, G and B say which of its three numbers are 0.5 or more."
    return Picture(partial(paint, flow(scenes, WIDTH, gap=40)), alt=words, caption=caption)


Pixel = tuple[float, float, float]


def _pixels(photo: torch.Tensor, name: str) -> list[list[Pixel]]:
    """The pixels row by row, each as its three numbers."""
    if photo.dim() != 3 or photo.shape[0] != 3 or not 0 < max(photo.shape[1:]) <= _MOST:
        raise ValueError(
            f"show_photos() draws shape (3, height, width), at most {_MOST} pixels a side; "
            f"{name} has shape {tuple(photo.shape)}."
        )
    rows = photo.detach().to(torch.float64).clamp(0, 1).movedim(0, -1).tolist()
    return [[(red, green, blue) for red, green, blue in row] for row in rows]


def _photo_scene(rows: Sequence[Sequence[Pixel]], name: str) -> Scene:
    items: list[Item] = []
    for y, row in enumerate(rows):
        for x, pixel in enumerate(row):
            items.append(_box(pixel, x * _PIXEL, y * _PIXEL))
    mean = f"mean R, G, B: {', '.join(f'{mean:.2f}' for mean in _means(rows))}"
    note = Scene(text_width(mean), 20, (Label(0, 12, mean, ink=MUTED),))
    body = Scene(len(rows[0]) * _PIXEL, len(rows) * _PIXEL, tuple(items))
    return stack([heading(name), body, note])


def _box(pixel: Pixel, x: float, y: float) -> Box:
    colour = "#" + "".join(f"{round(255 * value):02x}" for value in pixel)
    ink = max((INK, CARD), key=lambda one: contrast(one, colour))
    return Box(x, y, _PIXEL, _PIXEL, _letters(pixel), (colour,), MUTED, ink, size=SMALL)


def _letters(pixel: Pixel) -> str:
    return "".join(letter for letter, value in zip(_LETTERS, pixel, strict=True) if value >= 0.5)


def _means(rows: Sequence[Sequence[Pixel]]) -> list[float]:
    flat = [pixel for row in rows for pixel in row]
    return [sum(values) / len(flat) for values in zip(*flat, strict=True)]


def _words(rows: Sequence[Sequence[Pixel]], name: str) -> str:
    """What a reader who cannot see the photo would otherwise miss."""
    size = f"Photo {name!r} of {len(rows)} × {len(rows[0])} pixels"
    counted = Counter(_letters(pixel) or "none" for row in rows for pixel in row).most_common()
    if len(counted) == 1:
        return f"{size}: every pixel is {counted[0][0]}."
    listed = ", ".join(f"{count} are {letters}" for letters, count in counted[:_MOST_NAMED])
    first = " ".join(_letters(pixel) or "-" for pixel in rows[0])
    return f"{size}: {listed}. Its first row reads {first}."
