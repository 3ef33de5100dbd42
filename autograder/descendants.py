"""How processes end with those that started them, where no namespace ends them all at once."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Collection
from contextlib import suppress

from autograder import linux

_ROUNDS, _PAUSE_S = 200, 0.005
_LOOK_S = 0.02


def end_with_parent(parent: int, how: int = signal.SIGTERM) -> None:
    """Have this process get signal `how` when the one that started it ends, however that ends.

    Where the system offers no such thing, nothing happens.

    Args:
        parent: The process that started this one; where it has ended already, so does this one.
        how: A signal; SIGTERM leaves time to end others.
    """
    if sys.platform == "linux":
        linux.die_with_parent(parent, how)


def adopt_orphans() -> None:
    """Become the parent of what processes below this one leave behind, where the system can."""
    if sys.platform == "linux":
        linux.adopt_orphans()


def descendants(root: int, *, keep: Collection[int] = (), dead: bool = True) -> list[int]:
    """The processes below `root`, nearest first, without those in `keep` and what is below them."""
    parents = _parents(dead)
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
    _end(lambda: descendants(os.getpid(), keep=keep))


def end_all_but(keep: Collection[int]) -> None:
    """As `end_descendants`, of what is below those in `keep` too; they alone go on."""
    _end(lambda: [pid for pid in descendants(os.getpid(), dead=False) if pid not in keep])


def end_tree(root: int) -> None:
    """Kill `root`, a child of this process that adopts orphans, and everything below it.

    It is stopped first: then it starts nothing more, and still adopts what loses its parent.
    """
    with suppress(OSError):
        os.kill(root, signal.SIGSTOP)
    _end(lambda: descendants(root, dead=False))
    with suppress(OSError):
        os.kill(root, signal.SIGKILL)


def wait_for_end(child: int) -> int:
    """The exit code of a child of this process once it has ended; -N where signal N ended it.

    It looks now and then.  A blocking wait would not hear of a signal that comes just before it:
    Python runs its handler after the wait.
    """
    while True:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(_LOOK_S)


def _end(find: Callable[[], list[int]]) -> None:
    for _ in range(_ROUNDS):
        found = find()
        if not found:
            return
        for pid in found:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_PAUSE_S)
        for pid in found:
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)


def _parents(dead: bool) -> dict[int, int]:
    """Process → its parent, of all that can be seen; empty where there is no /proc.

    `dead`: also of those that have ended, and whose parent has not asked how.
    """
    parents: dict[int, int] = {}
    if not os.path.isdir("/proc"):
        return parents
    for name in os.listdir("/proc"):
        if name.isdigit():
            with suppress(OSError, ValueError, IndexError), open(f"/proc/{name}/stat") as stat:
                state, parent = stat.read().rpartition(")")[2].split()[:2]
                if dead or state not in "ZX":
                    parents[int(name)] = int(parent)
    return parents
