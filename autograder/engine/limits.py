"""How much a submission may take, and how the kernel enforces it."""

from __future__ import annotations

import resource
from dataclasses import dataclass, replace

MiB = 2**20
# Measured for a lesson whose ranks talk over loopback; docs/limits.md says how.
LOOPBACK_TIMES = 2  # the processor time of other lessons
LOOPBACK_PROCESSES = 32  # more processes and threads at a time


@dataclass(frozen=True)
class Limits:
    """What one submission may use.

    Attributes:
        cell_s: Seconds of processor time a cell, of all its processes together.
        submission_s: Seconds of processor time of all cells together.
        patience: How many times those seconds may pass on the clock, for what only waits and for
            a machine that is busy with other things.
        worker_s: Seconds of processor time that the grader's own process may take to read it, to
            compare and to write, learners' code aside.
        memory_nbytes: Memory beyond the prepared process with torch, of each of its processes and
            of all of them together.
        tmp_nbytes: Files that it may write, all together.
        files: Their number.
        open_files: File descriptors of one process.
        processes: Processes and threads at a time.
        started: Processes and threads that are started, one after the other.
        sockets: Sockets that are open at a time; what waits in them is memory of no process.
        text_chars: Characters of stdout and stderr together, a cell.
        display_nbytes: Rich output, a cell.
        outputs_nbytes: All outputs of all cells.
        notebook_nbytes: The submitted file itself.
    """

    cell_s: float = 30.0
    submission_s: float = 300.0
    patience: float = 3.0
    worker_s: float = 60.0
    memory_nbytes: int = 2048 * MiB
    tmp_nbytes: int = 128 * MiB
    files: int = 4096
    open_files: int = 256
    processes: int = 64
    started: int = 5_000
    sockets: int = 1_024
    text_chars: int = 100_000
    display_nbytes: int = 8 * MiB
    outputs_nbytes: int = 16 * MiB
    notebook_nbytes: int = 64 * MiB

    def with_loopback(self) -> Limits:
        """The limits of a lesson that may start ranks and let them talk: see docs/limits.md."""
        return replace(
            self,
            cell_s=self.cell_s * LOOPBACK_TIMES,
            submission_s=self.submission_s * LOOPBACK_TIMES,
            processes=self.processes + LOOPBACK_PROCESSES,
        )


def limit_memory(limits: Limits) -> None:
    """Bind the memory of this process alone; for a checker, which reads what learners return."""
    _bind(resource.RLIMIT_AS, address_space() + limits.memory_nbytes)


def apply(limits: Limits, *, beside: int = 0) -> None:
    """Bind this process and its descendants; none of it can be raised again.

    Args:
        limits: What they may use.
        beside: Processes and threads of the same user that the kernel counts, too. In a sandbox
            there are none. Without one, they are what the user runs besides, a browser among it.
    """
    bounds = {
        resource.RLIMIT_AS: address_space() + limits.memory_nbytes,
        resource.RLIMIT_CPU: int(limits.submission_s) + 5,
        resource.RLIMIT_FSIZE: limits.tmp_nbytes,
        resource.RLIMIT_NOFILE: limits.open_files,
        resource.RLIMIT_NPROC: limits.processes + beside,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MSGQUEUE: 0,
        resource.RLIMIT_MEMLOCK: 64 * 1024,
        resource.RLIMIT_RTPRIO: 0,
    }
    for which, wanted in bounds.items():
        _bind(which, wanted)


def _bind(which: int, wanted: int) -> None:
    _, hard = resource.getrlimit(which)
    value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(which, (value, value))


def address_space() -> int:
    """The bytes of address space that this process has mapped."""
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[0]) * resource.getpagesize()
