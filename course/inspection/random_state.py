"""torch's random state, given back after a block."""

from __future__ import annotations

from contextlib import AbstractContextManager

import torch

__all__ = ["random_state_kept"]


def random_state_kept() -> AbstractContextManager[None]:
    """A block after which torch's generators, those of all devices too, are as they were before.

    `torch.random.fork_rng()` warns where there are several devices, and asks for their numbers.
    """
    accelerator = torch.accelerator.current_accelerator()
    if accelerator is None:
        return torch.random.fork_rng(devices=[])
    devices = range(torch.accelerator.device_count())
    return torch.random.fork_rng(devices=devices, device_type=accelerator.type)
