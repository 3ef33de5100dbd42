"""Resources that the grader itself needs: open files and address space, raised and checked.

A grader that is short of file descriptors or address space fails in places that do not name the
cause, or lets an honest answer run out of memory.  So grading is refused before anything runs.
"""

from __future__ import annotations

import math
import resource

from autograder.engine.limits import Limits, MiB, address_space
from autograder.errors import AutograderError

_TORCH_NBYTES = 1024 * MiB  # of address space, at the very least, before torch is loaded
_FILES, _FILES_A_WORKER = 64, 8


class ResourceError(AutograderError):
    """The machine lets the grader use less than it needs."""


def raise_own_limits(limits: Limits, workers: int) -> None:
    """Raise this process's own bounds to what grading takes; raises `ResourceError`.

    The processes that it starts inherit them.
    """
    files = max(limits.open_files, _FILES + _FILES_A_WORKER * workers)
    allowed = _raised(resource.RLIMIT_NOFILE, files)
    if allowed < files:
        raise ResourceError(
            f"a process may open {allowed} files here, and grading takes {files}",
            remedy=f"Raise the limit: `ulimit -n {files}` in this shell, or LimitNOFILE= "
            "in the service that starts it.",
        )
    _raised(resource.RLIMIT_AS, math.inf)
    _refuse_small(_TORCH_NBYTES + limits.memory_nbytes)


def check_memory(limits: Limits) -> None:
    """Refuse, once torch is loaded, where a submission would get less memory than its limit."""
    _refuse_small(address_space() + limits.memory_nbytes)


def _refuse_small(needed: int) -> None:
    allowed = _number(resource.getrlimit(resource.RLIMIT_AS)[1])
    if allowed < needed:
        raise ResourceError(
            f"a process may take {allowed // MiB:,.0f} MB of address space here, and grading takes "
            f"{needed // MiB:,} MB",
            remedy="Lift the limit: `ulimit -v unlimited` in this shell, or LimitAS= in the "
            "service that starts it.",
        )


def _raised(which: int, wanted: float) -> float:
    """Raise a soft limit to `wanted`, or as far as the hard one lets it; what is allowed now."""
    soft, hard = map(_number, resource.getrlimit(which))
    if soft < wanted and soft < hard:
        soft = min(wanted, hard)
        resource.setrlimit(which, (_limit(soft), _limit(hard)))
    return soft


def _number(limit: int) -> float:
    return math.inf if limit == resource.RLIM_INFINITY else limit


def _limit(number: float) -> int:
    return resource.RLIM_INFINITY if number == math.inf else int(number)
