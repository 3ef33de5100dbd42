"""`autograder feedback --zip moodle|canvas`: the pages in the form in which an LMS takes them back.

Only the page goes into it: not the time and the secret of nbgrader's exchange beside it.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path

from autograder.console import json_text, say
from autograder.course_directory import CourseDirectory, load_course
from autograder.errors import AutograderError
from autograder.lessons.model import Lesson
from autograder.lms.identities import LmsStudent, lms_students, told_apart
from autograder.lms.interface import Lms
from autograder.records.journal import JournalError
from autograder.records.model import UNJUDGED
from autograder.reporting.class_results import LearnerResult, class_results
from autograder.reporting.feedback import nobody, page_path, write_pages
from autograder.reporting.lms.grades import numbers_of
from autograder.reporting.status_texts import TO_INSTRUCTOR
from autograder.submissions.matching import known_students

_NAME_NBYTES, _KEPT_CHARS = 255, 60  # four bytes a character at most


class NobodyToSend(AutograderError):
    """No page can be given back."""


@dataclass(frozen=True)
class Packed:
    """What was packed of one lesson; `left_out` says why of each learner who is not in it."""

    lesson: str
    file: Path | None
    folder: Path | None
    sent: tuple[str, ...]
    left_out: Mapping[str, str]
    unread: Mapping[str, tuple[str, ...]]  # learner -> questions that nobody has read

    def to_json(self) -> dict[str, object]:
        """What `--json` prints."""
        paths = {"file": self.file, "folder": self.folder}
        as_text = {key: str(path) if path else None for key, path in paths.items()}
        return {**vars(self), **as_text}


def run(
    course: Path,
    lessons: tuple[Lesson, ...],
    lms: Lms,
    *,
    student: str | None = None,
    db: str | None = None,
    as_json: bool = False,
) -> int:
    """Write the pages and pack them, a zip a lesson; print who is left out, and why.

    Args:
        course: The course directory.
        lessons: Whose pages.
        lms: Which takes them back.
        student: Only theirs; None for everybody's.
        db: The gradebook's address, where it is not the configured one.
        as_json: Print files and reasons as JSON.

    Raises:
        UnknownStudent: Nobody, or not this student, has a grade.
        NobodyToSend: The LMS could not take any page.
    """
    directory = load_course(course, db=db)
    if not [page for lesson in lessons for page in write_pages(directory, lesson, student)]:
        raise nobody(directory, lessons, student)
    packed = [pack(directory, lesson, lms, student) for lesson in lessons]
    if as_json:
        say(json_text([one.to_json() for one in packed]))
    else:
        for one in packed:
            _print_summary(one)
    if not any(one.sent for one in packed):
        raise NobodyToSend(
            f"there is no page that {lms.title} could take",
            remedy="The reasons stand above, one a learner."
            if not as_json
            else "The reasons are in left_out.",
        )
    return 0


def pack(course: CourseDirectory, lesson: Lesson, lms: Lms, student: str | None = None) -> Packed:
    """Pack the pages of a lesson that are written already.

    Args:
        course: Has the pages, and who is who in the LMS.
        lesson: Whose pages.
        lms: Which takes them back.
        student: Only theirs; None for everybody's.
    """
    rows = [row for row in class_results(course, lesson) if student in (None, row.student)]
    seen = {n: one for n, one in lms_students(course, lesson.slug).items() if one.lms == lms.name}
    people = told_apart(seen, numbers_of(lms, known_students(course)))
    pages = {row.student: page_path(course, row.student, lesson) for row in rows}
    wrong = {row.student: _why_not(row, pages[row.student]) for row in rows}
    good = [row for row in rows if not wrong[row.student]]
    names = {row.student: _entry(lms, lesson, people.get(row.student)) for row in good}
    stem = course.report / f"{lesson.slug}-feedback-{lms.name}"
    known = {name: pages[who] for who, name in names.items() if name}
    file = _write_zip(stem.with_name(f"{stem.name}.zip"), known)
    folder = None
    if lms.folders:
        folder = _write_folders(stem, [(row, pages[row.student]) for row in good])
    strangers = {who: lms.not_in_zip for who, name in names.items() if not name}
    return Packed(
        lesson.slug,
        file,
        folder,
        tuple(who for who, name in names.items() if name or folder),
        {**{who: why for who, why in wrong.items() if why}, **strangers},
        {row.student: row.unread for row in good if row.unread},
    )


def _why_not(row: LearnerResult, page: Path) -> str:
    """Why the page of a learner is not given back; empty where it is."""
    if row.record is None:
        return row.status
    if row.stale:
        return "a newer submission or an unfinished regrade waits: run `autograder grade`"
    by_hand = row.entry is not None and bool(row.entry.manual)
    if row.record.status in UNJUDGED and not by_hand:
        return f"{row.record.status}. {TO_INSTRUCTOR[row.record.status]}"
    return "" if page.is_file() else "has no page"


def _entry(lms: Lms, lesson: Lesson, known: LmsStudent | None) -> str:
    """The name in the zip by which the LMS knows whom a page is for; empty where it cannot."""
    return lms.feedback_name(known, f"{lesson.slug}.html") if known else ""


def _write_zip(file: Path, pages: Mapping[str, Path]) -> Path | None:
    """Write the archive, completely or not at all; none where it would be empty."""
    if not pages:
        file.unlink(missing_ok=True)  # an earlier one would be taken for this one
        return None
    unfinished = file.with_name(f".{file.name}.part")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, page in sorted(pages.items()):
                archive.writestr(zipfile.ZipInfo(name), page.read_bytes(), zipfile.ZIP_DEFLATED)
        os.replace(unfinished, file)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise _not_written(error, file) from error
    return file


def _write_folders(folder: Path, pages: Sequence[tuple[LearnerResult, Path]]) -> Path | None:
    """Write a folder a learner in place of those of an earlier run; none where nobody has one."""
    unfinished = folder.with_name(f".{folder.name}.part")
    try:
        shutil.rmtree(unfinished, ignore_errors=True)
        for name, (_, page) in zip(_folder_names(row for row, _ in pages), pages, strict=True):
            target = unfinished / name
            target.mkdir(parents=True)
            shutil.copyfile(page, target / page.name)
        shutil.rmtree(folder, ignore_errors=True)
        if not pages:
            return None
        os.replace(unfinished, folder)
    except OSError as error:
        raise _not_written(error, folder) from error
    return folder


def _folder_names(rows: Iterable[LearnerResult]) -> list[str]:
    """A name for each that no other has: a learner's id may be what another's folder is called."""
    found: dict[str, str] = {}
    for row in rows:
        name = _folder_name(row)
        others = (f"{name[:_KEPT_CHARS]}~{number}" for number in count(2))
        free = next(one for one in chain([name], others) if one.casefold() not in found)
        found[free.casefold()] = free
    return list(found.values())


def _folder_name(row: LearnerResult) -> str:
    """`Lovelace Ada (ada)`; the id alone where that is longer than a name may be."""
    plain = re.sub(r"[^\w .,'-]", " ", f"{row.last_name} {row.first_name}").strip(" .")
    name = f"{plain} ({row.student})" if plain else row.student
    return name if len(os.fsencode(name)) <= _NAME_NBYTES else row.student


def _not_written(error: OSError, path: Path) -> JournalError:
    return JournalError(
        f"cannot be written: {error.strerror}",
        place=str(path),
        remedy="Make room or give the permission, then run the same command again.",
    )


def _print_summary(packed: Packed) -> None:
    say(f"{packed.lesson}: {len(packed.sent)} pages")
    for path in filter(None, (packed.file, packed.folder)):
        say(path)
    for student, why in sorted(packed.left_out.items()):
        say(f"{packed.lesson}: left out: {student}: {why}", file=sys.stderr)
    for student, questions in sorted(packed.unread.items()):
        say(
            f"{packed.lesson}: not all points yet: {student}: {', '.join(questions)} to be read",
            file=sys.stderr,
        )
