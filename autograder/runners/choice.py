"""Which runner a command asks for."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from autograder.engine.limits import Limits
from autograder.errors import UsageError
from autograder.records.runner import Runner

RunnerChoice = Literal["engine", "stock"]


def usual_runner() -> RunnerChoice:
    """What fits this system: the engine needs Linux."""
    return "engine" if sys.platform == "linux" else "stock"


def choose_runner(
    name: RunnerChoice | None,
    *,
    jobs: int | None,
    sandbox: bool,
    scheduler: str | None,
    hide: Sequence[Path] = (),
    cell_limit_s: float | None = None,
) -> Runner:
    """The runner that the command line asks for: the engine on Linux, else stock nbgrader.

    Args:
        name: None for what fits this system.
        jobs: Submissions at a time; None for one a processor.
        sandbox: False where a person accepts learners' code without one.
        scheduler: A Dask scheduler's address; then the engine runs on its workers.
        hide: Directories that no submission may see, the course's above all.
        cell_limit_s: Seconds that a cell may run; 0 for the limit of the whole submission, None
            for the usual ones.

    Returns:
        A runner to close after use.

    Raises:
        UsageError: Stock nbgrader in a sandbox or on a cluster, which it cannot.
        ClusterError: No scheduler answers at that address, or it has other versions.
    """
    if scheduler is not None:
        return _cluster_runner(scheduler, name, jobs, sandbox, hide, cell_limit_s)
    name = name or usual_runner()
    if name == "engine":
        from autograder.engine import EngineRunner

        return EngineRunner(jobs=jobs, sandbox=sandbox, hide=hide, limits=_limits(cell_limit_s))
    if sandbox:
        raise UsageError(
            "stock nbgrader runs the learners' code as you, with access to all your files",
            remedy="Grade on Linux with the engine, or say --no-sandbox if you accept that.",
        )
    from autograder.runners.nbgrader import StockRunner

    limits = _limits(cell_limit_s)
    return StockRunner(jobs=jobs or os.cpu_count() or 1, cell_limit_s=math.ceil(limits.cell_s))


def _limits(cell_limit_s: float | None) -> Limits:
    """The usual limits with another one for cells; a submission may take ten such cells."""
    usual = Limits()
    if cell_limit_s is None:
        return usual
    cell_s = cell_limit_s or usual.submission_s
    submission_s = max(usual.submission_s, usual.submission_s / usual.cell_s * cell_limit_s)
    return replace(usual, cell_s=cell_s, submission_s=submission_s)


def _cluster_runner(
    scheduler: str,
    name: RunnerChoice | None,
    jobs: int | None,
    sandbox: bool,
    hide: Sequence[Path],
    cell_limit_s: float | None,
) -> Runner:
    if name == "stock":
        raise UsageError(
            "--scheduler cannot send stock nbgrader to the workers",
            remedy="Leave out --runner stock: the workers grade with the engine.",
        )
    from autograder.runners.dask import ClusterRunner

    return ClusterRunner(scheduler, jobs, sandbox=sandbox, hide=hide, limits=_limits(cell_limit_s))
