"""How far each floating-point dtype reaches, to scale on one logarithmic line: `show_floats`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import torch

from course.figures.palette import FAULT, MUTED, REST, RULE, fill
from course.figures.picture import Picture, drawing
from course.figures.scene import (
    TEXT,
    WIDTH,
    Arrow,
    Box,
    Item,
    Label,
    Scene,
    flow,
    paint,
    stack,
)
from course.figures.scene import text_width as wide

__all__ = ["Reach", "reach_of", "show_floats"]

_SIDE = 30.0  # px on both sides of the line, for "0" and "inf"
_BAR = 22.0
_TICKS = (5, 10, 20, 50, 100)  # decades from one mark of the axis to the next
_DEFAULT = (torch.float16, torch.bfloat16, torch.float32)
_CAPTION = (
    "To scale: equal steps to the right multiply by equal factors. The arrow starts at the x where "
    "exp(x) arrives at the largest number; everything beyond is inf."
)


@dataclass(frozen=True)
class Reach:
    """Where the numbers of a dtype begin and end, all as Python floats.

    From `counting` on, neighbours are more than 1 apart; `exp` is the x whose exp is `largest`.
    """

    name: str
    least: float
    normal: float
    counting: float
    largest: float

    @property
    def exp(self) -> float:
        """The logarithm of the largest number: exp of anything above it is inf."""
        return math.log(self.largest)


def show_floats(*dtypes: torch.dtype) -> Picture:
    """A picture of the numbers that each dtype has, from the smallest to the largest.

    Args:
        dtypes: Floating-point ones of 2 bytes or more; without any: float16, bfloat16 and float32.

    Raises:
        ValueError: Another dtype is among them.
    """
    reaches = [reach_of(dtype) for dtype in dtypes or _DEFAULT]
    alt = " ".join(_words(reach) for reach in reaches)
    if not drawing():
        return Picture(lambda: paint(Scene(1, 1)), alt=alt)
    low = min(math.log2(reach.least) for reach in reaches) - 1
    high = max(math.log2(reach.largest) for reach in reaches) + 1
    axis = _Axis(low, high)
    scenes = [_legend(), _axis_scene(axis), *(_bar(reach, axis) for reach in reaches)]
    return Picture(partial(paint, stack(scenes, gap=8)), alt=alt, caption=_CAPTION)


def reach_of(dtype: torch.dtype) -> Reach:
    """Where the numbers of this dtype begin and end."""
    if not dtype.is_floating_point or dtype.itemsize == 1:
        raise ValueError(
            f"show_floats() draws floating-point dtypes of 2 bytes or more, not {dtype}."
        )
    info = torch.finfo(dtype)
    name = str(dtype).removeprefix("torch.")
    return Reach(name, info.tiny * info.eps, info.tiny, 2 / info.eps, info.max)


def _words(reach: Reach) -> str:
    return (
        f"{reach.name}: from {reach.least:.2g}, with all digits from {reach.normal:.2g}, to "
        f"{reach.largest:.3g}; every whole number up to {reach.counting:.0f}; exp(x) overflows "
        f"above x = {reach.exp:.2f}."
    )


@dataclass(frozen=True)
class _Axis:
    """A logarithmic line: powers of two from `low` to `high` over the figure's width."""

    low: float
    high: float

    def at(self, value: float) -> float:
        share = (math.log2(value) - self.low) / (self.high - self.low)
        return _SIDE + share * (WIDTH - 2 * _SIDE)


def _legend() -> Scene:
    entries = [
        (REST, "very small: fewer digits are kept"),
        (fill(0), "neighbours at most 1 apart"),
        (fill(1), "neighbours more than 1 apart"),
    ]
    scenes = [
        Scene(
            20 + wide(words),
            18,
            (Box(0, 2, 14, 14, fills=(colour,), dashed=colour == REST), Label(20, 9, words)),
        )
        for colour, words in entries
    ]
    return flow(scenes, WIDTH, gap=20)


def _axis_scene(axis: _Axis) -> Scene:
    """Powers of ten above the bars, with a mark at each."""
    first, last = (x * math.log10(2) for x in (axis.low, axis.high))
    step = next((n for n in _TICKS if (last - first) / n <= 12), _TICKS[-1])
    items: list[Item] = [Box(_SIDE, 21, WIDTH - 2 * _SIDE, 0, edge=RULE)]
    for power in range(math.ceil(first / step) * step, math.floor(last) + 1, step):
        x = axis.at(10.0**power)
        words = "1" if power == 0 else f"1e{power}"
        items.append(Label(x, 8, words, "center", MUTED))
        items.append(Box(x, 17, 0, 8, edge=RULE))
    return Scene(WIDTH, 25, tuple(items))


def _bar(reach: Reach, axis: _Axis) -> Scene:
    """One dtype: its name and numbers in words, the bar, and where exp leaves it."""
    least, normal, counting, largest = (
        axis.at(x) for x in (reach.least, reach.normal, reach.counting, reach.largest)
    )
    one, start = axis.at(1.0), axis.at(reach.exp)
    head = f"largest {reach.largest:.4g}, every whole number up to {reach.counting:,.0f}"
    top, low = 20.0, 20.0 + _BAR
    items: list[Item] = [
        Label(0, 9, reach.name, size=TEXT, bold=True),
        Label(wide(reach.name, TEXT, bold=True) + 10, 9, head, ink=MUTED),
        Box(least, top, normal - least, _BAR, fills=(REST,), edge=RULE, dashed=True),
        Box(normal, top, counting - normal, _BAR, fills=(fill(0),)),
        Box(counting, top, largest - counting, _BAR, fills=(fill(1),)),
        Box(one, top, 0, _BAR),
        Label(one - 4, top + _BAR / 2, "1", "right"),
        Label(least - 6, top + _BAR / 2, "0", "right", MUTED),
        Label(largest + 6, top + _BAR / 2, "inf", ink=FAULT),
        Arrow(
            ((start, low + 1), (start, low + 9), (largest + 14, low + 9), (largest + 14, low - 2))
        ),
        Label(start, low + 21, f"exp(x) is inf above x = {reach.exp:.2f}", ink=FAULT),
    ]
    return Scene(WIDTH, low + 32, tuple(items))
