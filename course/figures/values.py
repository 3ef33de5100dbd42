"""The steps of a computation as rows of values, with inf and nan marked: `show_values`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial

import torch

from course.figures.palette import CARD, INK, MUTED, REST, RULE, fill
from course.figures.picture import Picture, drawing
from course.figures.scene import TEXT, Box, Item, Label, Scene, paint, stack, text_width

__all__ = ["show_values"]

_ROW = 28.0  # px, the height of a box
_LEAST = 46.0  # px, the least width of a box
_MOST = 12  # values of a row; more make boxes that nobody reads
_CAPTION = "A row for each tensor, with its dtype at the end."
_MARKED = {"Orange: inf.": ("inf", "-inf"), "Red: nan.": ("nan",), "Grey: 0.": ("0", "-0")}


def show_values(rows: Mapping[str, torch.Tensor]) -> Picture:
    """Each tensor as a row of boxes under its name, so that one sees where inf and nan come in.

    Args:
        rows: By name a tensor without dimensions, or with one of at most 12 elements.

    Raises:
        ValueError: A tensor has more dimensions or elements, or none.

    >>> z = torch.tensor([1000.0, 0.0])
    >>> print(show_values({"z": z, "exp(z)": z.exp()}).alt)
    z: 1000, 0. exp(z): inf, 1.
    """
    words = {name: [_word(value) for value in _values(name, row)] for name, row in rows.items()}
    alt = " ".join(f"{name}: {', '.join(row)}." for name, row in words.items())
    if not drawing():
        return Picture(lambda: paint(Scene(1, 1)), alt=alt)
    dtypes = [str(row.dtype).removeprefix("torch.") for row in rows.values()]
    left = max((text_width(name, TEXT) for name in words), default=0) + 14
    texts = [word for row in words.values() for word in row]
    width = max([_LEAST, *(text_width(word, TEXT) + 14 for word in texts)])
    scenes = [
        _row(name, row, dtype, left, width)
        for (name, row), dtype in zip(words.items(), dtypes, strict=True)
    ]
    told = [mark for mark, of in _MARKED.items() if not set(of).isdisjoint(texts)]
    caption = " ".join([_CAPTION, *told])
    return Picture(partial(paint, stack(scenes, gap=6)), alt=alt, caption=caption)


def _values(name: str, row: torch.Tensor) -> list[float]:
    if row.dim() > 1 or not 0 < row.numel() <= _MOST:
        raise ValueError(
            f"a row shows 1 to {_MOST} values in one dimension; "
            f"{name!r} has shape {tuple(row.shape)}. Show a part of it."
        )
    return [float(value) for value in row.detach().reshape(-1).tolist()]


def _word(value: float) -> str:
    """The value in at most four digits; a whole number of up to eight digits in full."""
    if math.isfinite(value) and value == int(value) and abs(value) < 1e8:
        return f"{value:.0f}"
    return f"{value:.4g}"


def _row(name: str, words: Sequence[str], dtype: str, left: float, width: float) -> Scene:
    items: list[Item] = [Label(left - 12, _ROW / 2, name, "right", size=TEXT)]
    for number, word in enumerate(words):
        colour = _colour(word)
        edge = RULE if colour == REST else INK
        items.append(Box(left + number * (width + 4), 0, width, _ROW, word, (colour,), edge))
    end = left + len(words) * (width + 4) + 6
    items.append(Label(end, _ROW / 2, dtype, ink=MUTED))
    return Scene(end + text_width(dtype), _ROW, tuple(items))


def _colour(word: str) -> str:
    known = {"nan": fill(5), "inf": fill(1), "-inf": fill(1), "0": REST, "-0": REST}
    return known.get(word, CARD)
