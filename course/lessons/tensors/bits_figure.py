"""A number as its dtypes store it, bit by bit: `show_bits`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import torch

from course.figures.palette import FAULT, FILLS, INK, MUTED
from course.figures.picture import Picture
from course.figures.scene import (
    WIDTH,
    Box,
    Item,
    Label,
    Scene,
    paint,
    stack,
    text_width,
)
from course.lessons.tensors.stored_numbers import Number, Stored, stored
from course.lessons.tensors.type_promotion import dtype_name

__all__ = ["show_bits"]

_FILLS = {"sign": FILLS[0], "exponent": FILLS[1], "fraction": FILLS[2], "bits": FILLS[3]}
_NAMES = 76.0  # px for the names of the dtypes
_WIDEST = 20.0  # px of one bit, at most
_SPACE = 6.0  # px between groups
_TALL = 24.0
_DEFAULT = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


def show_bits(number: Number, *dtypes: torch.dtype) -> Picture:
    """A picture of what each dtype stores for a number: bits in groups, and what they mean.

    Without dtypes it shows the four floating-point ones. Integers stand with their lowest bits
    under each other.

    Args:
        number: A Python bool, int or float; a float is taken in float64 first.
        dtypes: What stores it.

    Raises:
        ValueError: A dtype isn't drawn bit by bit; the message names those that are.

    >>> print(show_bits(300, torch.int16, torch.uint8).alt)
    300 in int16: 0 000000100101100, stored: 300, exact. 300 in uint8: 00101100, stored: 44, off \
by -256.
    """
    rows = [stored(number, dtype) for dtype in dtypes or _DEFAULT]
    scene = stack((_row(row, *_place(rows, row)) for row in rows), gap=8)
    alt = " ".join(_words(number, row) for row in rows)
    return Picture(partial(paint, scene), alt=alt, caption=_caption(number, rows))


def _place(rows: Sequence[Stored], row: Stored) -> tuple[float, float]:
    """How wide one bit is, and how far the row is moved to the right."""
    most = max(len(one.bits) for one in rows)
    groups = max((len(one.groups) for one in rows), default=1)
    wide = min(_WIDEST, (WIDTH - _NAMES - _SPACE * groups) / max(most, 1))
    only_integers = not any(one.dtype.is_floating_point for one in rows)
    return wide, (most - len(row.bits)) * wide if only_integers else 0.0


def _row(row: Stored, wide: float, moved: float) -> Scene:
    # Groups are packed to the right, so that the last bits of integers stand under each other.
    x = _NAMES + moved + (_SPACE if len(row.groups) == 1 else 0.0)
    items: list[Item] = []
    for name, bits in row.groups:
        items.append(_heading(name, x, wide))
        for bit in bits:
            items.append(Box(x, 18, wide, _TALL, bit, (_FILLS[name],), INK, size=12.0))
            x += wide
        x += _SPACE
    items.append(Label(0, 30, dtype_name(row.dtype), bold=True))
    y = 54.0 if row.groups else 30.0
    items.append(Label(_NAMES, y, row.note, ink=_ink(row)))
    right = max(x, _NAMES + text_width(row.note))
    return Scene(right, y + 12, tuple(items))


def _heading(name: str, x: float, wide: float) -> Label:
    """The name of a group above its first bit; "sign" ends there, since one bit is narrow."""
    if name == "sign":
        return Label(x + wide, 8, name, "right", MUTED)
    return Label(x, 8, name, ink=MUTED)


def _ink(row: Stored) -> str:
    return FAULT if not row.groups else INK


def _words(number: Number, row: Stored) -> str:
    shown = " ".join(bits for _, bits in row.groups)
    said = f"{shown}, {row.note}" if shown else row.note
    return f"{number!r} in {dtype_name(row.dtype)}: {said}."


def _caption(number: Number, rows: Sequence[Stored]) -> str:
    said = [f"{number!r}, bit by bit, the highest bit first."]
    if any(row.dtype.is_floating_point for row in rows):
        said.append("The exponent chooses a power of two, the fraction a place above it.")
    if any(len(row.groups) == 2 for row in rows):
        said.append("In a signed integer the first bit counts negative.")
    return " ".join(said)
