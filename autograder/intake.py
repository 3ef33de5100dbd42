"""The submissions that lie in a course directory, found without believing anything in them."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from autograder.errors import UnknownStudent, did_you_mean
from autograder.lessons import Lesson
from autograder.place import Place

NOTEBOOK_LIMIT_NBYTES = 64 * 2**20
_BLOCK_NBYTES = 2**20


@dataclass(frozen=True)
class Submission:
    """One learner's folder for one lesson.

    `problem` says why there is no notebook to run ("missing" or "malformed" and a reason);
    `notes` say what was put right on the way in.
    """

    student: str
    lesson: Lesson
    directory: Path
    notebook: Path
    digest: str
    submitted_at: str | None
    problem: tuple[str, str] | None = None
    notes: tuple[str, ...] = ()


def find_submissions(
    course: Place, lessons: tuple[Lesson, ...], student: str | None = None
) -> tuple[Submission, ...]:
    """Every submission of `lessons`, ordered by lesson and student."""
    found = tuple(
        _submission(course, name, lesson)
        for lesson in lessons
        for name in students_with(course, lesson.slug)
        if student in (None, name)
    )
    if student is not None and not found:
        known = sorted({name for one in lessons for name in students_with(course, one.slug)})
        raise UnknownStudent(
            f"student '{student}' handed in nothing for {_names(lessons)}."
            + did_you_mean(student, known),
            place=str(course.submitted("", "")),
            remedy=f"There are submissions of: {', '.join(known) or 'nobody'}.",
        )
    return found


def students_with(course: Place, lesson: str) -> tuple[str, ...]:
    """The names of those who handed something in for `lesson`."""
    everyone = course.submitted("*", lesson)
    base = course.submitted("", "").resolve()
    found = everyone.parent.parent.glob(f"*/{everyone.name}") if base.is_dir() else ()
    names = (path.parent.name for path in found if path.is_dir() and not path.is_symlink())
    return tuple(sorted(name for name in names if not name.startswith(".")))


def _submission(course: Place, student: str, lesson: Lesson) -> Submission:
    directory = course.submitted(student, lesson.slug)
    notebook, problem, notes = _choose_notebook(directory, lesson.slug)
    submitted_at, time_notes = _timestamp(directory / "timestamp.txt")
    return Submission(
        student=student,
        lesson=lesson,
        directory=directory,
        notebook=notebook,
        digest=digest_of(directory),
        submitted_at=submitted_at,
        problem=problem,
        notes=notes + time_notes,
    )


def _choose_notebook(
    directory: Path, slug: str
) -> tuple[Path, tuple[str, str] | None, tuple[str, ...]]:
    expected = directory / f"{slug}.ipynb"
    if os.path.lexists(expected):
        return expected, _why_unusable(expected), ()
    others = sorted(directory.glob("*.ipynb"))
    if len(others) == 1:
        note = f"The notebook was handed in as {others[0].name}; it was graded as {slug}.ipynb."
        return others[0], _why_unusable(others[0]), (note,)
    names = ", ".join(path.name for path in others)
    reason = f"{slug}.ipynb is not in the submission" + (f"; it holds {names}" if names else "")
    return expected, ("missing", f"{reason}."), ()


def _why_unusable(notebook: Path) -> tuple[str, str] | None:
    info = notebook.lstat()
    if not stat.S_ISREG(info.st_mode):
        return "malformed", f"{notebook.name} is a link or a special file; hand in the file itself."
    if info.st_size > NOTEBOOK_LIMIT_NBYTES:
        size, limit = info.st_size / 2**20, NOTEBOOK_LIMIT_NBYTES / 2**20
        return "malformed", (
            f"{notebook.name} has {size:.0f} MB, more than the {limit:.0f} MB that are read; "
            "clear its outputs and hand it in again."
        )
    return None


def _timestamp(path: Path) -> tuple[str | None, tuple[str, ...]]:
    try:
        text = path.read_text(encoding="utf-8").strip() if path.is_file() else ""
        if not text:
            return None, ()
        return _utc(text).isoformat(), ()
    except (OSError, ValueError, OverflowError):
        return None, (f"{path.name} holds no time that can be read; lateness is not known.",)


def _utc(text: str) -> datetime:
    # nbgrader 0.9.6 reads an offset of +0200 as 200 seconds; what it writes itself ends in UTC.
    known = re.fullmatch(r"(.*\d) ?(UTC|[+-]\d{2}:?\d{2})", text)
    if known:
        offset = "+00:00" if known[2] == "UTC" else known[2]
        return datetime.fromisoformat(known[1] + offset).astimezone(UTC)
    from nbgrader.utils import parse_utc  # a second to import

    return parse_utc(text).replace(tzinfo=UTC)


def digest_of(directory: Path) -> str:
    """A digest of all names and bytes in `directory`; links count as their targets' names."""
    total = hashlib.sha256()
    for path in _files(directory):
        total.update(os.fsencode(path.relative_to(directory)) + b"\0")
        total.update(_digest_of_file(path))
    return total.hexdigest()


def _files(directory: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(directory):
        folders[:] = sorted(name for name in folders if name != ".ipynb_checkpoints")
        yield from (Path(folder, name) for name in sorted(names))


def _digest_of_file(path: Path) -> bytes:
    digest, mode = hashlib.sha256(), path.lstat().st_mode
    if stat.S_ISLNK(mode):
        digest.update(b"link " + os.fsencode(os.readlink(path)))
    elif stat.S_ISREG(mode):
        with path.open("rb") as file:
            while block := file.read(_BLOCK_NBYTES):
                digest.update(block)
    else:
        digest.update(f"special {stat.S_IFMT(mode)}".encode())
    return digest.digest()


def _names(lessons: tuple[Lesson, ...]) -> str:
    return ", ".join(lesson.slug for lesson in lessons)
