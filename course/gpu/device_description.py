"""Which device a notebook runs on, in one sentence."""

from __future__ import annotations

import torch

from course.gpu.api import is_simulated

__all__ = ["device_in_words"]


def device_in_words() -> str:
    """The device that `gpu.device()` gives here, for a learner; nothing is switched on by asking.

    On Colab a GPU is there after *Runtime → Change runtime type*.
    """
    if is_simulated():
        return (
            "This notebook runs on a simulated device: PyTorch sees no CUDA device here. "
            "The exercises and their checks are the same."
        )
    name, memory = torch.cuda.get_device_name(), torch.cuda.get_device_properties().total_memory
    return f"This notebook runs on cuda: {name} with {memory / 2**30:.0f} GiB of memory."
