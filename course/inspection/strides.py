"""PyTorch's rules about strides as pure functions: no tensor is made, none is asked.

Figures and widgets use them to say beforehand what PyTorch will do. They are the answers to
exercises of the memory-layout lesson, so `course` does not export them and no notebook imports
them: a learner writes these rules and finds them here afterwards.

The oracle is torch: tests compare every function with it on thousands of random layouts
(torch 2.13.0; `view_strides` follows `at::detail::computeStride`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

__all__ = ["complete_shape", "is_contiguous", "row_major_strides", "view_strides"]

Shape = tuple[int, ...]
Strides = tuple[int, ...]


def row_major_strides(shape: Sequence[int]) -> Strides:
    """The strides of a new tensor of this shape, last dimension fastest.

    >>> row_major_strides((2, 3, 4))
    (12, 4, 1)

    An empty dimension counts as one, as in torch: `torch.empty(2, 0, 3)` has strides (3, 3, 1).
    """
    strides: list[int] = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def is_contiguous(shape: Sequence[int], stride: Sequence[int]) -> bool:
    """Whether the elements, in row-major order, lie one after another in the storage.

    The stride of a dimension of size 1 is never used, so it cannot matter; a tensor without
    elements is contiguous whatever its strides.

    >>> is_contiguous((1, 4), (99, 1))
    True
    """
    if 0 in shape:
        return True
    expected = 1
    for size, step in zip(reversed(shape), reversed(stride), strict=True):
        if size == 1:
            continue
        if step != expected:
            return False
        expected *= size
    return True


def view_strides(
    shape: Sequence[int], stride: Sequence[int], new_shape: Sequence[int]
) -> Strides | None:
    """The strides with which `view(new_shape)` shows the same elements, or None if there are none.

    The new shape is complete (no -1). `reshape` returns a view exactly when this is not None.

    >>> view_strides((4, 6), (6, 1), (24,)), view_strides((4, 6), (1, 4), (24,))
    ((1,), None)
    """
    if prod(shape) != prod(new_shape):
        return None
    if 0 in shape:
        # No element constrains the strides. torch keeps them for the same shape.
        return tuple(stride) if tuple(shape) == tuple(new_shape) else row_major_strides(new_shape)
    if not shape:
        return (1,) * len(new_shape)
    return _split(_runs(shape, stride), new_shape)


def complete_shape(numel: int, shape: Sequence[int]) -> Shape:
    """The target shape with its one -1 worked out, for a tensor of `numel` elements.

    Raises ValueError with PyTorch's own words where `view` and `reshape` refuse the shape.
    """
    _refuse_negative_sizes(shape)
    known = prod(size for size in shape if size != -1)
    if -1 not in shape and known == numel:
        return tuple(shape)
    if -1 in shape and known and numel % known == 0:
        return tuple(numel // known if size == -1 else size for size in shape)
    if -1 in shape and known == numel == 0:
        raise ValueError(
            f"cannot reshape tensor of 0 elements into shape {list(shape)} because the "
            "unspecified dimension size -1 can be any value and is ambiguous"
        )
    raise ValueError(f"shape '{list(shape)}' is invalid for input of size {numel}")


def _refuse_negative_sizes(shape: Sequence[int]) -> None:
    inferred = False
    for index, size in enumerate(shape):
        if size == -1 and inferred:
            raise ValueError("only one dimension can be inferred")
        inferred = inferred or size == -1
        if size < -1:
            raise ValueError(
                f"invalid shape dimension {size} at index {index} of shape {list(shape)}"
            )


def _runs(shape: Sequence[int], stride: Sequence[int]) -> list[tuple[int, int]]:
    """The tensor as runs of evenly spaced elements, (length, step), innermost first.

    Neighbouring dimensions belong to one run when the outer step continues the inner one.
    A dimension of size 1 continues any run.
    """
    runs = [(shape[-1], stride[-1])]
    for outer in range(len(shape) - 2, -1, -1):
        length, step = runs[-1]
        if shape[outer] == 1 or stride[outer] == length * step:
            runs[-1] = (length * shape[outer], step)
        else:
            runs.append((shape[outer], stride[outer]))
    return runs


def _split(runs: list[tuple[int, int]], new_shape: Sequence[int]) -> Strides | None:
    """The strides of the new dimensions when each run can be cut into whole ones, else None."""
    strides: list[int] = []
    waiting = list(new_shape)
    for length, step in runs:
        done = 1
        while waiting and (done < length or waiting[-1] == 1):
            strides.append(done * step)
            done *= waiting.pop()
        if done != length:
            return None
    return tuple(reversed(strides))
