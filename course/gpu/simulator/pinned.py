"""Pinned host memory: which storages count as pinned. No page is locked; copies know the word.

Only `Tensor.pin_memory()` and loaders pin. `torch.empty(…, pin_memory=True)` and its like ask the
device for an allocator in C++, before any kernel could answer, and raise NotImplementedError.
"""

from __future__ import annotations

import torch

from course.gpu.simulator import _backend

_MARK = "course_gpu_pinned"


def is_pinned(tensor: torch.Tensor, device: torch.device | None = None) -> bool:
    """Return whether the storage of a CPU tensor was pinned."""
    return getattr(tensor.untyped_storage(), _MARK, False)


def pin_memory(tensor: torch.Tensor, device: torch.device | None = None) -> torch.Tensor:
    """Return a copy of a CPU tensor in pinned memory, with the same size and stride."""
    with torch._C._AutoDispatchBelowAutograd():
        copy = torch.empty_strided(tensor.size(), tensor.stride(), dtype=tensor.dtype)
        return as_pinned(copy.copy_(tensor))


def as_pinned(tensor: torch.Tensor) -> torch.Tensor:
    """Let the storage of a CPU tensor count as pinned; return the tensor."""
    setattr(tensor.untyped_storage(), _MARK, True)
    return tensor


def register() -> list[torch.library.Library]:
    """Let torch ask here for pinned memory."""
    return [
        _backend.override_on_cpu("_pin_memory", pin_memory),
        _backend.override_on_cpu("is_pinned", is_pinned),
    ]
