"""Switching the simulated device on, and what is said where this PyTorch cannot have it."""

from __future__ import annotations

import torch

TRIED = "2.11 to 2.15"  # the versions of PyTorch in docs/versions.md


class NoSimulationError(RuntimeError):
    """This PyTorch cannot have the simulated device, and what to do; a notebook shows no calls."""

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


_refused: list[NoSimulationError] = []


def switched_on() -> str:
    """Switch the simulated device type on; return its name.

    Raises:
        NoSimulationError: This version of PyTorch cannot have one.
    """
    if _refused:  # half of it may be registered, and a second try would fail for that reason
        raise _refused[0]
    try:
        from course.gpu.simulator.activation import switch_on
        from course.gpu.simulator.devices import NAME

        switch_on()
    except (AttributeError, ImportError, RuntimeError, TypeError) as error:
        _refused.append(NoSimulationError(_without_simulation(error)))
        raise _refused[0] from error
    return NAME


def _without_simulation(error: Exception) -> str:
    return (
        f"The simulated device cannot be had with torch {torch.__version__}: it uses parts of "
        "PyTorch that change between versions "
        f"({type(error).__name__}: {str(error).partition(chr(10))[0]}).\n"
        f"It runs with torch {TRIED}: install one of these, and restart the kernel. Or go where "
        "there is an NVIDIA GPU: nothing is simulated there.\n"
        "To see what lesson 14 shows, as it was recorded, run this:\n"
        "from course.lessons.gpu_memory import show_recorded; show_recorded()"
    )
