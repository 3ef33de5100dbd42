"""The promotion lattice: where two operands meet, drawn from what torch promotes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import torch

from course.figures.palette import CARD, FILLS, INK, LINE, MUTED, REST, RULE
from course.figures.picture import Picture
from course.figures.scene import Arrow, Box, Item, Label, Scene, paint, stack, text_width
from course.lessons.tensors.type_promotion import (
    DTYPES,
    KINDS,
    Agreement,
    Operand,
    agreement,
    dtype_name,
    edges,
    kind,
    reaches,
)

__all__ = ["picture_of", "show_promotion"]

_SLOTS: dict[torch.dtype, tuple[int, int]] = {  # column, and row: 0 above, 1 in the middle, 2 below
    torch.bool: (0, 1),
    torch.uint8: (1, 0),
    torch.int8: (1, 2),
    torch.int16: (2, 1),
    torch.int32: (3, 1),
    torch.int64: (4, 1),
    torch.float16: (5, 0),
    torch.bfloat16: (5, 2),
    torch.float32: (6, 1),
    torch.float64: (7, 0),
    torch.complex64: (8, 2),
    torch.complex128: (9, 1),
}
_GAP, _TALL, _STEP, _TOP = 24.0, 30.0, 40.0, 30.0
_PLAIN = (
    "Follow the arrows from two dtypes: the first one that both reach is that of the result. "
    "It's about kinds, not about what fits: int64 and float16 meet at float16, and that "
    "ends at 65504."
)
_ROLES = ("left", "right", "result")


def show_promotion(*operands: object) -> Picture:
    """A picture of which dtype two operands are computed in, or of all dtypes without operands.

    Arrows are what `torch.promote_types` says; the result is what `torch.result_type` says.

    Args:
        operands: None or two, each a tensor, a Python number, or a dtype, which stands for a tensor
            with dimensions.

    Raises:
        TypeError: There are one or more than two, or one is something else.

    >>> print(show_promotion(torch.uint8, 2.5).alt)
    Left: uint8, a tensor with dimensions. Right: 2.5, a Python number. Computed in float32. A \
Python number is heard if its kind is higher, and floats are a higher kind than integers. So it's \
float32, the default dtype of floats.
    """
    if len(operands) not in (0, 2):
        raise TypeError(f"show_promotion() takes no operand or two, not {len(operands)}.")
    if not operands:
        return _whole()
    left, right = (Operand.of(one) for one in operands)
    return picture_of(agreement(left, right))


def _whole() -> Picture:
    steps = ", ".join(f"{dtype_name(a)} to {dtype_name(b)}" for a, b in edges())
    alt = f"{len(DTYPES)} dtypes and the steps of promotion: {steps}."
    return Picture(partial(paint, _lattice({}, frozenset())), alt=alt, caption=_PLAIN)


def picture_of(found: Agreement, *, reason: bool = True) -> Picture:
    """The lattice with two operands and their result marked.

    Args:
        found: What torch says of the operands.
        reason: Whether the caption says why; not where that stands beside the picture.
    """
    roles: dict[torch.dtype, list[int]] = {}
    for number, operand in enumerate((found.left, found.right)):
        if found.counts[number]:
            roles.setdefault(operand.dtype, []).append(number)
    roles.setdefault(found.result, []).append(2)
    scene = stack([_lattice(roles, _ways(found)), _legend(found)], gap=12)
    alt = (
        f"Left: {found.left.words}. Right: {found.right.words}. "
        f"Computed in {dtype_name(found.result)}. {found.why}"
    )
    return Picture(partial(paint, scene), alt=alt, caption=found.why if reason else "")


def _ways(found: Agreement) -> frozenset[tuple[torch.dtype, torch.dtype]]:
    """The steps on the way from an operand that counts to the result."""
    pairs = zip((found.left, found.right), found.counts, strict=True)
    starts = [operand.dtype for operand, heard in pairs if heard]
    return frozenset(
        (a, b)
        for a, b in edges()
        if reaches(b, found.result) and any(reaches(start, a) for start in starts)
    )


def _lattice(
    roles: dict[torch.dtype, list[int]], ways: frozenset[tuple[torch.dtype, torch.dtype]]
) -> Scene:
    boxes = {dtype: _box(dtype, roles.get(dtype, [])) for dtype in DTYPES}
    # Steps on the way are drawn last, over the others.
    lines = sorted(edges(), key=lambda step: step in ways)
    arrows = [_arrow(boxes[a], boxes[b], on_the_way=(a, b) in ways) for a, b in lines]
    right = max(box.x + box.width for box in boxes.values()) + 8
    bands = _bands(boxes)
    return Scene(right, _TOP + 2 * _STEP + _TALL + 8, (*bands, *arrows, *boxes.values()))


def _columns() -> list[tuple[float, float]]:
    """Left edge and width of each column: as wide as its widest name."""
    found, x = [], 8.0
    for column in range(max(column for column, _ in _SLOTS.values()) + 1):
        names = [dtype_name(d) for d, (c, _) in _SLOTS.items() if c == column]
        wide = max(text_width(name) for name in names) + 10
        found.append((x, wide))
        x += wide + _GAP
    return found


def _box(dtype: torch.dtype, roles: Sequence[int]) -> Box:
    column, row = _SLOTS[dtype]
    x, wide = _columns()[column]
    fills = tuple(FILLS[role] for role in roles) or (CARD,)
    y = _TOP + row * _STEP
    return Box(x, y, wide, _TALL, dtype_name(dtype), fills, INK if roles else MUTED, size=12.0)


def _arrow(start: Box, end: Box, *, on_the_way: bool) -> Arrow:
    points = (
        (start.x + start.width, start.y + start.height / 2),
        (end.x - 1, end.y + end.height / 2),
    )
    return Arrow(points, INK if on_the_way else RULE)


def _bands(boxes: dict[torch.dtype, Box]) -> list[Item]:
    """A ground for each kind, with its name above."""
    found: list[Item] = []
    for number, name in enumerate(KINDS):
        mine = [box for dtype, box in boxes.items() if kind(dtype) == number]
        left = min(box.x for box in mine) - 7
        right = max(box.x + box.width for box in mine) + 7
        found.append(
            Box(left, _TOP - 8, right - left, 2 * _STEP + _TALL + 16, fills=(REST,), edge=LINE)
        )
        found.append(Label(left + 2, 10, name, ink=MUTED))
    return found


def _legend(found: Agreement) -> Scene:
    """Which operand has which colour, and what came of it."""
    said = [
        (found.left.words + ("" if found.counts[0] else ": has no say"), FILLS[0]),
        (found.right.words + ("" if found.counts[1] else ": has no say"), FILLS[1]),
        (dtype_name(found.result), FILLS[2]),
    ]
    items: list[Item] = []
    for number, ((words, colour), role) in enumerate(zip(said, _ROLES, strict=True)):
        y = 22.0 * number
        items.append(Box(8, y, 14, 14, fills=(colour,)))
        items.append(Label(30, y + 7, role, bold=True))
        items.append(Label(82, y + 7, words))
    return Scene(82 + max(text_width(words) for words, _ in said), 60, tuple(items))
