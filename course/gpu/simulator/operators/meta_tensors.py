"""Stand-ins without elements: tensors of the meta device, to learn the shape of a result."""

from __future__ import annotations

from typing import Any

import torch


def as_meta(value: Any) -> Any:
    """Return an argument with its tensors, and its device, moved to the meta device."""
    if isinstance(value, torch.Tensor):
        return torch.empty_strided(value.size(), value.stride(), dtype=value.dtype, device="meta")
    if isinstance(value, torch.device):
        return torch.device("meta")
    if isinstance(value, list | tuple):
        return type(value)(as_meta(item) for item in value)
    return value


def as_zeros(value: Any) -> Any:
    """Return a result of the meta device as zeros on the CPU."""
    if isinstance(value, torch.Tensor):
        zeros = torch.empty_strided(value.size(), value.stride(), dtype=value.dtype)
        return zeros.zero_()
    if isinstance(value, list | tuple):
        return type(value)(as_zeros(item) for item in value)
    return value
