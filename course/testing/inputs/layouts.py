"""The same elements in another layout: other strides, gaps, an offset, elements that overlap."""

from __future__ import annotations

from collections.abc import Callable

import torch

__all__ = ["LAYOUTS", "laid_out"]


def _contiguous(x: torch.Tensor) -> torch.Tensor:
    return x.clone(memory_format=torch.contiguous_format)


def _transposed(x: torch.Tensor) -> torch.Tensor:
    order = list(reversed(range(x.dim())))
    return _contiguous(x.permute(order)).permute(order)


def _first_dimension_last(x: torch.Tensor) -> torch.Tensor:
    return _contiguous(x.movedim(0, -1)).movedim(-1, 0)


def _with_gaps(x: torch.Tensor) -> torch.Tensor:
    """Two slots more between the rows: the last stride stays 1."""
    room = x.new_zeros((*x.shape[:-1], x.shape[-1] + 2))
    room[..., : x.shape[-1]] = x
    return room[..., : x.shape[-1]]


def _every_second(x: torch.Tensor) -> torch.Tensor:
    room = x.new_zeros((*x.shape[:-1], 2 * x.shape[-1]))
    room[..., ::2] = x
    return room[..., ::2]


def _with_offset(x: torch.Tensor) -> torch.Tensor:
    room = x.new_zeros(x.numel() + 5)
    room[5:] = x.reshape(-1)
    return room[5:].view(x.shape)


def _within_a_storage(x: torch.Tensor) -> torch.Tensor:
    """Between other elements: the storage goes on behind it."""
    room = x.new_ones(x.numel() + 7)
    room[3:-4] = x.reshape(-1)
    return room[3:-4].view(x.shape)


def _expanded(x: torch.Tensor) -> torch.Tensor:
    """The first row again and again, with stride 0."""
    return _contiguous(x[:1]).expand(x.shape)


def _last_expanded(x: torch.Tensor) -> torch.Tensor:
    return _contiguous(x[..., :1]).expand(x.shape)


def _overlapping(x: torch.Tensor) -> torch.Tensor:
    """Windows over one row of elements: neighbours have all but one in common."""
    if x.dim() < 2:
        return _last_expanded(x)
    strides = [1] * x.dim()
    reach = sum(size - 1 for size in x.shape) + 1
    line = _contiguous(x.reshape(-1)[:reach])
    if len(line) < reach:
        line = torch.cat([line, line.new_zeros(reach - len(line))])
    return line.as_strided(x.shape, strides)


LAYOUTS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "a contiguous tensor": _contiguous,
    "a transposed tensor": _transposed,
    "dimensions in another order than in memory": _first_dimension_last,
    "gaps between the rows": _with_gaps,
    "every second element of a storage": _every_second,
    "a tensor that starts later in its storage": _with_offset,
    "a part of a longer storage": _within_a_storage,
    "rows that repeat (stride 0)": _expanded,
    "elements that repeat (stride 0)": _last_expanded,
    "elements that overlap": _overlapping,
}


def laid_out(x: torch.Tensor, layout: str) -> torch.Tensor:
    """The elements of `x` in one of the `LAYOUTS`; repeated ones are those of its first row.

    Args:
        x: A tensor of any shape; without dimensions or elements it comes out contiguous.
        layout: A key of `LAYOUTS`.

    Returns:
        A tensor of the same shape and dtype, with a storage of its own.

    Raises:
        KeyError: The name is none of the layouts.
    """
    found = LAYOUTS[layout]
    # Nothing can be repeated, spaced or reordered in a tensor without dimensions or elements.
    return found(x) if x.dim() and x.numel() else _contiguous(x)
