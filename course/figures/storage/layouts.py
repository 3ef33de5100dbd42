"""What a storage figure shows of a tensor: which cells, at which positions, with which texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import gcd, prod

import torch

from course.figures.palette import fill
from course.inspection.facts import TensorFacts, facts

__all__ = ["Cell", "Subject", "cells_of", "index_at", "picks_of", "texts_at"]

MOST_CELLS = 72  # more do not fit legibly on a figure as wide as a notebook
_MOST_STEPS = 2_000  # of a search: some 10 ms; tensors of a few dimensions take a dozen
_MOST_ENDS = 36  # cells of a tensor that is drawn in part: its storage has gaps, which need room

Index = tuple[int, ...]
Picks = tuple[tuple[int | None, ...], ...]


@dataclass(frozen=True)
class Subject:
    """One tensor of a figure.

    `texts` holds the value at each shown storage position; it is None where only facts are known.
    `number` chooses the colour of the whole tensor; with None each row has its own.
    """

    name: str
    facts: TensorFacts
    picks: Picks
    texts: dict[int, str] | None = None
    number: int | None = None

    def fill_of(self, index: Index) -> str:
        """The colour of the cell with this index."""
        if self.number is not None:
            return fill(self.number)
        row = 0
        for size, i in zip(self.facts.shape[:-1], index[:-1], strict=True):
            row = row * size + i
        return fill(row)

    def text_at(self, position: int) -> str:
        """What stands in a cell: its value, or its storage position where no value is known."""
        return str(position) if self.texts is None else self.texts.get(position, "?")

    @property
    def slots(self) -> int:
        """The number of elements of this size that the storage holds."""
        return self.facts.storage_nbytes // self.facts.itemsize

    @property
    def shown(self) -> int:
        """The number of cells that are drawn."""
        return sum(1 for _ in cells_of(self))


@dataclass(frozen=True)
class Cell:
    """One element: its index in the tensor and its position in the storage."""

    index: Index
    position: int


def cells_of(subject: Subject) -> Iterator[Cell]:
    """The cells that are drawn, in row-major order."""
    seen = subject.facts
    for index in product(*([i for i in row if i is not None] for row in subject.picks)):
        yield Cell(index, position_of(seen, index))


def position_of(seen: TensorFacts, index: Sequence[int]) -> int:
    """The storage position, in elements, of the element with this index."""
    return seen.storage_offset + sum(i * s for i, s in zip(index, seen.stride, strict=True))


def picks_of(shape: Sequence[int], columns: int) -> Picks:
    """The indices of each dimension that are drawn; None stands for a gap.

    Everything, if that is at most 72 cells and `columns` hold a row. Else the first few and the
    last of each dimension, and fewer of the outer dimensions until the rest fits.
    """
    if len(shape) == 1:
        return (_ends(shape[0], most=columns, head=max(3, columns - 3)),)
    if _fits(shape, columns):
        return tuple(tuple(range(size)) for size in shape)
    picks = [_ends(size, most=4, head=3 if len(shape) == 2 else 2) for size in shape]
    for axis, head in [(axis, head) for head in (1, 0) for axis in range(len(shape) - 2)]:
        if _count(picks) <= _MOST_ENDS:
            break
        picks[axis] = _ends(shape[axis], most=2, head=1) if head else _first(shape[axis])
    return tuple(picks)


def _fits(shape: Sequence[int], columns: int) -> bool:
    tall = any(size > 12 for size in shape[:-1])
    return not tall and prod(shape) <= MOST_CELLS and (not shape or shape[-1] <= columns)


def _ends(size: int, most: int, head: int) -> tuple[int | None, ...]:
    if size <= most:
        return tuple(range(size))
    return (*range(head), None, size - 1) if head + 1 < size else tuple(range(size))


def _first(size: int) -> tuple[int | None, ...]:
    return (0, None) if size > 1 else (0,)


def _count(picks: Sequence[Sequence[int | None]]) -> int:
    return prod(sum(i is not None for i in row) for row in picks)


def index_at(seen: TensorFacts, position: int) -> Index | None:
    """An index whose element lies at this storage position, or None if none is found.

    The search is given up where dozens of dimensions of odd strides would keep it for minutes.
    """
    if 0 in seen.shape:
        return None
    axes = sorted(range(len(seen.shape)), key=lambda axis: -seen.stride[axis])
    index, steps = [0] * len(axes), iter(range(_MOST_STEPS))
    is_found = _reach(seen, axes, position - seen.storage_offset, index, steps)
    return tuple(index) if is_found else None


def _reach(
    seen: TensorFacts, axes: Sequence[int], left: int, index: list[int], steps: Iterator[int]
) -> bool:
    """Fill in `index` along `axes`, widest stride first, so that the steps add up to `left`."""
    if left == 0:
        return True
    if left < 0 or not axes or next(steps, None) is None:
        return False
    axis, inner = axes[0], axes[1:]
    step = seen.stride[axis]
    # All steps left are multiples of their common divisor: without this, the search through
    # many equal strides would not end in reasonable time.
    if step == 0 or left % gcd(*(seen.stride[a] for a in axes)) != 0:
        return False
    within = sum((seen.shape[a] - 1) * seen.stride[a] for a in inner)
    least = max(0, -((within - left) // step))
    for i in range(min(seen.shape[axis] - 1, left // step), least - 1, -1):
        if _reach(seen, inner, left - i * step, index, steps):
            index[axis] = i
            return True
    return False


def texts_at(tensor: torch.Tensor, positions: Sequence[int]) -> dict[int, str] | None:
    """The values at these storage positions as short texts; None if they cannot be read."""
    seen = facts(tensor)
    held = sorted(p for p in positions if p < seen.storage_nbytes // seen.itemsize)
    if tensor.device.type == "meta" or not held:
        return None
    try:
        flat = tensor.detach().as_strided((held[-1] + 1,), (1,), 0)
        values = flat[torch.tensor(held, device=tensor.device)].tolist()
    except (RuntimeError, NotImplementedError):  # a dtype or subclass that cannot be indexed
        return None
    return {position: short(value) for position, value in zip(held, values, strict=True)}


def short(value: object) -> str:
    """A number in at most seven characters; floats keep their point, as torch prints them.

    >>> short(5.0), short(0.12345), short(123456789)
    ('5.', '0.123', '1234…')
    """
    if isinstance(value, complex):
        return _cut(*(f"{value.real:.{n}g}{value.imag:+.{n}g}j" for n in (2, 1)))
    if isinstance(value, float):
        whole = value.is_integer() and abs(value) < 10_000
        return f"{value:.0f}." if whole else _cut(f"{value:.3g}", f"{value:.1g}")
    return _cut(str(value))


def _cut(text: str, shorter: str = "") -> str:
    if len(text) <= 7:
        return text
    return shorter if shorter and len(shorter) <= 7 else f"{text[:4]}…"
