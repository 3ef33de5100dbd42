"""Random numbers of a simulated device: each has a generator of its own, as on CUDA."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

from course.gpu.simulator.devices import SimulatedDevice
from course.gpu.simulator.operators.schemas import Plan


@contextmanager
def drawing(
    device: SimulatedDevice, plan: Plan, args: list[Any], kwargs: dict[str, Any]
) -> Iterator[None]:
    """Let an operator draw from the device's generator, and leave the CPU's alone.

    An operator with an argument for a generator gets the device's, unless the caller named one.
    """
    if isinstance(plan.generator, int) and plan.generator < len(args):
        args[plan.generator] = args[plan.generator] or device.generator
    elif plan.generator is not None:
        name = plan.generator if isinstance(plan.generator, str) else "generator"
        kwargs[name] = kwargs.get(name) or device.generator
    if not plan.draws:
        yield
        return
    cpu = torch.default_generator
    before = cpu.get_state()
    cpu.set_state(device.generator.get_state())
    try:
        yield
    finally:
        device.generator.set_state(cpu.get_state())
        cpu.set_state(before)
