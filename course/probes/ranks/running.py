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
    """What becomes of each rank of a script or a function; see `course.probes.ranks.launching`."""
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
