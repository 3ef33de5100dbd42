"""The allocator's counters, under the names of `torch.cuda.memory_stats`.

The names and what moves them follow `DeviceStats` in `c10/core/CachingDeviceAllocator.h`
(installed with torch, under `include/`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol
from weakref import WeakSet

from course.gpu.simulator.allocator.sizes import Pool

# Counted for both pools together and for each of them.
POOLED = (
    "allocation",
    "segment",
    "active",
    "inactive_split",
    "allocated_bytes",
    "reserved_bytes",
    "active_bytes",
    "inactive_split_bytes",
    "requested_bytes",
)
# A block waits for another stream between "allocated" and no longer "active"; there is none here.
_SAME = {"active": "allocation", "active_bytes": "allocated_bytes"}
_POOLS: tuple[Pool, ...] = ("small", "large")
# Stay 0 here: no limit on splitting (max_split_size) and no second stream are modelled.
_OVERSIZE = ("oversize_allocations", "oversize_segments")
_EVENTS = (
    "num_alloc_retries",
    "num_ooms",
    "num_sync_all_streams",
    "num_device_alloc",
    "num_device_free",
    "num_oom_rejections",
)
_NO_SPLIT_LIMIT = -1  # numeric_limits<size_t>::max() as torch prints it, through int64_t


@dataclass(slots=True)
class Counter:
    """One counter: its value now, its highest value, and all that was added and taken away."""

    current: int = 0
    peak: int = 0
    allocated: int = 0
    freed: int = 0


class HearsOfResets(Protocol):
    """Keeps the most bytes that were in use before the peak was reset."""

    before_resets: int


class Statistics:
    """All counters of one device."""

    def __init__(self) -> None:
        pools = ("all", "small_pool", "large_pool")
        self._pooled = {name: {pool: Counter() for pool in pools} for name in POOLED}
        for name, same in _SAME.items():
            self._pooled[name] = self._pooled[same]
        self._moved = {
            name: {pool: (by_pool["all"], by_pool[f"{pool}_pool"]) for pool in _POOLS}
            for name, by_pool in self._pooled.items()
        }
        self._oversize = {name: Counter() for name in _OVERSIZE}
        self._events = dict.fromkeys(_EVENTS, 0)
        self._hear: WeakSet[HearsOfResets] = WeakSet()
        self._named = [
            (counter, [f"{name}.{field}" for field in ("current", "peak", "allocated", "freed")])
            for name, counter in self._counters().items()
        ]

    def add(self, name: str, pool: Pool, amount: int) -> None:
        """Move the counter `name` by `amount`, for the pool and for both together."""
        if amount > 0:
            for counter in self._moved[name][pool]:
                counter.allocated += amount
                counter.current += amount
                if counter.current > counter.peak:
                    counter.peak = counter.current
        elif amount:
            for counter in self._moved[name][pool]:
                counter.freed -= amount
                counter.current += amount

    def count(self, event: str) -> None:
        """Count one event, such as `"num_ooms"`."""
        self._events[event] += 1

    def of(self, name: str) -> Counter:
        """Return the counter `name` of both pools together."""
        return self._pooled[name]["all"]

    def tell_of_resets(self, one: HearsOfResets) -> None:
        """Let `one` know from now on what the peak of bytes was whenever it is reset."""
        self._hear.add(one)

    def reset_peaks(self) -> None:
        """Let every peak start again from the value of now."""
        for one in self._hear:
            one.before_resets = max(one.before_resets, self.of("allocated_bytes").peak)
        for counter in self._counters().values():
            counter.peak = counter.current

    def reset_accumulated(self) -> None:
        """Let every total of what was added and taken away, and every event, start from 0."""
        for counter in self._counters().values():
            counter.allocated = counter.freed = 0
        self._events = dict.fromkeys(_EVENTS, 0)

    def flat(self) -> dict[str, int]:
        """Return all counters as `torch.cuda.memory_stats` does: `{"segment.all.peak": 1, …}`."""
        found: dict[str, int] = dict(self._events)
        found["max_split_size"] = _NO_SPLIT_LIMIT
        for counter, (current, peak, allocated, freed) in self._named:
            found[current], found[peak] = counter.current, counter.peak
            found[allocated], found[freed] = counter.allocated, counter.freed
        return dict(sorted(found.items()))

    def _counters(self) -> dict[str, Counter]:
        pooled = {f"{n}.{p}": c for n, by_pool in self._pooled.items() for p, c in by_pool.items()}
        return pooled | self._oversize
