"""What an allocator did, in order: the entries of `torch.cuda.memory._snapshot()`.

The words are those of `parseTraceEntryAction` in `c10/core/CachingDeviceAllocator.h`.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

Action = Literal[
    "alloc", "free_requested", "free_completed", "segment_alloc", "segment_free", "snapshot", "oom"
]
Frame = tuple[str, int, str]  # file name, line, function

# torch keeps every entry by default (max_entries of torch.cuda.memory._record_memory_history);
# a notebook that runs for hours should not, so the oldest entries go first.
_KEPT_ENTRIES = 100_000
_OURS = str(Path(__file__).parents[2])
_DEEPEST = 40


class Entry(NamedTuple):
    """One action. `address` is the free memory of the device for the action "oom"."""

    action: Action
    address: int
    size: int
    time_us: int
    frames: tuple[Frame, ...] = ()
    block_size: int = 0  # of an "alloc": the bytes of the block, which torch's history leaves out


class Trace:
    """The latest entries, and how many allocations there have been in all.

    `with_frames` also writes down who asked, as `torch.cuda.memory._record_memory_history` does.
    """

    def __init__(self, clock: Callable[[], int] = lambda: time.time_ns() // 1000) -> None:
        self.entries: deque[Entry] = deque(maxlen=_KEPT_ENTRIES)
        self.allocations = 0
        self.with_frames = False
        self._clock = clock

    def add(self, action: Action, address: int, size: int, block_size: int = 0) -> Entry:
        """Write one entry down and return it."""
        frames = _callers() if self.with_frames else ()
        entry = Entry(action, address, size, self._clock(), frames, block_size)
        self.entries.append(entry)
        self.allocations += action == "alloc"
        return entry


def _callers() -> tuple[Frame, ...]:
    """Return the frames above the simulation, the innermost first."""
    frame = sys._getframe(1)
    found: list[Frame] = []
    while frame is not None and len(found) < _DEEPEST:
        code = frame.f_code
        if not code.co_filename.startswith(_OURS):
            found.append((code.co_filename, frame.f_lineno, code.co_name))
        frame = frame.f_back  # type: ignore[assignment]
    return tuple(found)
