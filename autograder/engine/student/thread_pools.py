"""Ends the threads with which torch computes, so that a fork does not wait for them.

OpenMP keeps a pool of threads for each thread that has computed with several.  A fork inherits what
its own thread knows of the pool, but not the pool's threads: its first large operator would wait
for them for ever.  What has ended its pool before it forks makes a new one when it computes again,
and so does the fork.
"""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Callable

__all__ = ["pool_ender"]

_OPENMP = re.compile(r"/lib[gi]?omp[^/]*\.so[^/]*$")
_HARD = 2  # omp_pause_hard of omp.h: whatever can be made again may go


def pool_ender() -> Callable[[], None]:
    """A function that ends the pools of the thread that calls it."""
    listed, pause = os.listdir, _pause_each

    def end_pools() -> None:
        if len(listed("/proc/self/task")) > 1:  # a pool has threads
            pause()

    return end_pools


def _pause_each() -> None:
    """End the pool of each OpenMP that is loaded: packages bring their own."""
    with open("/proc/self/maps") as maps:
        paths = {line.split(maxsplit=5)[-1].rstrip("\n") for line in maps}
    for path in filter(_OPENMP.search, paths):
        try:
            pause = ctypes.CDLL(path, mode=os.RTLD_NOLOAD).omp_pause_resource_all
        except (OSError, AttributeError):  # OpenMP before 5.0 has no such function
            continue
        pause(_HARD)
