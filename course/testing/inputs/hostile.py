"""One tensor in every state that an answer may meet, as cases to begin from."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import torch

from course.testing.inputs.cases import Case
from course.testing.inputs.layouts import LAYOUTS, laid_out

__all__ = ["tensors"]

_USUAL = ((3, 4), (2, 3, 4), (6,))
_PLAIN, _TURNED = "a contiguous tensor", "a transposed tensor"


def tensors(
    *shapes: tuple[int, ...],
    dtypes: Sequence[torch.dtype] = (torch.float32, torch.float64, torch.int64, torch.bool),
    layouts: Sequence[str] = tuple(LAYOUTS),
    sizes: bool = True,
    scalar: bool = True,
    special: bool = True,
    grad: bool = True,
    seed: int = 0,
) -> list[Case]:
    """More than 40 cases of one tensor each: the same ones for the same arguments.

    Args:
        shapes: The shapes to begin from, up to some dozens of elements; (3, 4), (2, 3, 4) and
            (6,) where none is given.
        dtypes: What the text of the exercise allows; the first one is used for all but one case
            of each other.
        layouts: Which of `LAYOUTS` an input may have.
        sizes: Also shapes with a dimension of size 0 and of size 1.
        scalar: Also a tensor without dimensions.
        special: Also NaN, infinities and −0.0, where a dtype is a floating one.
        grad: Also leaves that require grad, intermediates, and both under `no_grad`, where a dtype
            is a floating one.
        seed: Another seed gives other elements.
    """
    if unknown := set(layouts) - set(LAYOUTS):
        raise ValueError(f"no layout is called {sorted(unknown)[0]!r}; there are {[*LAYOUTS]}")
    make = _Elements(seed)
    chosen = shapes or _USUAL
    cases = [_one(make(shape, dtypes[0]), layout) for shape in chosen for layout in layouts]
    cases += [replace(case, kind="the same input once more") for case in cases[:2]]
    cases += _other_dtypes(make, chosen, dtypes, layouts)
    if sizes:
        cases += _edges(make, chosen, dtypes[0], layouts)
    if scalar:
        cases.append(Case("a tensor without dimensions", (make((), dtypes[0]),)))
    for dtype in [one for one in dtypes if one.is_floating_point][:1]:
        cases += _specials(make, chosen, dtype, layouts) if special else ()
        cases += _in_a_graph(make, chosen, dtype, layouts) if grad else ()
    return cases


class _Elements:
    """Makes tensors of distinct small numbers, in an order that the seed decides."""

    def __init__(self, seed: int) -> None:
        self._generator = torch.Generator().manual_seed(seed)

    def __call__(self, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
        count = math.prod(shape)
        if dtype is torch.bool:
            bits = torch.randint(0, 2, (count,), generator=self._generator)
            return bits.bool().view(shape)
        numbers = torch.randperm(count, generator=self._generator)
        start = 0 if dtype is torch.uint8 else count // 2
        # Halves and eighths are exact in every floating dtype.
        scale = 0.5 if dtype.is_floating_point or dtype.is_complex else 1
        made = ((numbers - start) * scale).to(dtype)
        if dtype.is_complex:  # a conjugate, or the real part alone, is another tensor
            made += 1j * made.flip(0) + 0.25j
        return made.view(shape)


def _one(x: torch.Tensor, layout: str) -> Case:
    return Case(layout, (laid_out(x, layout),))


def _other_dtypes(
    make: _Elements,
    shapes: Sequence[tuple[int, ...]],
    dtypes: Sequence[torch.dtype],
    layouts: Sequence[str],
) -> Iterator[Case]:
    for dtype in dtypes[1:]:
        for layout in [one for one in (_PLAIN, _TURNED) if one in layouts] or layouts[:1]:
            kind = f"elements of {str(dtype).removeprefix('torch.')}"
            yield Case(kind, (laid_out(make(shapes[0], dtype), layout),))


def _edges(
    make: _Elements,
    shapes: Sequence[tuple[int, ...]],
    dtype: torch.dtype,
    layouts: Sequence[str],
) -> Iterator[Case]:
    """A dimension of size 0 and of size 1, first and last, in every shape."""
    tried = set()
    for shape in shapes:
        for size, kind in ((0, "a dimension of size 0"), (1, "a dimension of size 1")):
            for edge in ((size, *shape[1:]), (*shape[:-1], size)):
                if edge not in tried:
                    tried.add(edge)
                    layout = _TURNED if len(tried) % 2 and _TURNED in layouts else layouts[0]
                    yield Case(kind, (laid_out(make(edge, dtype), layout),))


def _specials(
    make: _Elements,
    shapes: Sequence[tuple[int, ...]],
    dtype: torch.dtype,
    layouts: Sequence[str],
) -> Iterator[Case]:
    strange = (math.nan, math.inf, -math.inf, -0.0)
    for shape, layout in zip(shapes, (_PLAIN, _TURNED), strict=False):
        x = make(shape, dtype)
        if x.numel() >= len(strange):
            x.view(-1)[: len(strange)] = torch.tensor(strange, dtype=dtype)
            layout = layout if layout in layouts else layouts[0]
            yield Case("NaN, infinities and −0.0 among the elements", (laid_out(x, layout),))


def _in_a_graph(
    make: _Elements,
    shapes: Sequence[tuple[int, ...]],
    dtype: torch.dtype,
    layouts: Sequence[str],
) -> Iterator[Case]:
    both = [one for one in (_PLAIN, _TURNED) if one in layouts] or layouts[:1]
    for layout in both:
        for kind, intermediate, under in (
            ("a leaf that requires grad", False, ""),
            ("an intermediate result of a graph", True, ""),
            ("a leaf that requires grad, under no_grad", False, "no_grad"),
            ("an intermediate result, under no_grad", True, "no_grad"),
        ):
            x = laid_out(make(shapes[0], dtype), layout).clone().requires_grad_()
            yield Case(kind, (x,), intermediate=intermediate, under=under)
