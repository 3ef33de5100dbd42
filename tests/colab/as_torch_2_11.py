"""Lets this PyTorch answer as Colab's 2.11 does, wherever the course has stumbled over that.

test_colab.py runs this text as the first cell of every solved notebook;
`make versions TORCH=2.11.0` runs the notebooks with 2.11 itself.
"""

import functools
import re
import sys
import warnings
from typing import Any

import torch
import torch.profiler
from torch.utils.data._utils import worker


class WorkerInfo(worker.WorkerInfo):
    """What a worker knows of itself: made with keywords alone."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)


_SHORT = re.compile(r"(is output \d+ of (?!\w+Backward\d)\w+),")


def named_in_full(run: Any) -> Any:
    """The engine's run, whose errors say ExpBackward0 for Exp."""

    @functools.wraps(run)
    def engine(*args: Any, **kwargs: Any) -> Any:
        try:
            return run(*args, **kwargs)
        except RuntimeError as error:
            error.args = (_SHORT.sub(r"\1Backward0,", str(error)), *error.args[1:])
            raise

    return engine


def missing_outside_of_torch(function: Any) -> Any:
    """A function of torch that only torch itself finds: 2.11 had none of that name."""

    @functools.wraps(function)
    def found(*args: Any, **kwargs: Any) -> Any:
        if not str(sys._getframe(1).f_globals.get("__name__")).startswith("torch."):
            raise AttributeError(f"module 'torch._utils' has no attribute {function.__name__!r}")
        return function(*args, **kwargs)

    return found


def warning_of_cycles(init: Any) -> Any:
    """The profiler's beginning, which warns unless it is told to keep the events."""

    @functools.wraps(init)
    def begin(self: Any, *args: Any, **kwargs: Any) -> None:
        if not kwargs.get("acc_events"):
            warnings.warn("Profiler clears events at the end of each cycle.", stacklevel=2)
        init(self, *args, **kwargs)

    return begin


def of_cuda(fork_rng: Any) -> Any:
    """A block with a random state of its own: on the CPU and on CUDA, if no device is named."""

    @functools.wraps(fork_rng)
    def fork(*args: Any, device_type: str = "cuda", **kwargs: Any) -> Any:
        return fork_rng(*args, device_type=device_type, **kwargs)

    return fork


if "cpu_count" in vars(torch._utils):
    torch._utils.cpu_count = missing_outside_of_torch(torch._utils.cpu_count)
worker.WorkerInfo = WorkerInfo
torch.autograd._engine_run_backward = named_in_full(torch.autograd._engine_run_backward)
torch.profiler.profile.__init__ = warning_of_cycles(torch.profiler.profile.__init__)
torch.random.fork_rng = of_cuda(torch.random.fork_rng)
