"""The executed notebooks below autograded/, where formgrader and nbgrader's feedback look.

A submission's folder there is made anew beside the old one and then takes its place, so that
nothing of an earlier submission stays and no name in it can stand in the way.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import stat
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autograder.course_directory import CourseDirectory
from autograder.lessons.model import is_covered
from autograder.records.journal import JournalError, write_bytes
from autograder.records.model import SubmissionRecord
from autograder.regular_files import open_regular
from autograder.submissions.discovery import Submission
from autograder.submissions.folder import File, reason_of, taken_along

_SHARED = stat.S_ISGID | stat.S_IRWXU | stat.S_IRWXG  # what nbgrader adds to a group's folders
# What fails for everyone: no room, a disk that is broken or read-only, nothing left to open.
_OURS = {
    getattr(errno, name)
    for name in ("ENOSPC", "EDQUOT", "EROFS", "EIO", "EMFILE", "ENFILE", "ENOMEM", "EFBIG")
    if hasattr(errno, name)
}


class NotWritten(Exception):
    """One submission's folder cannot be written; the message says why. Others may do."""


def write_autograded(
    course: CourseDirectory,
    submission: Submission,
    record: SubmissionRecord,
    notebooks: Mapping[str, Mapping[str, Any] | None],
) -> Path:
    """Write the executed notebooks and the data files; returns their folder.

    Where nothing could be executed a page with the reason takes its place, so that no notebook
    of an earlier grading is left to be mistaken for this one.

    Args:
        course: Says where autograded/ is.
        submission: Its plain files are copied, up to 50 MB.
        record: Gives student and lesson, and the reason on the page.
        notebooks: The executed notebooks by name, hidden tests included; None where nothing was
            executed.

    Raises:
        NotWritten: Something is wrong with this submission's folder alone.
        JournalError: Something stops all of them, such as a full disk.
    """
    directory = course.autograded(record.student, record.lesson)
    new = directory.with_name(f".new-{uuid.uuid4().hex}")
    try:
        _forget_unfinished(directory.parent)
        _write(new, submission, record, notebooks)
        _set_modes(new, course)
        _take_the_place(new, directory)
        if course.is_shared:
            _share(directory.parent)
            _share(course.autograded(".", "."))
    except OSError as error:
        _remove(new)
        raise _explained(error, directory) from error
    except JournalError as error:
        _remove(new)
        if isinstance(error.__cause__, OSError):
            raise _explained(error.__cause__, directory) from error
        raise
    return directory


def _explained(error: OSError, directory: Path) -> Exception:
    """The error as what it means: a trouble of this folder, or one of the whole machine."""
    if error.errno not in _OURS:
        return NotWritten(f"The executed notebook cannot be written: {reason_of(error)}.")
    return JournalError(
        f"the submission's files cannot be written: {reason_of(error)}",
        place=str(directory),
        remedy="Make room or give the permission, then run the same command again.",
    )


def _write(
    new: Path,
    submission: Submission,
    record: SubmissionRecord,
    notebooks: Mapping[str, Mapping[str, Any] | None],
) -> None:
    for name, notebook in notebooks.items():
        content = _encoded(notebook or _placeholder(record))
        write_bytes(new / f"{name}.ipynb", content)
    root = submission.lesson.source.parent
    for path in submission.lesson.data_files:
        target = new / path.relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target, follow_symlinks=False)
    for own in taken_along(submission.files):
        if not is_covered(own.name, submission.lesson):
            _copy_own(own, new)


def _encoded(notebook: Mapping[str, Any]) -> bytes:
    # Without an indent json uses its encoder in C, ten times as fast.
    text = json.dumps(notebook, ensure_ascii=False)
    # Half a character is no text, and nbgrader writes no page that holds one.
    return text.encode("utf-8", "replace") + b"\n"


def _placeholder(record: SubmissionRecord) -> dict[str, Any]:
    notes = "\n".join(f"- {note}" for note in record.notes)
    text = f"## This submission was not executed: {record.status}\n\n{notes}"
    cell = {"cell_type": "markdown", "id": "reason", "metadata": {}, "source": text}
    return {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def _copy_own(own: File, new: Path) -> None:
    """Copy a learner's file; one that cannot be read, or that stands in another's way, stays."""
    target = new / own.name
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        with open(open_regular(own.path), "rb") as source, target.open("wb") as copy:
            shutil.copyfileobj(source, copy)
    except OSError as error:
        if error.errno in _OURS:
            raise


def _set_modes(new: Path, course: CourseDirectory) -> None:
    """Give files, and a group's folders, the permissions that nbgrader gives them."""
    for folder, _, names in os.walk(new):
        for name in names:
            os.chmod(os.path.join(folder, name), course.file_mode)
        if course.is_shared:
            _share(Path(folder))


def _share(folder: Path) -> None:
    """Let the group write to a folder; one that belongs to somebody else they have shared."""
    with contextlib.suppress(OSError):
        folder.chmod((folder.stat().st_mode | _SHARED) & 0o2777)


def _take_the_place(new: Path, directory: Path) -> None:
    if os.path.lexists(directory):
        old = directory.with_name(f".old-{uuid.uuid4().hex}")
        directory.rename(old)
        new.rename(directory)
        _remove(old)
    else:
        new.rename(directory)


def _forget_unfinished(folder: Path) -> None:
    """Remove what a run that was killed has left."""
    for pattern in (".new-*", ".old-*"):
        for path in folder.glob(pattern):
            _remove(path)


def _remove(path: Path) -> None:
    """Remove a folder as far as that goes; nbgrader copies rights too, also those of a learner."""
    for folder, folders, _ in os.walk(path):
        for one in (os.path.join(folder, name) for name in folders):
            if not os.path.islink(one):
                with contextlib.suppress(OSError):
                    os.chmod(one, stat.S_IRWXU)
    shutil.rmtree(path, ignore_errors=True)
