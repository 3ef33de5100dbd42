"""`autograder feedback --zip moodle|canvas`: the pages in the form in which an LMS takes them back.

Moodle's *Upload multiple feedback files in a zip* reads whom a file is for from its name, as in the
archive that was collected: `Full name_PARTICIPANT_assignsubmission_file_PAGE.html`.  It asks for
the participant's number in this assignment and for the name of a plugin, and gives the rest of the
name to the file (mod/assign/feedback/file/importziplib.php).

Canvas's *Upload Submissions* takes the first two numbers of a name for the learner's and for the
file's that they handed in, and makes a comment with the file attached.  It shows the attachment
under the name of the file that was handed in (infer_comment_context_from_filename in
abstract_assignment.rb).  So there is also a folder a learner, for those who attach by hand.

Only the page goes into either: not the time and the secret of nbgrader's exchange beside it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from autograder.course_directory import CourseDirectory, load_course
from autograder.errors import AutograderError
from autograder.lessons.model import Lesson
from autograder.records.journal import JournalError
from autograder.records.model import UNJUDGED
from autograder.reporting.class_results import LearnerResult, class_results
from autograder.reporting.feedback import nobody, write_pages
from autograder.reporting.status_texts import TO_INSTRUCTOR
from autograder.submissions.lms_names import letters
from autograder.submissions.store import LmsStudent, lms_students

Lms = Literal["moodle", "canvas"]
_NAME_NBYTES = 255


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
    """Write the pages and pack them, a zip a lesson; print who is left out, and why."""
    directory = load_course(course, db=db)
    if not [page for lesson in lessons for page in write_pages(directory, lesson, student)]:
        raise nobody(directory, lessons, student)
    packed = [pack(directory, lesson, lms, student) for lesson in lessons]
    if as_json:
        print(json.dumps([one.to_json() for one in packed], indent=1, ensure_ascii=False))
    else:
        for one in packed:
            _print_summary(one)
    if not any(one.sent for one in packed):
        raise NobodyToSend(
            f"there is no page that {lms.capitalize()} could take",
            remedy="The reasons stand above, one a learner."
            if not as_json
            else "The reasons are in left_out.",
        )
    return 0


def pack(course: CourseDirectory, lesson: Lesson, lms: Lms, student: str | None = None) -> Packed:
    """Pack the pages of `lesson` that are written, of one student or of all."""
    rows = [row for row in class_results(course, lesson) if student in (None, row.student)]
    people = {n: one for n, one in lms_students(course, lesson.slug).items() if one.lms == lms}
    pages = {row.student: _page(course, lesson, row.student) for row in rows}
    wrong = {row.student: _why_not(row, pages[row.student]) for row in rows}
    good = [row for row in rows if not wrong[row.student]]
    names = {row.student: _entry(lms, lesson, people.get(row.student)) for row in good}
    stem = course.report / f"{lesson.slug}-feedback-{lms}"
    known = {name: pages[who] for who, name in names.items() if name}
    file = _write_zip(stem.with_name(f"{stem.name}.zip"), known)
    folder = _write_folders(stem, [(row, pages[row.student]) for row in good], lms)
    strangers = {who: _UNKNOWN[lms] for who, name in names.items() if not name}
    return Packed(
        lesson.slug,
        file,
        folder,
        tuple(who for who, name in names.items() if name or folder),
        {**{who: why for who, why in wrong.items() if why}, **strangers},
        {row.student: row.unread for row in good if row.unread},
    )


_UNKNOWN = {
    "moodle": "Moodle's number of this learner is not known: `autograder collect` the archive "
    "that Moodle gives for this assignment",
    "canvas": "is not in the zip, only in the folder: `autograder collect` the archive that Canvas "
    "gives for this assignment, so that Canvas's numbers are known",
}


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


def _page(course: CourseDirectory, lesson: Lesson, student: str) -> Path:
    return course.feedback(student, lesson.slug) / f"{lesson.slug}.html"


def _entry(lms: Lms, lesson: Lesson, known: LmsStudent | None) -> str:
    """The name by which the LMS knows whom a page is for; empty where it cannot."""
    if known is None:
        return ""
    if lms == "moodle":
        # Moodle counts the underscores and skips names that begin as hidden files do.
        name = re.sub(r"[_/\\\x00-\x1f]+", " ", known.name).lstrip(".~ ").strip() or "Participant"
        return f"{name}_{known.number}_assignsubmission_file_{lesson.slug}.html"
    if not known.file_id:
        return ""
    name = letters(known.name)
    parts = [] if name.isdigit() or known.number.startswith("anon_") or name == "anon" else [name]
    return "_".join([*filter(None, parts), known.number, known.file_id, f"{lesson.slug}.html"])


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


def _write_folders(
    folder: Path, pages: Iterable[tuple[LearnerResult, Path]], lms: Lms
) -> Path | None:
    """Write a folder a learner in place of those of an earlier run; none but for Canvas."""
    pages = list(pages)
    if lms != "canvas":
        return None
    unfinished = folder.with_name(f".{folder.name}.part")
    try:
        shutil.rmtree(unfinished, ignore_errors=True)
        for row, page in pages:
            target = unfinished / _folder_name(row)
            target.mkdir(parents=True)
            shutil.copyfile(page, target / page.name)
        shutil.rmtree(folder, ignore_errors=True)
        if not pages:
            return None
        os.replace(unfinished, folder)
    except OSError as error:
        raise _not_written(error, folder) from error
    return folder


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
    print(f"{packed.lesson}: {len(packed.sent)} pages")
    for path in filter(None, (packed.file, packed.folder)):
        print(path)
    for student, why in sorted(packed.left_out.items()):
        print(f"{packed.lesson}: left out: {student}: {why}", file=sys.stderr)
    for student, questions in sorted(packed.unread.items()):
        print(
            f"{packed.lesson}: not all points yet: {student}: {', '.join(questions)} to be read",
            file=sys.stderr,
        )
