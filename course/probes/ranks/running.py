"""The probe that starts ranks beside the answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from course.probes.decorator import probe
from course.probes.ranks.launching import launch

__all__ = ["run_ranks"]


@probe
def run_ranks(
    program: str | Callable[..., Any],
    ranks: int = 2,
    *,
    args: Sequence[Any] = (),
    each: Sequence[Sequence[Any]] | None = None,
    files: Mapping[str, str] | None = None,
    group: bool | None = None,
    fresh: bool = False,
    timeout_s: float = 20.0,
) -> list[dict[str, Any]]:
    """What becomes of each rank of a script or a function; see `course.probes.ranks.launching`.

    Args:
        program: The text of a script, or a function.
        ranks: The number of processes.
        args: What a function gets after its rank.
        each: All that a function gets, one sequence a rank; None for rank and `args`.
        files: Text files in the directory where the ranks run, by name.
        group: Whether a function finds a process group; None: it does.
        fresh: Whether each rank of a script is a Python of its own.
        timeout_s: Seconds until the ranks that are left are ended.

    Raises:
        ValueError: `ranks` is below 1, `each` has another length, or a function is to be fresh.
        RuntimeError: This system cannot fork.
    """
    return launch(
        program,
        ranks,
        args=args,
        each=each,
        files=files,
        group=group,
        fresh=fresh,
        timeout_s=timeout_s,
    )
