"""`autograder export --format moodle|canvas`: the points of a lesson as an LMS reads them.

Moodle reads it as an offline grading worksheet (by the participant's number) or as a grade import
(by e-mail address or ID number).  A line without a grade changes nothing there.

Canvas reads it as a gradebook.  An empty cell would take a grade away there, so a learner without
points is left out of the file; who that is, and why, is printed.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

from autograder.console import points
from autograder.course_directory import CourseDirectory, load_course
from autograder.errors import UsageError
from autograder.lessons.model import Lesson
from autograder.nbgrader_bridge.gradebook import enrolled
from autograder.records.journal import write_bytes
from autograder.reporting.class_results import LearnerResult, cautions, class_results
from autograder.reporting.export_csv import inert
from autograder.submissions.roster import Student, known_students
from autograder.submissions.store import LmsStudent, lms_students

LmsFormat = Literal["moodle", "canvas"]

_MOODLE = (
    *("Identifier", "Full name", "ID number", "Email address", "Status"),
    *("Grade", "Maximum Grade", "Last modified (grade)"),
)
_CANVAS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")


def run(
    course: Path,
    lessons: tuple[Lesson, ...],
    form: LmsFormat,
    *,
    out: Path | None = None,
    db: str | None = None,
) -> int:
    """Write a CSV file a lesson below report/, or the only one to `out`; `-` prints."""
    if out is not None and len(lessons) > 1:
        raise UsageError(
            f"{form} reads one file a lesson, and --out names a single one",
            remedy="Name one lesson, or leave --out away: the files go to report/.",
        )
    directory = load_course(course, db=db)
    for lesson in lessons:
        rows, students = (
            class_results(directory, lesson),
            known_students(directory, enrolled(directory)),
        )
        text = lms_csv(form, lesson, rows, students, _people(directory, lesson, form))
        if str(out) == "-":
            sys.stdout.write(text)
        else:
            path = out or directory.report / f"{lesson.slug}-{form}.csv"
            write_bytes(path, text.encode("utf-8"))
            print(path)
        for line in cautions(lesson, rows):
            print(line, file=sys.stderr)
        for line in without_points(rows):
            print(f"{lesson.slug}: without points: {line}", file=sys.stderr)
        for line in unread(rows):
            print(f"{lesson.slug}: not all points yet: {line}", file=sys.stderr)
    return 0


def lms_csv(
    form: LmsFormat,
    lesson: Lesson,
    rows: Iterable[LearnerResult],
    students: Mapping[str, Student],
    people: Mapping[str, LmsStudent],
) -> str:
    """The CSV of one lesson; `people` says how the LMS knows a student."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    if form == "moodle":
        writer.writerow(_MOODLE)
        lines = [_moodle(row, lesson, students, people.get(row.student)) for row in rows]
    else:
        writer.writerow([*_CANVAS, lesson.slug])
        # Canvas knows this line by its spaces and words.
        writer.writerow(["    Points Possible", "", "", "", "", points(lesson.points)])
        counted = [row for row in rows if row.score is not None]
        lines = [_canvas(row, students, people.get(row.student)) for row in counted]
    writer.writerows([inert(cell) for cell in line] for line in lines)
    return buffer.getvalue()


def without_points(rows: Iterable[LearnerResult]) -> list[str]:
    """Who has no points that count, and why."""
    return [f"{row.student}: {row.status}" for row in rows if row.score is None]


def unread(rows: Iterable[LearnerResult]) -> list[str]:
    """Whose points lack those for an answer in words that nobody has read, and for which."""
    return [f"{row.student}: {', '.join(row.unread)} to be read" for row in rows if row.unread]


def _moodle(
    row: LearnerResult, lesson: Lesson, students: Mapping[str, Student], known: LmsStudent | None
) -> list[str]:
    student = students.get(row.student, Student(row.student))
    most = row.record.max if row.record else lesson.points
    return [
        f"Participant {known.number}" if known else "",
        row.name,
        row.student,
        student.email,
        row.status,
        _score(row),
        points(most),
        "-",  # as for somebody who was never graded: Moodle then asks before it overwrites
    ]


def _canvas(
    row: LearnerResult, students: Mapping[str, Student], known: LmsStudent | None
) -> list[str]:
    student = students.get(row.student, Student(row.student))
    number = student.lms_user_id or (known.number if known else "")
    name = ", ".join(filter(None, [row.last_name, row.first_name])) or row.student
    return [name, number, "", row.student, "", _score(row)]


def _score(row: LearnerResult) -> str:
    return "" if row.score is None else points(row.score)


def _people(course: CourseDirectory, lesson: Lesson, form: LmsFormat) -> dict[str, LmsStudent]:
    """Who is who in the LMS: a Moodle number holds for one lesson, a Canvas id everywhere."""
    files = sorted((course.state / "lms").glob("*.json")) if form == "canvas" else []
    slugs = [*(path.stem for path in files), lesson.slug]
    known = {name: one for slug in slugs for name, one in lms_students(course, slug).items()}
    return {name: one for name, one in known.items() if one.lms == form}
