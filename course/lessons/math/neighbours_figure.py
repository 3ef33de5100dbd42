"""The numbers that a dtype has around a place, and where x + 1 lands there: `show_neighbours`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import torch

from course.figures.palette import FAULT, INK, MUTED, RULE, fill
from course.figures.picture import Picture, drawing
from course.figures.scene import (
    TEXT,
    WIDTH,
    Arrow,
    Box,
    Item,
    Label,
    Scene,
    paint,
    stack,
)

__all__ = ["Place", "place_of", "show_neighbours"]

_STEPS = 4  # gaps that are drawn on each side of the place
_UNIT = (WIDTH - 100) / (2 * _STEPS)  # px of the gap above the place
_LINE = 52.0  # px, where the number line lies
_CAPTION = (
    "Each bar is a number that the dtype can hold, and between two bars there's no other. Each "
    "line is to scale in its own unit, the gap above x."
)


@dataclass(frozen=True)
class Place:
    """A number x of the dtype, those around it as offsets from x, and what x + 1 gives."""

    x: float
    below: float  # the gap to the number before it
    above: float
    offsets: tuple[float, ...]
    plus_one: float  # what the dtype gives for x + 1, minus x


def show_neighbours(*places: float, dtype: torch.dtype = torch.float32) -> Picture:
    """A picture of the numbers that the dtype has around each place, one line a place.

    Args:
        places: Positive finite numbers that the dtype has.
        dtype: A floating-point one.

    Raises:
        ValueError: A place is none of the dtype's positive numbers.
    """
    found = [place_of(x, dtype) for x in places]
    alt = " ".join(_words(place) for place in found)
    if not drawing():
        return Picture(lambda: paint(Scene(1, 1)), alt=alt)
    name = str(dtype).removeprefix("torch.")
    scenes = [_line(place, name) for place in found]
    return Picture(partial(paint, stack(scenes, gap=12)), alt=alt, caption=_CAPTION)


def place_of(x: float, dtype: torch.dtype) -> Place:
    """The numbers of the dtype around x, as torch counts them."""
    here = torch.tensor(x, dtype=dtype)
    if here.item() != x or x <= 0 or math.isinf(x):
        raise ValueError(f"{x!r} is not a positive number of {dtype}. Take {here.item()!r}, say.")
    above = _next(here, math.inf).item() - x
    offsets = [0.0]
    for direction in (math.inf, -math.inf):
        near = _next(here, direction)
        while abs(near.item() - x) <= _STEPS * above:
            offsets.append(near.item() - x)
            near = _next(near, direction)
    below = x - _next(here, -math.inf).item()
    return Place(x, below, above, tuple(sorted(offsets)), (here + 1).item() - x)


def _next(here: torch.Tensor, direction: float) -> torch.Tensor:
    return torch.nextafter(here, torch.tensor(direction, dtype=here.dtype))


def _name(x: float) -> str:
    """A power of two as such, beside its digits."""
    power = math.log2(x)
    digits = f"{x:,.0f}" if x == int(x) else f"{x:g}"
    return f"2**{power:.0f} = {digits}" if power == int(power) and x > 1000 else digits


def _words(place: Place) -> str:
    return (
        f"At x = {_name(place.x)} the next number is {place.above:.3g} above and the one before "
        f"{place.below:.3g} below; {_lands(place)}."
    )


def _lands(place: Place) -> str:
    if place.plus_one == 1:
        return "x + 1 is a number of its own"
    back = "x" if place.plus_one == 0 else f"x + {place.plus_one:g}"
    return f"x + 1 lies between two numbers and becomes {back}"


def _line(place: Place, name: str) -> Scene:
    head = (
        f"x = {_name(place.x)} in {name}: the next number is {place.above:.3g} above, "
        f"the one before {place.below:.3g} below"
    )
    items: list[Item] = [
        Label(0, 8, head, size=TEXT),
        Box(0, _LINE, WIDTH, 0, edge=RULE),
        *(mark for offset in place.offsets for mark in _number(place, offset)),
        *_one_more(place),
    ]
    return Scene(WIDTH, _LINE + 36, tuple(items))


def _at(place: Place, offset: float) -> float:
    return WIDTH / 2 + offset / place.above * _UNIT


def _number(place: Place, offset: float) -> list[Item]:
    """A bar for a number of the dtype; every second one of close neighbours keeps its label."""
    x = _at(place, offset)
    bar = Box(x - 3, _LINE - 10, 6, 20, fills=(fill(1 if offset == 0 else 0),), edge=INK)
    if offset and (offset / place.above) % 1:
        return [bar]
    words = "x" if offset == 0 else f"{offset:+.3g}"
    return [bar, Label(x, _LINE + 22, words, "center", INK if offset == 0 else MUTED)]


def _one_more(place: Place) -> list[Item]:
    """Where x + 1 would be, if that is in sight, and what becomes of it."""
    if _STEPS * place.above < 1:
        steps = f"{1 / place.above:,.0f}"
        return [Label(WIDTH, 30, f"x + 1 is {steps} numbers further", "right", MUTED)]
    here, there = _at(place, 0), _at(place, 1)
    if place.plus_one == 1:
        return [
            Arrow(((here, _LINE - 12), (here, 30), (there, 30), (there, _LINE - 12))),
            Label(there + 8, 30, "x + 1"),
        ]
    end = _at(place, place.plus_one)
    return [
        Box(there - 3, _LINE - 10, 6, 20, fills=("none",), edge=FAULT, dashed=True),
        Label(there + 8, 30, f"there is no x + 1: it becomes {_back(place)}", ink=FAULT),
        Arrow(((there, _LINE - 12), (there, 30), (end, 30), (end, _LINE - 12)), ink=FAULT),
    ]


def _back(place: Place) -> str:
    return "x again" if place.plus_one == 0 else f"x + {place.plus_one:g}"
