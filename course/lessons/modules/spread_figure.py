"""How the numbers of some tensors spread, beside their bounds: `show_spread`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import torch

from course.figures.palette import CARD, FAULT, INK, MUTED, RULE, fill
from course.figures.picture import Picture, drawing
from course.figures.scene import WIDTH, Arrow, Box, Item, Label, Scene, paint, stack, text_width
from course.lessons.modules.shapes_figure import shortened

__all__ = ["Spread", "show_spread", "spread_of"]

_BINS = 121  # where there is no bound; with one, its two lines lie between bins
_SLACK = 1 + 1e-6  # a bound is computed in float64, and numbers were rounded to their own dtype
_HIGH = 74.0  # px, the highest bar
_HEAD, _FOOT = 22.0, 22.0
_SIDE = 40.0  # px left and right, for the numbers below the ends
_LEAST = 40.0  # px from the middle to the number of a bound
_CAPTION = (
    "How many numbers lie where. From left to right all tensors share one scale; upwards each has "
    "its own."
)


@dataclass(frozen=True)
class Spread:
    """The numbers of one tensor: counts in equal bins from -end to end, and their moments."""

    name: str
    counts: tuple[int, ...]
    end: float
    numel: int
    mean: float
    std: float
    largest: float
    bound: float | None = None
    beyond: int = 0  # numbers that lie outside of the bound


def show_spread(
    tensors: Mapping[str, torch.Tensor], bounds: Mapping[str, float] | None = None
) -> Picture:
    """A histogram of each tensor by its name, all on one scale, with lines at plus and minus bound.

    Args:
        tensors: By name, of any shape.
        bounds: For some of these names a magnitude; None for none.

    Raises:
        ValueError: There is no tensor, or a bound without one.

    >>> print(show_spread({"w": torch.tensor([-1.0, 0, 3])}, {"w": 2}).alt)
    w: 3 numbers, mean 0.667, standard deviation 2.08, largest magnitude 3; bound ±2, 1 beyond it.
    """
    if not tensors:
        raise ValueError("show_spread() needs tensors by their names: show_spread({'w': w}).")
    unknown = set(bounds or {}) - set(tensors)
    if unknown:
        raise ValueError(
            f"show_spread() has a bound for {sorted(unknown)}, but no tensor of that name."
        )
    if not drawing():
        return Picture(lambda: paint(Scene(1, 1)), alt="Figures are not drawn in this process.")
    flat = {name: _numbers(name, tensor) for name, tensor in tensors.items()}
    reach = max([*(float(x.abs().max()) for x in flat.values()), *(bounds or {}).values()]) or 1.0
    spreads = [spread_of(name, x, reach, (bounds or {}).get(name)) for name, x in flat.items()]
    scene = stack([_panel(one, reach) for one in spreads], gap=10)
    return Picture(partial(paint, scene), alt=" ".join(map(_words, spreads)), caption=_CAPTION)


def _numbers(name: str, tensor: torch.Tensor) -> torch.Tensor:
    """The finite numbers of a tensor, as float64."""
    found = tensor.detach().double().flatten()
    found = found[found.isfinite()]
    if not found.numel():
        raise ValueError(f"show_spread(): {name!r} holds no finite number to draw.")
    return found


def spread_of(name: str, numbers: torch.Tensor, reach: float, bound: float | None = None) -> Spread:
    """The counts and moments of these numbers."""
    bins, end = _bins(reach, bound)
    counts = torch.histc(numbers, bins, -end, end)
    beyond = 0 if bound is None else int((numbers.abs() > bound * _SLACK).sum())
    return Spread(
        name,
        tuple(int(one) for one in counts),
        end,
        numbers.numel(),
        float(numbers.mean()),
        float(numbers.std()) if numbers.numel() > 1 else 0.0,
        float(numbers.abs().max()),
        bound,
        beyond,
    )


def _bins(reach: float, bound: float | None) -> tuple[int, float]:
    """How many bins, and how far they go: at least to `reach`, with an edge at `bound`."""
    if not bound or bound > reach:
        return _BINS, reach
    edge = bound * _SLACK
    within = max(1, round(_BINS / 2 * bound / reach))  # bins from 0 to the bound
    half = max(within, math.ceil(within * reach / edge))
    return 2 * half, half * edge / within


def _words(one: Spread) -> str:
    numbers = "1 number" if one.numel == 1 else f"{one.numel:,} numbers"
    words = f"{one.name}: {numbers}, mean {one.mean:.3g}, standard deviation {one.std:.3g}, "
    words += f"largest magnitude {one.largest:.3g}"
    if one.bound is not None:
        words += f"; bound ±{one.bound:.3g}, {one.beyond:,} beyond it"
    return words + "."


def _panel(one: Spread, reach: float) -> Scene:
    """The histogram of one tensor: a line of words, bars, and the axis with its numbers."""
    items: list[Item] = list(_head(one))
    middle, half, floor = WIDTH / 2, WIDTH / 2 - _SIDE, _HEAD + _HIGH
    wide = 2 * half * one.end / reach / len(one.counts)
    most = max(one.counts) or 1
    for number, count in enumerate(one.counts):
        if count:
            high = max(1.0, (_HIGH - 8) * count / most)
            left = middle + (number - len(one.counts) / 2) * wide
            items.append(Box(left, floor - high, wide, high, fills=(fill(0),), edge=RULE))
    items.append(Arrow(((_SIDE - 6, floor), (WIDTH - _SIDE + 10, floor))))
    items += _marks(one, reach, floor)
    return Scene(WIDTH, floor + _FOOT, tuple(items))


def _head(one: Spread) -> Iterator[Item]:
    """The line above a histogram: the name, the moments, and how many are beyond the bound."""
    fault = f"✗ {one.beyond:,} beyond the bound" if one.beyond else ""
    facts = f"mean {one.mean:.2g} · std {one.std:.3g} · largest |w| {one.largest:.3g}"
    right = WIDTH - (text_width(fault) + 14 if fault else 0)
    left = right - text_width(facts) - 14
    yield Label(0, _HEAD / 2, shortened(one.name, left, bold=True), bold=True)
    yield Label(right, _HEAD / 2, facts, "right", MUTED)
    if fault:
        yield Label(WIDTH, _HEAD / 2, fault, "right", FAULT)


def _marks(one: Spread, reach: float, floor: float) -> Iterator[Item]:
    """The bound's two lines with their numbers, and 0."""
    middle, half, y = WIDTH / 2, WIDTH / 2 - _SIDE, floor + _FOOT / 2 + 1
    far = 0.0 if one.bound is None else half * one.bound / reach
    if one.bound is None or far > _LEAST:
        yield Label(middle, y, "0", "center", MUTED)
    ink = FAULT if one.beyond else INK
    for sign in () if one.bound is None else (-1, 1):
        x = middle + sign * far
        yield Box(x - 0.5, _HEAD + 2, 1, _HIGH, fills=(CARD,), edge=ink)
        words = f"{'−' if sign < 0 else '+'}{one.bound:.3g}"
        yield Label(x + sign * max(0.0, _LEAST - far), y, words, "center", ink)
