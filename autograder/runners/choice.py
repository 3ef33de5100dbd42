"""Which runner a command asks for."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

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
) -> Runner:
    """The runner that the command line asks for: the engine on Linux, else stock nbgrader.

    Args:
        name: None for what fits this system.
        jobs: Submissions at a time; None for one a processor.
        sandbox: False where a person accepts learners' code without one.
        scheduler: A Dask scheduler's address; then the engine runs on its workers.
        hide: Directories that no submission may see, the course's above all.

    Returns:
        A runner to close after use.

    Raises:
        UsageError: Stock nbgrader in a sandbox or on a cluster, which it cannot.
        ClusterError: No scheduler answers at that address, or it has other versions.
    """
    if scheduler is not None:
        return _cluster_runner(scheduler, name, jobs, sandbox, hide)
    name = name or usual_runner()
    if name == "engine":
        from autograder.engine import EngineRunner

        return EngineRunner(jobs=jobs, sandbox=sandbox, hide=hide)
    if sandbox:
        raise UsageError(
            "stock nbgrader runs the learners' code as you, with access to all your files",
            remedy="Grade on Linux with the engine, or say --no-sandbox if you accept that.",
        )
    from autograder.runners.nbgrader import StockRunner

    return StockRunner(jobs=jobs or os.cpu_count() or 1)


def _cluster_runner(
    scheduler: str,
    name: RunnerChoice | None,
    jobs: int | None,
    sandbox: bool,
    hide: Sequence[Path],
) -> Runner:
    if name == "stock":
        raise UsageError(
            "--scheduler cannot send stock nbgrader to the workers",
            remedy="Leave out --runner stock: the workers grade with the engine.",
        )
    from autograder.runners.dask import ClusterRunner

    return ClusterRunner(scheduler, jobs, sandbox=sandbox, hide=hide)
