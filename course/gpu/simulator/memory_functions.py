"""torch.cuda's memory words for a simulated device."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch

from course.gpu.simulator.allocator.caching import CachingAllocator
from course.gpu.simulator.allocator.snapshot import segments_of, snapshot_of
from course.gpu.simulator.allocator.summary import summary_of
from course.gpu.simulator.devices import NAME, SimulatedDevice, simulation

Where = torch.device | str | int | None


def index_of(where: Where) -> int:
    """Return the index that a device, its name or a number means; None means the current one.

    >>> index_of(1)
    1
    """
    if isinstance(where, str):
        where = torch.device(where)
    if isinstance(where, torch.device):
        if where.type != NAME:
            raise ValueError(f"Expected a {NAME} device, but got: {where}")
        where = where.index
    return simulation().current if where is None or where < 0 else where


def device_of(where: Where) -> SimulatedDevice:
    """Return the simulated device that is meant."""
    return simulation().device(index_of(where))


def _allocator(where: Where) -> CachingAllocator:
    return device_of(where).settled()


@contextmanager
def _all_held() -> Iterator[list[CachingAllocator]]:
    """The allocators of all devices; nothing moves in them while the block runs."""
    with ExitStack() as stack:
        yield [stack.enter_context(device.held()) for device in simulation().devices]


class MemoryWords:
    """What torch.cuda says about memory, for the simulated device that is asked about."""

    def memory_allocated(self, device: Where = None) -> int:
        """Return the bytes of the blocks in use."""
        return _allocator(device).allocated

    def max_memory_allocated(self, device: Where = None) -> int:
        """Return the most bytes that were in use since the peak was reset."""
        return _allocator(device).statistics.of("allocated_bytes").peak

    def memory_reserved(self, device: Where = None) -> int:
        """Return the bytes of all segments, in use or cached."""
        return _allocator(device).reserved

    def max_memory_reserved(self, device: Where = None) -> int:
        """Return the most bytes that were reserved since the peak was reset."""
        return _allocator(device).statistics.of("reserved_bytes").peak

    def reset_peak_memory_stats(self, device: Where = None) -> None:
        """Let the peaks start again from the values of now."""
        _allocator(device).statistics.reset_peaks()

    def reset_accumulated_memory_stats(self, device: Where = None) -> None:
        """Let the totals and the counts of events start again from 0."""
        _allocator(device).statistics.reset_accumulated()

    def memory_stats(self, device: Where = None) -> OrderedDict[str, int]:
        """Return all counters under torch.cuda's names."""
        return OrderedDict(_allocator(device).statistics.flat())

    def memory_summary(self, device: Where = None, abbreviated: bool = False) -> str:
        """Return the counters as a table to print."""
        index = index_of(device)
        return summary_of(_allocator(index).statistics.flat(), index, abbreviated=abbreviated)

    def memory_snapshot(self) -> list[dict[str, Any]]:
        """Return the segments of all devices, with their blocks."""
        with _all_held() as allocators:
            numbered = enumerate(allocators)
            return [found for index, each in numbered for found in segments_of(each, index)]

    def full_snapshot(self) -> dict[str, Any]:
        """Return segments and history (`torch.cuda.memory._snapshot`)."""
        with _all_held() as allocators:
            return snapshot_of(allocators)

    def record_frames(self, enabled: bool) -> None:
        """Write down from now on who asks for memory, or stop doing so."""
        for device in simulation().devices:
            device.allocator.trace.with_frames = enabled

    def empty_cache(self) -> None:
        """Give segments without a block in use back to the device."""
        for device in simulation().devices:
            with device.held() as allocator:
                allocator.release_cached()

    def mem_get_info(self, device: Where = None) -> tuple[int, int]:
        """Return the bytes of the device that are free, and all of them (`cudaMemGetInfo`)."""
        allocator = _allocator(device)
        return allocator.free_nbytes, allocator.total_nbytes

    def set_per_process_memory_fraction(self, fraction: float, device: Where = None) -> None:
        """Let the segments take at most this part of the device's memory."""
        if not 0 <= fraction <= 1:
            raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
        allocator = _allocator(device)
        allocator.limit_nbytes = int(fraction * allocator.total_nbytes)
