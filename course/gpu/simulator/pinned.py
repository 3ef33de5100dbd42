"""Pinned host memory: which storages count as pinned. No page is locked; copies know the word.

`Tensor.pin_memory()` asks torch's dispatcher, which asks here. `torch.empty(…, pin_memory=True)`
and its like ask the device for an allocator in C++, before any kernel could answer, and a device
written in Python has none. So torch's functions that make tensors are replaced: with
`pin_memory=True` they make an ordinary tensor and pin that.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch.jit import _builtins
from torch.utils import _device

from course.gpu.simulator import _backend

_MARK = "course_gpu_pinned"
_FACTORIES = (
    *("arange", "empty", "empty_permuted", "empty_strided", "eye", "full", "linspace", "logspace"),
    *("ones", "rand", "randint", "randn", "randperm", "tensor", "zeros"),
    *("bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window"),
    *("empty_like", "full_like", "ones_like", "rand_like", "randint_like", "randn_like"),
    *("zeros_like", "tril_indices", "triu_indices"),
)
_METHODS = ("new_empty", "new_empty_strided", "new_full", "new_ones", "new_zeros")


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
    _device._device_constructors()  # torch keeps the set: `set_default_device` goes on to know them
    for place, names in ((torch, _FACTORIES), (torch.Tensor, _METHODS)):
        for name in names:
            setattr(place, name, _pinning(getattr(place, name), place.__name__, name))
    return [
        _backend.override_on_cpu("_pin_memory", pin_memory),
        _backend.override_on_cpu("is_pinned", is_pinned),
    ]


def _pinning(
    make: Callable[..., torch.Tensor], place: str, name: str
) -> Callable[..., torch.Tensor]:
    """Return a function that makes tensors as `make` does, and pinned ones where that is asked."""

    @functools.wraps(make)
    def made(*args: Any, **options: Any) -> torch.Tensor:
        if not options.get("pin_memory"):
            return make(*args, **options)
        learned = options.pop("requires_grad", False)
        tensor = make(*args, **options | {"pin_memory": False})
        if tensor.device.type != "cpu":
            raise RuntimeError("Only dense CPU tensors can be pinned")
        return as_pinned(tensor).requires_grad_(learned)

    if operator := _builtins._find_builtin(make):
        _builtins._register_builtin(made, operator)  # torch.jit.script goes on to know it
    made.__module__ = "torch"  # a pickle finds it by these two
    made.__qualname__ = f"{place}.{name}".removeprefix("torch.")
    return made
