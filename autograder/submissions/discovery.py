"""The submissions that lie in a course directory, found without believing anything in them."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from autograder.course_directory import CourseDirectory
from autograder.errors import AutograderError, UnknownStudent, did_you_mean
from autograder.lessons.model import Lesson
from autograder.submissions.folder import (
    File,
    Folder,
    Open,
    Problem,
    look_through,
    not_readable,
    read_start,
    reason_of,
    shown_name,
)

NOTEBOOK_LIMIT_NBYTES = 64 * 2**20
_TIME_NBYTES = 200
_ID_NBYTES = 255  # the longest name of a folder that any usual file system takes
_NAMED = 5


class IntakeError(AutograderError):
    """The submissions of a course cannot be listed."""


@dataclass(frozen=True)
class Submission:
    """One learner's folder for one lesson.

    `problem` says why there is no notebook to run: a status and a reason; `notes` say what was put
    right on the way in; `files` are the plain files that came along.
    """

    student: str
    lesson: Lesson
    directory: Path
    notebook: Path
    digest: str
    submitted_at: str | None
    problem: Problem | None = None
    notes: tuple[str, ...] = ()
    files: tuple[File, ...] = ()


def find_submissions(
    course: CourseDirectory,
    lessons: tuple[Lesson, ...],
    student: str | None = None,
    *,
    opened: Open = os.open,
) -> tuple[Submission, ...]:
    """Every submission of `lessons`, ordered by lesson and student.

    Args:
        course: Says where submitted/ is.
        lessons: Those that are looked for.
        student: Only theirs; None for everybody's.
        opened: Opens a file as `os.open` does; tests pass their own.

    Returns:
        One for each folder, also for those that cannot be run: `problem` says why.

    Raises:
        UnknownStudent: `student` handed in nothing for these lessons.
        IntakeError: submitted/ itself cannot be listed.
    """
    wanted = None if student is None else student_id(student)
    found = tuple(
        _submission(name, directory, lesson, opened)
        for lesson in lessons
        for name, directory in _folders(course, lesson.slug).items()
        if wanted in (None, name)
    )
    if student is not None and not found:
        known = sorted({name for one in lessons for name in students_with(course, one.slug)})
        raise UnknownStudent(
            f"student '{wanted}' handed in nothing for {_names(lessons)}."
            + did_you_mean(str(wanted), known),
            place=str(course.submitted("", "")),
            remedy=f"There are submissions of: {', '.join(known) or 'nobody'}.",
        )
    return found


def students_with(course: CourseDirectory, lesson: str) -> tuple[str, ...]:
    """The names of those who handed something in for `lesson`.

    Returns:
        Their ids in order, as `student_id` makes them of folder names.

    Raises:
        IntakeError: submitted/ itself cannot be listed.
    """
    return tuple(_folders(course, lesson))


def student_id(name: str) -> str:
    r"""The id of the learner whose folder is called `name`: text that every program can keep.

    Bytes that are no UTF-8 become escapes; what is then too long for a file's name is cut.

    >>> student_id("ada"), student_id(os.fsdecode(b"jos\xe9"))
    ('ada', 'jos\\xe9')
    """
    raw = os.fsencode(name)
    text = raw.decode("utf-8", "backslashreplace")
    if len(text.encode()) <= _ID_NBYTES:
        return text
    return f"{text[:200]}~{hashlib.sha256(raw).hexdigest()[:12]}"


def _folders(course: CourseDirectory, lesson: str) -> dict[str, Path]:
    """Student → what lies there for `lesson`, in the order of their ids."""
    everyone = course.submitted("*", lesson)
    base = everyone.parent.parent
    try:
        names = os.listdir(base) if course.submitted("", "").is_dir() else []
    except OSError as error:
        raise IntakeError(
            f"cannot be listed: {reason_of(error)}",
            place=str(base),
            remedy="Give the permission to read it, then run the command again.",
        ) from error
    there = (name for name in names if not name.startswith("."))
    found: dict[str, Path] = {}
    # Ids that were plain text from the start come first: a made one must not take their place.
    for name in sorted(there, key=lambda one: (student_id(one) != one, one)):
        if _may_be_there(base / name / everyone.name):
            id_ = student_id(name)
            while id_ in found:
                id_ += "~"
            found[id_] = base / name / everyone.name
    return dict(sorted(found.items()))


def _may_be_there(path: Path) -> bool:
    """Whether something was handed in, or nobody can say because a folder does not open."""
    try:
        return bool(path.lstat())
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True


def _submission(student: str, directory: Path, lesson: Lesson, opened: Open) -> Submission:
    found = _no_folder(directory) or look_through(directory, opened)
    notebook, problem, notes = _choose_notebook(found, lesson.slug)
    submitted_at, time_notes = _timestamp(found.top().get("timestamp.txt"), opened)
    return Submission(
        student=student,
        lesson=lesson,
        directory=directory,
        notebook=notebook,
        digest=found.digest,
        submitted_at=submitted_at,
        problem=problem,
        notes=notes + time_notes + _unread(found),
        files=() if found.problem else tuple(one for one in found.files if one.is_regular),
    )


def _no_folder(path: Path) -> Folder | None:
    """What to say where something other than a folder was handed in."""
    try:
        mode = path.lstat().st_mode
    except OSError as error:
        return Folder(path, problem=not_readable(f"The folder {shown_name(path.name)}", error))
    if stat.S_ISDIR(mode):
        return None
    kind = "a link" if stat.S_ISLNK(mode) else "no folder"
    reason = f"{shown_name(path.name)} is {kind}; hand in a folder that holds the notebook."
    return Folder(path, problem=("malformed", reason), digest=kind)


def _choose_notebook(found: Folder, slug: str) -> tuple[Path, Problem | None, tuple[str, ...]]:
    name, top = f"{slug}.ipynb", found.top()
    expected = found.path / name
    if found.problem is not None:
        return expected, found.problem, ()
    if name in found.folders:
        return expected, ("malformed", f"{name} is a folder; hand in the notebook itself."), ()
    if name in top or name in found.unreadable:
        return expected, _why_unusable(name, top.get(name), found), ()
    others = [one for one in top if one.lower().endswith(".ipynb")]
    alike = [one for one in others if one.lower() == name.lower()]
    if len(others) == 1 or len(alike) == 1:
        chosen = (alike or others)[0]
        note = f"The notebook was handed in as {shown_name(chosen)}; it was graded as {name}."
        return top[chosen].path, _why_unusable(chosen, top[chosen], found), (note,)
    return expected, ("missing", f"{name} is not in the submission{_held(found, others)}."), ()


def _held(found: Folder, notebooks: list[str]) -> str:
    """What lies there instead, notebooks above all."""
    files = [one for one in found.top() if one != "timestamp.txt"]
    names = notebooks or [*files, *(f"{one}/" for one in found.folders)]
    listed = ", ".join(map(shown_name, names[:_NAMED]))
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"; it holds {listed}{more}" if names else ""


def _why_unusable(name: str, notebook: File | None, found: Folder) -> Problem | None:
    if name in found.unreadable:
        return not_readable(shown_name(name), OSError(found.unreadable[name]))
    if notebook is None or not notebook.is_regular:
        return "malformed", (
            f"{shown_name(name)} is a link or a special file; hand in the file itself."
        )
    if notebook.size > NOTEBOOK_LIMIT_NBYTES:
        size, limit = notebook.size / 2**20, NOTEBOOK_LIMIT_NBYTES / 2**20
        return "malformed", (
            f"{shown_name(name)} has {size:.0f} MB, more than the {limit:.0f} MB that are read; "
            "clear its outputs and hand it in again."
        )
    return None


def _unread(found: Folder) -> tuple[str, ...]:
    """One sentence for what came along and does not open; no lesson needs it."""
    names = list(map(shown_name, found.unreadable))
    if not names or found.problem is not None:
        return ()
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    listed = ", ".join(names[:_NAMED])
    return (f"Could not be read and was left out: {listed}{more}.",)


def _timestamp(file: File | None, opened: Open) -> tuple[str | None, tuple[str, ...]]:
    if file is None:
        return None, ()
    unknown = f"{file.name} holds no time that can be read; lateness is not known."
    if not file.is_regular or file.size > _TIME_NBYTES:
        return None, (unknown,)
    try:
        text = read_start(file.path, _TIME_NBYTES, opened).decode("utf-8").strip()
        return (_utc(text).isoformat() if text else None), ()
    except Exception:  # whatever the reading of dates makes of a learner's bytes
        return None, (unknown,)


def _utc(text: str) -> datetime:
    # nbgrader 0.9.6 reads an offset of +0200 as 200 seconds; what it writes itself ends in UTC.
    known = re.fullmatch(r"(.*\d) ?(UTC|[+-]\d{2}:?\d{2})", text)
    if known:
        offset = "+00:00" if known[2] == "UTC" else known[2]
        return datetime.fromisoformat(known[1] + offset).astimezone(UTC)
    from autograder.nbgrader_bridge.cells import time_of  # nbgrader takes a second to import

    return time_of(text)


def digest_of(directory: Path) -> str:
    """A digest of all names and bytes in `directory`; links count as their targets' names."""
    return look_through(directory).digest


def _names(lessons: tuple[Lesson, ...]) -> str:
    return ", ".join(lesson.slug for lesson in lessons)
