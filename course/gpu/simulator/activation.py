"""Switches the simulated device type on, once, for those who ask."""

from __future__ import annotations

from functools import cache

import torch

from course.gpu.simulator import _backend, accelerator, autocast, host_memory, pinned, storage_files
from course.gpu.simulator.devices import NAME, simulation
from course.gpu.simulator.module import DeviceModule
from course.gpu.simulator.operators import data_parallel
from course.gpu.simulator.operators.composites import IN_ONE_PIECE, SUBSTITUTES, WHOLE_ON_CPU
from course.gpu.simulator.operators.kernels import run_operator


@cache
def switch_on() -> tuple[torch.library.Library, ...]:
    """Register the device type with torch; from then on `torch.device("sim")` works.

    The libraries returned are kept by the cache: with them the kernels would go.
    """
    simulation()
    host_memory.return_large_blocks()
    module = DeviceModule()
    storage_files.register()
    libraries = _backend.register(
        NAME, module, run_operator, [*SUBSTITUTES, *WHOLE_ON_CPU, *IN_ONE_PIECE, "_to_copy"]
    )
    accelerator.register(module)
    data_parallel.register()
    return (*libraries, *pinned.register(), *autocast.register())
