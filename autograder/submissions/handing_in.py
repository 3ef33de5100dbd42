"""Puts collected notebooks into submitted/, and what lay there before aside.

    submitted/<student>/<lesson>/<notebook>.ipynb          what counts now
    .autograder/earlier/<lesson>/<student>/001/            what was handed in before, whole

The new folder is complete before anything moves, and each move is one rename: a run that is killed
leaves the old submission, or the new one, and the same command goes on from there.

What lies in submitted/ may be a learner's own, from nbgrader's exchange: its size is read before
its bytes, and nothing is taken for text.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Literal

from autograder.course_directory import CourseDirectory
from autograder.records.journal import JournalError, write_bytes
from autograder.submissions.discovery import NOTEBOOK_LIMIT_NBYTES
from autograder.submissions.folder import read_start

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
        others: The names of the lesson's other notebooks: those that lie there stay, but for what
            is too large to be graded, which is kept with the earlier submission alone.

    Raises:
        JournalError: The disk refuses; the old submission is whole, or the new one.
    """
    target = course.submitted(student, lesson)
    linked = next((one for one in course.own_part(target, lesson) if one.is_symlink()), None)
    stamp = f"{submitted_at:%Y-%m-%d %H:%M:%S} UTC\n" if submitted_at else ""
    if linked is None and _is_same(target, notebooks, stamp):
        return "unchanged"
    folder = next(iter(notebooks.values())).parent
    try:
        if stamp:
            (folder / "timestamp.txt").write_text(stamp, encoding="utf-8")
        for name, notebook in notebooks.items():
            notebook.rename(folder / f"{name}.ipynb")
        for path in (target / f"{name}.ipynb" for name in others):
            nbytes = None if linked else _nbytes(path)
            if nbytes is not None and nbytes <= NOTEBOOK_LIMIT_NBYTES:
                (folder / path.name).write_bytes(read_start(path, nbytes))
        old = linked or target  # what a link leads to is another's, perhaps, and stays
        replaced = os.path.lexists(old)
        if replaced:
            _set_aside(course, student, lesson, old)
        target.parent.mkdir(parents=True, exist_ok=True)
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
    """Whether these notebooks lie there, and this time; what does not open is not the same."""
    try:
        return all(
            _holds(target / f"{name}.ipynb", notebook.read_bytes())
            for name, notebook in notebooks.items()
        ) and (not stamp or _holds(target / "timestamp.txt", stamp.encode()))
    except OSError:
        return False


def _holds(path: Path, content: bytes) -> bool:
    """Whether a plain file holds just this; one of another size is not opened."""
    return _nbytes(path) == len(content) and read_start(path, len(content)) == content


def _nbytes(path: Path) -> int | None:
    """The size of a plain file; None for anything else, a link too, and where nothing is."""
    try:
        about = path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return about.st_size if stat.S_ISREG(about.st_mode) else None


def _set_aside(course: CourseDirectory, student: str, lesson: str, target: Path) -> None:
    folder = earlier(course, student, lesson)
    folder.mkdir(parents=True, exist_ok=True)
    taken = [int(one.name) for one in folder.iterdir() if one.name.isdecimal()]
    target.rename(folder / f"{max(taken, default=0) + 1:03d}")
