"""The executed notebooks below autograded/, where formgrader and nbgrader's feedback look."""

from __future__ import annotations

import json
import shutil
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from autograder.intake import Submission
from autograder.journal import JournalError, write_bytes
from autograder.place import Place
from autograder.records import SubmissionRecord

_COPIED_NBYTES = 50 * 2**20  # of a submission's own files; nbgrader copies without a limit
_READ_ONLY = 0o444  # as nbgrader leaves them


def write_autograded(
    course: Place,
    submission: Submission,
    record: SubmissionRecord,
    notebook: Mapping[str, Any] | None,
) -> Path:
    """Write the executed notebook and its data files; returns the notebook's path.

    Where nothing could be executed a page with the reason takes its place, so that no notebook
    of an earlier grading is left to be mistaken for this one.
    """
    directory = course.autograded(record.student, record.lesson)
    path = directory / f"{record.lesson}.ipynb"
    # Without an indent json uses its encoder in C, ten times as fast.
    content = json.dumps(notebook or _placeholder(record), ensure_ascii=False)
    write_bytes(path, content.encode("utf-8", "backslashreplace") + b"\n", mode=_READ_ONLY)
    try:
        _copy(submission.lesson.source.parent, submission.lesson.data_files, directory)
        _copy(submission.directory, _own_files(submission), directory)
    except OSError as error:
        raise JournalError(
            f"the submission's files cannot be copied: {error.strerror}",
            place=str(directory),
            remedy="Make room or give the permission, then run the same command again.",
        ) from error
    return path


def _placeholder(record: SubmissionRecord) -> dict[str, Any]:
    notes = "\n".join(f"- {note}" for note in record.notes)
    text = f"## This submission was not executed: {record.status}\n\n{notes}"
    cell = {"cell_type": "markdown", "id": "reason", "metadata": {}, "source": text}
    return {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def _own_files(submission: Submission) -> list[Path]:
    """The regular files that came along, smallest first, up to the limit; never a link."""
    found = [path for path in submission.directory.rglob("*") if path.suffix != ".ipynb"]
    sizes = {path: path.lstat() for path in found}
    regular = [path for path in found if stat.S_ISREG(sizes[path].st_mode)]
    chosen, total = [], 0
    for path in sorted(regular, key=lambda one: sizes[one].st_size):
        total += sizes[path].st_size
        if total > _COPIED_NBYTES:
            break
        chosen.append(path)
    return chosen


def _copy(root: Path, files: Iterable[Path], directory: Path) -> None:
    for path in files:
        target = directory / path.relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        shutil.copyfile(path, target, follow_symlinks=False)
