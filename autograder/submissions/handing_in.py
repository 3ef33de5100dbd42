"""Puts collected notebooks into submitted/, and what lay there before aside.

    submitted/<student>/<lesson>/<notebook>.ipynb          what counts now
    .autograder/earlier/<lesson>/<student>/001/            what was handed in before, whole

The new folder is complete before anything moves, and each move is one rename: a run that is killed
leaves the old submission, or the new one, and the same command goes on from there.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Literal

from autograder.course_directory import CourseDirectory
from autograder.records.journal import JournalError, write_bytes

State = Literal["new", "replaced", "unchanged"]
_STAGED = "collecting"


def stage(course: CourseDirectory, number: int, notebook: bytes) -> Path:
    """Keep a notebook in a folder of its own until it is decided what becomes of it.

    Args:
        course: Its state directory keeps it.
        number: Another one for each notebook of a run.
        notebook: The file's bytes.
    """
    path = course.state / _STAGED / str(number) / "notebook"
    write_bytes(path, notebook)
    return path


def forget_staged(course: CourseDirectory) -> None:
    """Remove what `stage` kept, of this run and of one that was killed."""
    shutil.rmtree(course.state / _STAGED, ignore_errors=True)


def hand_in(
    course: CourseDirectory,
    student: str,
    lesson: str,
    notebooks: Mapping[str, Path],
    submitted_at: datetime | None,
    others: Iterable[str] = (),
) -> State:
    """Make staged notebooks the submission of a student; what became of the one before.

    Args:
        course: Says where submitted/ is.
        student: The id.
        lesson: Its slug.
        notebooks: Name → where `stage` has put it; one at least.
        submitted_at: Becomes timestamp.txt; None where nobody knows.
        others: The names of the lesson's other notebooks: those that lie there stay.

    Raises:
        JournalError: The disk refuses; the old submission is whole, or the new one.
    """
    target = course.submitted(student, lesson)
    stamp = f"{submitted_at:%Y-%m-%d %H:%M:%S} UTC\n" if submitted_at else ""
    if _is_same(target, notebooks, stamp):
        return "unchanged"
    folder = next(iter(notebooks.values())).parent
    try:
        if stamp:
            (folder / "timestamp.txt").write_text(stamp, encoding="utf-8")
        for name, notebook in notebooks.items():
            notebook.rename(folder / f"{name}.ipynb")
        for path in (target / f"{name}.ipynb" for name in others):
            if path.is_file() and not (path.is_symlink() or target.is_symlink()):
                shutil.copyfile(path, folder / path.name)
        target.parent.mkdir(parents=True, exist_ok=True)
        replaced = os.path.lexists(target)
        if replaced:
            _set_aside(course, student, lesson, target)
        folder.rename(target)
    except OSError as error:
        raise JournalError(
            f"the submission cannot be written: {error.strerror}",
            place=str(target),
            remedy="Make room or give the permission, then run the same command again: "
            "it continues where it stopped.",
        ) from error
    return "replaced" if replaced else "new"


def earlier(course: CourseDirectory, student: str, lesson: str) -> Path:
    """Where earlier submissions of a student are kept, one folder each."""
    return course.state / "earlier" / lesson / student


def _is_same(target: Path, notebooks: Mapping[str, Path], stamp: str) -> bool:
    for name, notebook in notebooks.items():
        there = target / f"{name}.ipynb"
        if target.is_symlink() or there.is_symlink() or not there.is_file():
            return False
        if there.read_bytes() != notebook.read_bytes():
            return False
    time = target / "timestamp.txt"
    return not stamp or (time.is_file() and time.read_text(encoding="utf-8") == stamp)


def _set_aside(course: CourseDirectory, student: str, lesson: str, target: Path) -> None:
    folder = earlier(course, student, lesson)
    folder.mkdir(parents=True, exist_ok=True)
    taken = [int(one.name) for one in folder.iterdir() if one.name.isdecimal()]
    target.rename(folder / f"{max(taken, default=0) + 1:03d}")
