"""`autograder export`: the grades of a class as CSV, one column an exercise."""

from __future__ import annotations

import csv
import io
import sys
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from autograder.console import hand_over, plain, points, say
from autograder.course_directory import load_course
from autograder.lessons.model import Exercise, Lesson
from autograder.records.journal import write_bytes
from autograder.records.model import NOT_ATTEMPTED, Status
from autograder.reporting.class_results import LearnerResult, cautions, class_results

_ABOUT = ("student", "last_name", "first_name", "lesson", "status", "score", "max")
_AFTER = ("late_penalty", "hours_late", "submitted_at")


def run(
    course: Path, lessons: tuple[Lesson, ...], *, out: Path | None = None, db: str | None = None
) -> int:
    """Write a CSV file a lesson below report/, or to `out`; `-` prints."""
    directory = load_course(course, db=db)
    results = [(lesson, class_results(directory, lesson)) for lesson in lessons]
    tables = [grades_csv(lesson, rows) for lesson, rows in results]
    if str(out) == "-":
        hand_over("\n".join(tables))
    elif out is not None:
        _write(out, "\n".join(tables))
    else:
        for lesson, table in zip(lessons, tables, strict=True):
            _write(directory.report / f"{lesson.slug}.csv", table)
    for lesson, rows in results:
        for line in cautions(lesson, rows):
            say(line, file=sys.stderr)
    return 0


def grades_csv(lesson: Lesson, rows: Iterable[LearnerResult]) -> str:
    """The CSV of one lesson.

    An exercise's cell holds its points where they are a judgement, else the reason in words; so
    does `status` for the submission, and then `score` is empty.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([*_ABOUT, *(one.name for one in lesson.exercises), *_AFTER])
    for row in rows:
        cells = [_of_exercise(row, one) for one in lesson.exercises]
        writer.writerow(map(shown, [*_about(row, lesson), *cells, *_after(row)]))
    return buffer.getvalue()


def shown(cell: str) -> str:
    """`cell` as a table may hold it: no formula for a spreadsheet, no command for a terminal."""
    return inert(plain(cell))


def inert(cell: str) -> str:
    """`cell` so that a spreadsheet never takes it for a formula.

    >>> inert("=1+1"), inert(" =1"), inert("＝1"), inert("-"), inert("2.5")
    ("'=1+1", "' =1", "'＝1", '-', '2.5')
    """
    return f"'{cell}" if cell[:1] in ("\t", "\r") or _is_formula(cell) else cell


def _is_formula(cell: str) -> bool:
    # Programs differ in which spaces and marks they skip, and some read full-width signs.
    seen = next((at for at, one in enumerate(cell) if not _is_skipped(one)), len(cell))
    sign = unicodedata.normalize("NFKC", cell[seen : seen + 1])
    return sign in ("=", "+", "@") or (sign == "-" and len(cell) > seen + 1)


def _is_skipped(character: str) -> bool:
    return character.isspace() or unicodedata.category(character) in ("Cc", "Cf")


def _about(row: LearnerResult, lesson: Lesson) -> list[str]:
    most = points(row.record.max if row.record else lesson.points)
    score = "" if row.score is None else points(row.score)
    about = (row.student, row.last_name, row.first_name, lesson.slug, row.status)
    return [*about, score, most]


def _of_exercise(row: LearnerResult, exercise: Exercise) -> str:
    got = row.points_of(exercise.name, exercise.test_id)
    mine = row.record.exercise(exercise.name) if row.record else None
    if mine is None or (got is not None and (mine.attempted or got)):
        return "" if got is None else points(got)
    if mine.status is not Status.GRADED:
        return str(mine.status)
    return NOT_ATTEMPTED if not mine.attempted else "waits for a person"


def _after(row: LearnerResult) -> list[str]:
    if row.entry is None:
        return ["", "", (row.record.submitted_at or "") if row.record else ""]
    hours = row.entry.seconds_late / 3600
    return [
        points(row.entry.penalty),
        points(hours),
        (row.record.submitted_at or "") if row.record else "",
    ]


def _write(path: Path, text: str) -> None:
    write_bytes(path, text.encode("utf-8"))
    say(path)
