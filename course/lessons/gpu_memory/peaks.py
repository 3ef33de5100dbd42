"""The most memory that was in use while an answer ran, whatever it asks of the device."""

from __future__ import annotations

from course import gpu

__all__ = ["Peak"]


class Peak:
    """The most bytes in use since it was made, beyond those of then.

    On a simulated device it also counts what was in use before somebody reset the device's peak.

    >>> import torch
    >>> peak = Peak()
    >>> kept = torch.ones(256, device=gpu.device())
    >>> gpu.reset_peak_memory_stats()
    >>> peak.nbytes
    1024
    """

    def __init__(self) -> None:
        """Start from the bytes that are in use now; the device's own peak starts again, too."""
        self._start = gpu.memory_allocated()
        gpu.reset_peak_memory_stats()
        self.before_resets = 0
        if gpu.is_simulated():
            from course.gpu.simulator.memory_functions import device_of

            device_of(None).settled().statistics.tell_of_resets(self)

    @property
    def nbytes(self) -> int:
        """Those bytes."""
        return max(self.before_resets, gpu.max_memory_allocated()) - self._start
