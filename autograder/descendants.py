"""The processes below one, and their end, where no namespace ends them all at once."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Collection
from contextlib import suppress

_ROUNDS, _PAUSE_S = 200, 0.005


def descendants(root: int, *, keep: Collection[int] = ()) -> list[int]:
    """The processes below `root`, nearest first, without those in `keep` and what is below them."""
    parents = _parents()
    found: list[int] = []
    layer = {root}
    while layer:
        layer = {pid for pid, parent in parents.items() if parent in layer and pid not in keep}
        found += layer
    return found


def kill_descendants(root: int) -> None:
    """Kill what is below `root` at this moment."""
    for pid in descendants(root):
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def end_descendants(*, keep: Collection[int] = ()) -> None:
    """Kill everything below this process, and what that may start meanwhile, until it is gone.

    It finds processes that left their parent if this process adopts orphans.
    """
    for _ in range(_ROUNDS):
        found = descendants(os.getpid(), keep=keep)
        if not found:
            return
        for pid in found:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_PAUSE_S)
        for pid in found:
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)


def _parents() -> dict[int, int]:
    """Process → its parent, of all that can be seen; empty where there is no /proc."""
    parents: dict[int, int] = {}
    if not os.path.isdir("/proc"):
        return parents
    for name in os.listdir("/proc"):
        if name.isdigit():
            with suppress(OSError, ValueError, IndexError), open(f"/proc/{name}/stat") as stat:
                parents[int(name)] = int(stat.read().rpartition(")")[2].split()[1])
    return parents
