"""What processes use, as /proc tells it; of one that has ended meanwhile, nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress

_TICKS = os.sysconf("SC_CLK_TCK")
_TOLD = ("Rss", "Threads", "Uid")  # of a process's status
_LAST_PID = "/proc/sys/kernel/ns_last_pid"


def cpu_s(pids: Iterable[str]) -> float:
    """Seconds of processor time, with that of children which ended and were waited for."""
    return sum(own + of_children for _, own, of_children in map(_ticks, pids)) / _TICKS


def own_cpu_s(pid: int) -> float:
    """Seconds of processor time that one process has used itself, none of its children."""
    return _ticks(str(pid))[1] / _TICKS


class ProcessorTime:
    """The processor time of processes that come and go, whether anybody waits for them or not.

    A child whose parent ignores SIGCHLD is counted nowhere once it has ended: what it was last seen
    to have used is remembered.
    """

    def __init__(self) -> None:
        self._own: dict[tuple[str, int], int] = {}  # by the process's number and when it began

    def seconds(self, pids: Iterable[str]) -> float:
        """What all that were ever seen have used, these among them."""
        told = 0
        for pid in pids:
            begun, own, of_children = _ticks(pid)
            self._own[pid, begun] = own
            told += own + of_children
        return max(told, sum(self._own.values())) / _TICKS


def _ticks(pid: str) -> tuple[int, int, int]:
    """When a process began, what it has used itself, and its children that were waited for."""
    with suppress(OSError, ValueError), open(f"/proc/{pid}/stat") as stat:
        # After the name, which may hold anything: state, …, utime, stime, cutime, cstime
        told = [*map(int, stat.read().rpartition(")")[2].split()[11:20])]
        return told[8], told[0] + told[1], told[2] + told[3]
    return 0, 0, 0


def sockets(pid: str) -> int:
    """The sockets of the network namespace that a process is in."""
    with suppress(OSError, ValueError), open(f"/proc/{pid}/net/sockstat") as told:
        return int(told.readline().split()[-1])
    return 0


def threads(pids: Iterable[str]) -> int:
    """The number of their threads; a process has one at least."""
    return sum(int(_status(pid).get("Threads", "0")) for pid in pids)


def threads_of_user() -> int:
    """The threads of all processes that the user of this one has."""
    own = str(os.getuid())
    found = map(_status, filter(str.isdigit, os.listdir("/proc")))
    return sum(int(one["Threads"]) for one in found if one.get("Uid", "").split()[:1] == [own])


def last_pid() -> int:
    """The last number that a process or thread of this pid namespace, or of one below, was given.

    0 where it is not told.
    """
    with suppress(OSError, ValueError), open(_LAST_PID) as last:
        return int(last.read())
    return 0


def anonymous_nbytes(pid: str) -> int:
    """Bytes of memory that no file is behind; what was shared by a fork counts in full."""
    status = _status(pid)  # a zombie has none
    return sum(int(status.get(name, "0").split()[0]) for name in ("RssAnon", "RssShmem")) * 1024


def _status(pid: str) -> dict[str, str]:
    with suppress(OSError), open(f"/proc/{pid}/status") as status:
        return dict(line.split(":", 1) for line in status if line.startswith(_TOLD))
    return {}


def own_nbytes(pid: str) -> int:
    """Bytes of memory, of what is shared only this process's part where that can be read."""
    with suppress(OSError), open(f"/proc/{pid}/smaps_rollup") as rollup:
        for line in rollup:
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return anonymous_nbytes(pid)  # a process may keep the other from being read
