"""The submissions that lie in a course directory, found without believing anything in them."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from autograder.console import named
from autograder.course_directory import CourseDirectory
from autograder.errors import AutograderError, UnknownStudent, did_you_mean
from autograder.lessons.model import Lesson
from autograder.regular_files import Open
from autograder.submissions.folder import (
    File,
    Folder,
    Problem,
    look_through,
    not_readable,
    read_start,
    reason_of,
    shown_name,
)
from autograder.submissions.handed_in_at import UnknownZone, time_in_utc

NOTEBOOK_LIMIT_NBYTES = 64 * 2**20
_TIME_NBYTES = 200
_ID_NBYTES = 255  # the longest name of a folder that any usual file system takes
_ID_CHARS = 128  # the longest id that nbgrader's tables take, where a database counts
_NAMED = 5
_CUT = "~"  # before the digest of an id that was too long
_DIGEST_CHARS = 16
# Bytes that are no UTF-8, tags, and whatever would read as one of our own escapes.
_ESCAPED = re.compile(
    rf'[<>"\udc80-\udcff]|\\(?=x[0-9a-f]{{2}})|{_CUT}(?=[0-9a-f]{{{_DIGEST_CHARS}}}\Z)'
)


class IntakeError(AutograderError):
    """The submissions of a course cannot be listed."""


@dataclass(frozen=True)
class HandedIn:
    """One notebook of a submission; `problem` says why it cannot be run: a status and a reason."""

    lesson: Lesson  # the assignment, or the one of its notebooks
    path: Path
    problem: Problem | None = None


@dataclass(frozen=True)
class Submission:
    """One learner's folder for one lesson.

    `notebooks` are those that the lesson asks for; `notes` say what was put right on the way in;
    `files` are the plain files that came along.
    """

    student: str
    lesson: Lesson
    directory: Path
    notebooks: tuple[HandedIn, ...]
    digest: str
    submitted_at: str | None
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
    folders = {one.slug: _folders(course, one.slug) for one in lessons}
    known = sorted({name for one in folders.values() for name in one})
    # As ids are shown, or as the folder is called.
    wanted = student if student is None or student in known else student_id(student)
    found = tuple(
        _submission(name, directory, lesson, course, opened)
        for lesson in lessons
        for name, directory in folders[lesson.slug].items()
        if wanted in (None, name)
    )
    if student is not None and not found:
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


def hidden_folders(course: CourseDirectory, lessons: Iterable[Lesson]) -> tuple[str, ...]:
    """One sentence where something was handed in under a name that begins with a dot; else none.

    Such a folder is nobody's submission: nbgrader does not see it either, and students.csv can hold
    no such id.

    Args:
        course: Says where submitted/ is.
        lessons: Those that are looked for.
    """
    names = _handed_in(course, lessons, lambda name: name.startswith("."))
    if not names:
        return ()
    return (
        f"left out, as the name of the folder begins with a dot: {named(names, _NAMED)}"
        "; rename it to the student's id",
    )


def excluded_students(course: CourseDirectory, lessons: Iterable[Lesson]) -> tuple[str, ...]:
    """One sentence where the configuration leaves out somebody who handed something in; else none.

    Args:
        course: Its configuration says whom.
        lessons: Those that are looked for.
    """
    names = _handed_in(
        course,
        lessons,
        lambda name: not name.startswith(".") and course.is_excluded(student_id(name)),
    )
    return (f"left out, as nbgrader_config.py says: {named(names, _NAMED)}",) if names else ()


def _handed_in(
    course: CourseDirectory, lessons: Iterable[Lesson], chosen: Callable[[str], bool]
) -> list[str]:
    """The names of those folders in submitted/ that are `chosen`, each once."""
    found: dict[str, None] = {}  # a set that keeps the order
    for lesson in lessons:
        for name, path in sorted(course.submissions(lesson.slug).items()):
            if chosen(name) and _may_be_there(path):
                found[shown_name(name)] = None
    return list(found)


def student_id(name: str) -> str:
    r"""The id of the learner whose folder is called `name`: text that every program can keep.

    Bytes that are no UTF-8 become escapes, and so does what would be a tag on the pages of programs
    that escape nothing; what is then too long for a file's name is cut.  What looks like such an
    escape from the start is escaped as well: no two folders have one id, and none takes another's.

    >>> student_id("ada"), student_id(os.fsdecode(b"jos\xe9"))
    ('ada', 'jos\\xe9')
    >>> student_id(r"jos\xe9"), student_id(r"UNI\ada")
    ('jos\\x5cxe9', 'UNI\\ada')
    """
    raw = os.fsencode(name)
    text = raw.decode("utf-8", "surrogateescape")
    text = _ESCAPED.sub(lambda found: f"\\x{ord(found[0]) & 0xFF:02x}", text)
    whole = text.encode()
    if len(whole) <= _ID_NBYTES and len(text) <= _ID_CHARS:
        return text
    ending = f"{_CUT}{hashlib.sha256(raw).hexdigest()[:_DIGEST_CHARS]}"
    start = whole[: _ID_NBYTES - len(ending)].decode("utf-8", "ignore")
    return start[: _ID_CHARS - len(ending)] + ending


def _folders(course: CourseDirectory, lesson: str) -> dict[str, Path]:
    """Student → what lies there for `lesson`, in the order of their ids."""
    try:
        folders = course.submissions(lesson)
    except OSError as error:
        raise IntakeError(
            f"cannot be listed: {reason_of(error)}",
            place=str(course.submitted("", "")),
            remedy="Give the permission to read it, then run the command again.",
        ) from error
    found = {student_id(name): path for name, path in folders.items() if not name.startswith(".")}
    return {
        id_: path
        for id_, path in sorted(found.items())
        if not course.is_excluded(id_) and _may_be_there(path)
    }


def _may_be_there(path: Path) -> bool:
    """Whether something was handed in, or nobody can say because a folder does not open."""
    try:
        return bool(path.lstat())
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True


def _submission(
    student: str, directory: Path, lesson: Lesson, course: CourseDirectory, opened: Open
) -> Submission:
    above = course.own_part(directory, lesson.slug)
    found = next(filter(None, map(_no_folder, above)), None) or look_through(directory, opened)
    chosen = [_choose_notebook(found, one) for one in lesson.notebooks]
    notes = tuple(note for _, of_it in chosen for note in of_it)
    submitted_at, time_notes = _timestamp(found.top().get("timestamp.txt"), opened)
    taken = (one for one in found.files if one.is_regular and not course.ignores(one.name))
    return Submission(
        student=student,
        lesson=lesson,
        directory=directory,
        notebooks=tuple(one for one, _ in chosen),
        digest=found.digest,
        submitted_at=submitted_at,
        notes=notes + time_notes + _unread(found),
        files=() if found.problem else tuple(taken),
    )


def _no_folder(path: Path) -> Folder | None:
    """What to say where something other than a folder was handed in, or lies above it."""
    try:
        mode = path.lstat().st_mode
    except OSError as error:
        return Folder(path, problem=not_readable(f"The folder {shown_name(path.name)}", error))
    if stat.S_ISDIR(mode):
        return None
    kind = "a link" if stat.S_ISLNK(mode) else "no folder"
    reason = f"{shown_name(path.name)} is {kind}; hand in a folder that holds the notebook."
    return Folder(path, problem=("malformed", reason), digest=kind)


def _choose_notebook(found: Folder, part: Lesson) -> tuple[HandedIn, tuple[str, ...]]:
    """The notebook that was handed in for `part`, and a note where it has another name."""
    name, top = f"{part.notebook}.ipynb", found.top()
    expected = found.path / name
    if found.problem is not None:
        return HandedIn(part, expected, found.problem), ()
    if name in found.folders:
        reason = f"{name} is a folder; hand in the notebook itself."
        return HandedIn(part, expected, ("malformed", reason)), ()
    if name in top or name in found.unreadable:
        return HandedIn(part, expected, _why_unusable(name, top.get(name), found)), ()
    others = [one for one in top if one.lower().endswith(".ipynb")]
    alike = [one for one in others if one.lower() == name.lower()]
    alone = others if len(others) == 1 and not part.is_one_of_several else []
    if len(alike) == 1 or alone:
        chosen = (alike or alone)[0]
        note = f"The notebook was handed in as {shown_name(chosen)}; it was graded as {name}."
        return HandedIn(part, top[chosen].path, _why_unusable(chosen, top[chosen], found)), (note,)
    reason = f"{name} is not in the submission{_held(found, others)}."
    return HandedIn(part, expected, ("missing", reason)), ()


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
    return (f"Could not be read and was left out: {named(names, _NAMED)}.",)


def _timestamp(file: File | None, opened: Open) -> tuple[str | None, tuple[str, ...]]:
    if file is None:
        return None, ()
    unknown = f"{file.name} holds no time that can be read; lateness is not known."
    if not file.is_regular or file.size > _TIME_NBYTES:
        return None, (unknown,)
    try:
        text = read_start(file.path, _TIME_NBYTES, opened).decode("utf-8").strip()
        return (time_in_utc(text).isoformat() if text else None), ()
    except UnknownZone as error:
        zone = f"{file.name} names a time zone that is not known, {error}; lateness is not known."
        return None, (zone,)
    except Exception:  # whatever the reading of dates makes of a learner's bytes
        return None, (unknown,)


def digest_of(directory: Path) -> str:
    """A digest of all names and bytes in `directory`; links count as their targets' names."""
    return look_through(directory).digest


def _names(lessons: tuple[Lesson, ...]) -> str:
    return ", ".join(lesson.slug for lesson in lessons)
