"""Saving and loading of simulated storages: where a saved storage was, and bringing it back."""

from __future__ import annotations

import re

import torch

from course.gpu.simulator import _backend
from course.gpu.simulator.devices import NAME, simulation

Storage = torch.storage.Storage | torch.storage.TypedStorage | torch.UntypedStorage

_LOCATION = re.compile(rf"{NAME}(?::(\d+))?")
# torch asks in ascending order; its own entry for such devices, at 23, would build the storage
# with an allocator in C++, which a device written in Python does not have.
_BEFORE_TORCH = 19


def location_of(storage: Storage) -> str | None:
    """Return the name of the simulated device that a storage is on, for `torch.save`."""
    return str(storage.device) if storage.device.type == NAME else None


def brought_to(storage: Storage, location: str) -> Storage | None:
    """Return a storage read from a file, moved to the simulated device `location` names."""
    match = _LOCATION.fullmatch(location)
    if match is None:
        return None
    index = int(match[1] or 0)
    if index >= len(simulation().devices):
        raise RuntimeError(
            f"Attempting to deserialize object on CUDA device {index} but "
            f"torch.cuda.device_count() is {len(simulation().devices)}. Please use torch.load "
            "with map_location to map your storages to an existing device."
        )
    target = empty(storage.nbytes(), torch.device(NAME, index))
    flat = torch.empty(0, dtype=torch.uint8).set_(storage)
    return target.copy_(flat).untyped_storage()


def empty(nbytes: int, device: torch.device) -> torch.Tensor:
    """Return a tensor of bytes on the device, for the sake of its storage."""
    return torch.empty(nbytes, dtype=torch.uint8, device=device)


def register() -> None:
    """Tell torch.save and torch.load about the device."""
    torch.serialization.register_package(_BEFORE_TORCH, location_of, brought_to)
    _backend.make_storages_with(empty, NAME)
