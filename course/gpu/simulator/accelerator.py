"""`torch.accelerator` for the simulated device, as far as it goes.

`current_accelerator()` and `is_available()` know the device by themselves. The rest asks a device
written in C++, so these functions are replaced by the ones of `torch.sim`.
"""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import torch

from course.gpu.simulator.memory_functions import Where
from course.gpu.simulator.module import DeviceModule

_SAME_NAME = (
    "device_count",
    "empty_cache",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_accumulated_memory_stats",
    "reset_peak_memory_stats",
    "synchronize",
)


def register(module: DeviceModule) -> None:
    """Let torch.accelerator speak of the simulated device."""

    def set_device_index(device: Where, /) -> None:
        module.set_device(device)

    for name in _SAME_NAME:
        setattr(torch.accelerator, name, getattr(module, name))
    for name in ("current_device_index", "current_device_idx"):
        setattr(torch.accelerator, name, module.current_device)
    for name in ("set_device_index", "set_device_idx"):
        setattr(torch.accelerator, name, set_device_index)
    torch.accelerator.device_index = _device_index  # type: ignore[misc, assignment]
    torch.accelerator.get_memory_info = module.mem_get_info


def _device_index(device: int | None, /) -> Any:
    """`torch.accelerator.device_index`: a device is current in a block; None changes nothing."""
    return nullcontext() if device is None else DeviceModule.device(device)
