"""`autograder export --questions`: the answers in words, one question at a time, without names.

Formgrader shows one learner's whole notebook after the other, and a click shows the name.  Here
each question has a sheet of its own (report/questions/<lesson>-<question>.csv) and a page to read
beside it, with the answers of all in an order that says nothing about anybody.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.console import points, say
from autograder.course_directory import CourseDirectory, load_course
from autograder.errors import AutograderError, UsageError
from autograder.lessons.cells import RawCell
from autograder.lessons.model import Exercise, Lesson
from autograder.lessons.regions import MARK_SCHEME, SOLUTION, RegionError, split_regions
from autograder.nbgrader_bridge.gradebook_entry import GradebookEntry
from autograder.records.journal import only_grader, write_bytes
from autograder.records.runner import ANSWER_TO_MARK, TASK_TO_MARK
from autograder.reporting.class_results import LearnerResult, class_results
from autograder.reporting.learners_work import Picture, executed, pictures_of
from autograder.reporting.marking.anonymous import Pseudonyms, pseudonyms
from autograder.reporting.marking.sheet import SheetError, read_sheet, sheet
from autograder.reporting.pages.html import markdown, render
from autograder.reporting.status_texts import is_unread


class MarkingError(AutograderError):
    """A question cannot be marked on a sheet."""


@dataclass(frozen=True)
class WrittenAnswer:
    """One learner's answer to one question, and what a person gave for it so far."""

    id: str
    student: str
    text: str
    version: str
    points: float | None
    comment: str
    pictures: tuple[Picture, ...] = ()


@dataclass(frozen=True)
class WrittenQuestion:
    """A question in words of one lesson, with its answers by their ids.

    `behind` are the ids of those whose answer is about to be graded anew.
    """

    lesson: Lesson
    exercise: Exercise
    answers: tuple[WrittenAnswer, ...]
    behind: frozenset[str]


def run(
    course: Path, lessons: tuple[Lesson, ...], *, out: Path | None = None, db: str | None = None
) -> int:
    """Write a sheet and a page a question below report/questions/, or into the directory `out`."""
    if str(out) == "-":
        raise UsageError(
            "--questions writes a sheet and a page a question, not to standard output",
            remedy="Name a directory with --out, or leave it away.",
        )
    directory = load_course(course, db=db)
    with only_grader(directory.state):
        names = pseudonyms(directory.state, make=True)
        assert names is not None
        found = [one for lesson in lessons for one in questions(directory, lesson, names)]
        if not found:
            slugs = ", ".join(lesson.slug for lesson in lessons)
            raise MarkingError(
                f"no question in words in {slugs}",
                remedy="Name a lesson that has one; points for code are given in formgrader.",
            )
        for question in found:
            _export(question, out or directory.report / "questions")
    return 0


def questions(course: CourseDirectory, lesson: Lesson, names: Pseudonyms) -> list[WrittenQuestion]:
    """The questions of `lesson` that a person marks, with everybody's answers."""
    asked = [one for one in lesson.exercises if one.manual]
    rows = [row for row in class_results(course, lesson) if row.record is not None] if asked else []
    cells = {
        row.student: executed(course, lesson, row.record) for row in rows if row.record is not None
    }
    return [_question(lesson, one, rows, cells, names) for one in asked]


def _question(
    lesson: Lesson,
    exercise: Exercise,
    rows: list[LearnerResult],
    cells: dict[str, dict[str, RawCell]],
    names: Pseudonyms,
) -> WrittenQuestion:
    answers, behind = [], set()
    for row in rows:
        id_ = names.of("answer", lesson.slug, exercise.name, row.student)
        mine = row.record.exercise(exercise.name) if row.record is not None else None
        if row.stale:
            behind.add(id_)
        elif mine is not None and is_unread(mine):
            cell = cells[row.student].get(exercise.answer_id, {})
            text, pictures = _text(cell, mine.notes), pictures_of(cell)
            shown = (text, *(one.address for one in pictures))
            version = names.of("version", lesson.slug, exercise.name, row.student, *shown)
            answer = _answer(row.entry, exercise, id_, row.student, text, version)
            answers.append(replace(answer, pictures=pictures))
    in_order = tuple(sorted(answers, key=lambda one: one.id))
    return WrittenQuestion(lesson, exercise, in_order, frozenset(behind))


def _answer(
    entry: GradebookEntry | None,
    exercise: Exercise,
    id_: str,
    student: str,
    text: str,
    version: str,
) -> WrittenAnswer:
    given, comment = None, ""
    if entry is not None:
        given = entry.points[exercise.test_id] if exercise.test_id in entry.manual else None
        comment = entry.comments.get(exercise.answer_id, "")
    return WrittenAnswer(id_, student, text, version, given, comment)


def _text(cell: RawCell, notes: Iterable[str] = ()) -> str:
    """What the learner wrote, and what else has to be known of it; a page shows its pictures."""
    attached = cell.get("attachments")
    pictures = ", ".join(sorted(attached)) if isinstance(attached, dict) else ""
    is_shown = any(one.address for one in pictures_of(cell))
    shown = "which the page beside this sheet shows" if is_shown else "see formgrader"
    said = [one for one in notes if one not in (ANSWER_TO_MARK, TASK_TO_MARK)]
    said += [f"With a picture, {shown}: {pictures}."] if pictures else []
    source = str(cell.get("source", ""))
    return "\n\n".join(filter(None, [source, *(f"[{one}]" for one in said)]))


def _export(question: WrittenQuestion, folder: Path) -> None:
    lesson, exercise = question.lesson, question.exercise
    path = folder / f"{lesson.slug}-{exercise.name}.csv"
    _spare_marks(path, question)
    rows = [_row(question, one) for one in question.answers]
    write_bytes(path, sheet(rows), mode=0o600)
    page = render(
        "question.html.j2",
        lesson=lesson,
        exercise=exercise,
        task=markdown(exercise.task),
        model=markdown(_model(lesson, exercise)),
        answers=question.answers,
        sheet=path.name,
    )
    write_bytes(path.with_suffix(".html"), page.encode("utf-8", "replace"), mode=0o600)
    say(path)
    marked = sum(one.points is not None for one in question.answers)
    summary = f"{len(question.answers)} answers, {marked} with points"
    late = f"; {len(question.behind)} wait for `autograder grade`" if question.behind else ""
    say(f"{lesson.slug} {exercise.name}: {summary}{late}", file=sys.stderr)


def _model(lesson: Lesson, exercise: Exercise) -> str:
    """What an answer is worth, for whoever marks it."""
    region = MARK_SCHEME if exercise.is_task else SOLUTION
    try:
        return "\n".join(split_regions(exercise.answer_source, region, lesson.marks)[1])
    except RegionError:  # nbgrader takes an end without a beginning
        return exercise.answer_source


def _row(question: WrittenQuestion, one: WrittenAnswer) -> tuple[str, ...]:
    given = "" if one.points is None else points(one.points)
    about = (question.lesson.slug, question.exercise.name, one.version)
    return (one.id, given, one.comment, one.text, points(question.exercise.points), *about)


def _spare_marks(path: Path, question: WrittenQuestion) -> None:
    """Raise where the sheet that lies there holds marks that the gradebook does not."""
    if not path.exists():
        return
    given = {one.id: (one.points, one.comment) for one in question.answers}
    try:
        lines = read_sheet(path)
    except SheetError as error:
        raise MarkingError(
            f"is there already and cannot be read as a marking sheet: it {error.cause}",
            place=str(path),
            remedy="Move it away, or name another directory with --out.",
        ) from error
    for line in lines:
        known, comment = given.get(line.answer_id, (None, ""))
        same = line.points in ("", "" if known is None else points(known))
        if not same or line.comment not in ("", comment.strip()):
            raise MarkingError(
                f"holds marks that were not taken in, of {line.answer_id} for one",
                place=str(path),
                remedy=f"Take them in with `autograder collect --marks {path}`, or move it away.",
            )
