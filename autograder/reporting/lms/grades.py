"""`autograder export --format moodle|canvas`: the points of a lesson as an LMS imports them.

Where there are no points there is a status, never a 0; who that is, and why, is printed.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from autograder.console import hand_over, say
from autograder.course_directory import CourseDirectory, load_course
from autograder.errors import UsageError
from autograder.lessons.model import Lesson
from autograder.lms.identities import LmsStudent, lms_students, told_apart
from autograder.lms.interface import GradeLine, Lms
from autograder.records.journal import write_bytes
from autograder.reporting.class_results import LearnerResult, cautions, class_results
from autograder.reporting.export_csv import shown
from autograder.submissions.class_list import Student
from autograder.submissions.matching import known_students


def run(
    course: Path,
    lessons: tuple[Lesson, ...],
    lms: Lms,
    *,
    out: Path | None = None,
    db: str | None = None,
) -> int:
    """Write a CSV file a lesson; print who has no points, and why.

    Args:
        course: The course directory.
        lessons: Whose grades.
        lms: Which imports them.
        out: Where to, for a single lesson, `-` to print; None for a file each below report/.
        db: The gradebook's address, where it is not the configured one.

    Raises:
        UsageError: `out` is one file, and there are several lessons.
    """
    if out is not None and len(lessons) > 1:
        raise UsageError(
            f"{lms.name} reads one file a lesson, and --out names a single one",
            remedy="Name one lesson, or leave --out away: the files go to report/.",
        )
    directory = load_course(course, db=db)
    for lesson in lessons:
        rows, students = class_results(directory, lesson), known_students(directory)
        people = _people(directory, lesson, lms, students)
        text = lms_csv(lms, lesson, rows, students, people)
        if str(out) == "-":
            hand_over(text)
        else:
            path = out or directory.report / f"{lesson.slug}-{lms.name}.csv"
            write_bytes(path, text.encode("utf-8"))
            say(path)
        for line in cautions(lesson, rows):
            say(line, file=sys.stderr)
        for line in without_points(rows):
            say(f"{lesson.slug}: without points: {line}", file=sys.stderr)
        for line in unknown_to(lms, rows, students, people):
            say(f"{lesson.slug}: {line}", file=sys.stderr)
        for line in unread(rows):
            say(f"{lesson.slug}: not all points yet: {line}", file=sys.stderr)
    return 0


def lms_csv(
    lms: Lms,
    lesson: Lesson,
    rows: Iterable[LearnerResult],
    students: Mapping[str, Student],
    people: Mapping[str, LmsStudent],
) -> str:
    """The CSV of one lesson.

    Args:
        lms: Whose form.
        lesson: Gives the assignment's name and points.
        rows: The class.
        students: By their ids; they have addresses and numbers of students.csv.
        people: How the LMS knows a student, as far as `collect` has seen it.
    """
    buffer = io.StringIO()
    lines = (_line(row, lesson, students, people.get(row.student)) for row in rows)
    table = lms.grade_table(lesson.slug, lesson.points, lines)
    csv.writer(buffer, lineterminator="\n").writerows(map(shown, row) for row in table)
    return buffer.getvalue()


def without_points(rows: Iterable[LearnerResult]) -> list[str]:
    """Who has no points that count, and why."""
    return [f"{row.student}: {row.status}" for row in rows if row.score is None]


def unknown_to(
    lms: Lms,
    rows: Iterable[LearnerResult],
    students: Mapping[str, Student],
    people: Mapping[str, LmsStudent],
) -> list[str]:
    """Who has points that the LMS cannot place, as nothing tells it who they are."""
    known = {*people, *numbers_of(lms, students)}
    if not lms.number_lasts:  # then grades are imported by addresses, too
        known |= {name for name, one in students.items() if one.email}
    names = [row.student for row in rows if row.score is not None and row.student not in known]
    return (
        [f"{lms.title} will not know whose points these are: {', '.join(names)}"] if names else []
    )


def unread(rows: Iterable[LearnerResult]) -> list[str]:
    """Whose points lack those for an answer in words that nobody has read, and for which."""
    return [f"{row.student}: {', '.join(row.unread)} to be read" for row in rows if row.unread]


def _line(
    row: LearnerResult, lesson: Lesson, students: Mapping[str, Student], known: LmsStudent | None
) -> GradeLine:
    student = students.get(row.student, Student(row.student))
    return GradeLine(
        student=row.student,
        first_name=row.first_name,
        last_name=row.last_name,
        email=student.email,
        lms_user_id=student.lms_user_id,
        number=known.number if known else "",
        status=row.status,
        score=row.score,
        most=row.record.max if row.record else lesson.points,
    )


def numbers_of(lms: Lms, students: Mapping[str, Student]) -> dict[str, str]:
    """The numbers of an LMS that students.csv has; none where its column holds no numbers."""
    told = {name: one.lms_user_id for name, one in students.items() if one.lms_user_id}
    return told if lms.number_lasts else {}


def _people(
    course: CourseDirectory, lesson: Lesson, lms: Lms, students: Mapping[str, Student]
) -> dict[str, LmsStudent]:
    """Who is who in the LMS; a number that lasts may have come with another lesson's archive."""
    files = sorted((course.state / "lms").glob("*.json")) if lms.number_lasts else []
    slugs = [*(path.stem for path in files), lesson.slug]
    known = {name: one for slug in slugs for name, one in lms_students(course, slug).items()}
    theirs = {name: one for name, one in known.items() if one.lms == lms.name}
    return told_apart(theirs, numbers_of(lms, students))
