"""Our grader in the place of `nbgrader autograde`, for nbgrader's own tests of that command.

They call `run_nbgrader(["autograde", "ps1", …])` and then look at folders, exit codes and the
gradebook.  What is not `autograde` goes on to nbgrader.  One engine grades for all of the tests,
and everything runs in this process, as it does there.
"""

from __future__ import annotations

import atexit
import contextlib
import io
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from nbgrader.tests import run_nbgrader
from traitlets.config.loader import PyFileConfigLoader

from autograder.cli import grade
from autograder.cli.main import main
from autograder.engine import EngineRunner, Limits
from autograder.nbgrader_bridge.table_version import table_version_in_process
from autograder.records.runner import Job, Outcome
from autograder.runners import choice

CONFIG = "nbgrader_config.py"
_PATIENCE = 20.0  # a cell that sleeps for 5 s passes on a busy machine, too
# An option of nbgrader's, and ours for the same; what has none is left out.
SAME = {"--db": "--db", "--student": "--student", "--force": "--regrade", "-f": "--regrade"}
TAKES_A_VALUE = ("--db", "--student", "--notebook")


class _ForAll:
    """An engine that stays when a command is done with it."""

    def __init__(self, engine: EngineRunner) -> None:
        self._engine = engine

    def run_many(self, jobs: Iterable[Job]) -> Iterator[Outcome]:
        return self._engine.run_many(jobs)

    def close(self) -> None:
        pass


@cache
def _engine(limits: Limits) -> EngineRunner:
    engine = EngineRunner(jobs=1, limits=limits)
    atexit.register(engine.close)
    return engine


def _chosen(name: str | None, *, cell_limit_s: float | None, **_: Any) -> _ForAll:
    limits = choice._limits(cell_limit_s)
    return _ForAll(_engine(replace(limits, patience=_PATIENCE)))


def run(
    args: Sequence[str],
    retcode: int = 0,
    env: dict[str, str] | None = None,
    stdout: bool = False,
) -> str:
    """`run_nbgrader` of nbgrader's tests, with ours in the place of one command.

    Raises:
        AssertionError: The command ends with another exit code than `retcode`.
    """
    if args[0] != "autograde":
        with table_version_in_process():
            theirs: str = run_nbgrader(list(args), retcode, env, stdout)
        return theirs
    said = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grade, "choose_runner", _chosen)
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            code = main(translated(args, Path.cwd()))
    print(said.getvalue())  # pytest shows it where a test fails
    # nbgrader has 1 for whatever went wrong, we have another one for wrong usage.
    assert min(code, 1) == retcode, f"autograder ended with {code}"
    return said.getvalue()


def translated(args: Sequence[str], folder: Path) -> list[str]:
    """The command line of `autograder` for one of `nbgrader autograde`.

    The suite keeps its configuration beside the course, ours lies in it: it is copied there, and
    settings of the command line are written below it.

    Args:
        args: As the suite has them, `autograde` first.
        folder: Where the suite keeps its configuration.
    """
    if "--help-all" in args:
        return ["grade", "--help"]
    config = PyFileConfigLoader(CONFIG, path=str(folder)).load_config()
    course = Path(config.CourseDirectory.root)
    for path in folder.glob("*.py"):
        shutil.copy(path, course)
    found, settings, rest = ["grade"], [], iter(args[1:])
    for word in rest:
        name, _, value = word.partition("=")
        if "." in name and word.startswith("--"):
            settings.append(_setting(name.removeprefix("--"), value))
        elif word.startswith("-"):
            values = [next(rest)] if word in TAKES_A_VALUE else []
            found += [SAME[word], *values] if word in SAME else []
        else:
            found.append(word)
    with (course / CONFIG).open("a") as file:
        file.write("".join(f"\n{one}" for one in settings))
    return [*found, "--course", os.fspath(course)]


def _setting(name: str, value: str) -> str:
    """A line of the configuration: `value` is a word where it is nothing else."""
    plain = value.isdecimal() or value in ("True", "False") or value[:1] in "[{("
    return f"c.{name} = {value if plain else repr(value)}"
