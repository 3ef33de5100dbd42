"""Copies of the cases' arguments, for a reference that may write to them."""

from __future__ import annotations

import copy
from typing import Any

import torch

from course.serialization.decoding import AS_IT_IS, tensor_over

__all__ = ["copied"]


def copied(value: Any) -> Any:
    """A deep copy in which tensors keep strides, offset and what they share.

    Like `copy.deepcopy`, in a third of the time for the tensors that cases are made of.
    """
    try:
        return _copied(value, {})
    except _Unusual:
        return copy.deepcopy(value)


class _Unusual(Exception):
    """A tensor of which more would have to be copied."""


_AS_IT_IS = AS_IT_IS | {complex, bytes, torch.dtype}


def _copied(value: Any, storages: dict[int, torch.UntypedStorage]) -> Any:
    kind = type(value)
    if kind in _AS_IT_IS:
        return value
    if kind is list or kind is tuple:
        return kind([_copied(one, storages) for one in value])
    if kind is dict:
        return {key: _copied(one, storages) for key, one in value.items()}
    if not isinstance(value, torch.Tensor):
        return copy.deepcopy(value)
    return _tensor(value, storages)


def _tensor(value: torch.Tensor, storages: dict[int, torch.UntypedStorage]) -> torch.Tensor:
    usual = type(value) is torch.Tensor and value.layout is torch.strided and value.is_cpu
    if not usual or not value.is_leaf or value.grad is not None or vars(value):
        raise _Unusual
    if value.is_conj() or value.is_neg() or value.is_inference():
        raise _Unusual
    storage = value.untyped_storage()
    mine = storages.get(storage._cdata)
    if mine is None:
        mine = storages[storage._cdata] = storage.clone()
    layout = int(value.storage_offset()), tuple(value.shape), value.stride()
    made = tensor_over(mine, value.dtype, *layout)
    return made.requires_grad_() if value.requires_grad else made
