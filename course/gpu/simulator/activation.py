"""Switches the simulated device type on, once, for those who ask."""

from __future__ import annotations

import ctypes
import platform
from functools import cache

import torch

from course.gpu.simulator import _backend, accelerator, autocast, pinned, storage_files
from course.gpu.simulator.devices import NAME, simulation
from course.gpu.simulator.module import DeviceModule
from course.gpu.simulator.operators import data_parallel
from course.gpu.simulator.operators.composites import IN_ONE_PIECE, SUBSTITUTES, WHOLE_ON_CPU
from course.gpu.simulator.operators.kernels import run_operator

_M_MMAP_THRESHOLD = -3  # malloc.h of glibc
_THRESHOLD_NBYTES = 4 << 20


@cache
def switch_on() -> tuple[torch.library.Library, ...]:
    """Register the device type with torch; from then on `torch.device("sim")` works.

    The libraries returned are kept by the cache: with them the kernels would go.
    """
    simulation()
    _return_large_blocks()
    module = DeviceModule()
    storage_files.register()
    libraries = _backend.register(
        NAME, module, run_operator, [*SUBSTITUTES, *WHOLE_ON_CPU, *IN_ONE_PIECE, "_to_copy"]
    )
    accelerator.register(module)
    data_parallel.register()
    return (*libraries, *pinned.register(), *autocast.register())


def _return_large_blocks() -> bool:
    """Let freed memory of 4 MiB and more go back to the system; return whether that was possible.

    Left alone, glibc serves requests of up to 32 MiB from its heap as soon as one of that size was
    freed. Tensors of different sizes that come and go then make the process grow, and a limit on
    its address space ends it although the simulated device is empty.
    """
    if platform.system() != "Linux":
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # glibc's; musl has none and needs none
    return mallopt is not None and bool(mallopt(_M_MMAP_THRESHOLD, _THRESHOLD_NBYTES))
