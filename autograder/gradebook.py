"""nbgrader's gradebook: this module is the only one that writes to it.

A submission is one transaction.  nbgrader's own methods commit after every row; here the session
joins a transaction that is opened outside of it (`join_transaction_mode="rollback_only"`), so that
their commits only flush and the rows of a submission appear all together or not at all.
"""

from __future__ import annotations

import contextlib
import csv
import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import nbgrader.api
from alembic.script import ScriptDirectory
from nbgrader.api import (
    BaseCell,
    Grade,
    Gradebook,
    InvalidEntry,
    MissingEntry,
    SubmittedAssignment,
    SubmittedNotebook,
)
from nbgrader.dbutil import ALEMBIC_DIR
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, OperationalError, SQLAlchemyError

from autograder.errors import AutograderError
from autograder.gradebook_damage import RESTORE, is_damaged, never_empty
from autograder.lessons import Lesson
from autograder.place import Place
from autograder.records import ExerciseRecord, Status, SubmissionRecord

# A person has to look before these count; the gradebook says so with needs_manual_grade.
NEEDS_PERSON = frozenset({Status.MALFORMED, Status.TAMPERED, Status.INFRASTRUCTURE})


_KEPT = "Nothing is lost: the journal keeps what was graded, the next `grade` enters it."


class GradebookError(AutograderError):
    """The gradebook cannot be opened, read or written."""


@dataclass(frozen=True)
class Standing:
    """What the gradebook says of one submission, manual grades and penalties included."""

    student: str
    auto: Mapping[str, float | None]  # grade cell -> points of the grader; None = not graded
    points: Mapping[str, float]  # grade cell -> points that count
    manual: frozenset[str]  # grade cells whose points a person gave
    waiting: frozenset[str]  # grade cells that wait for a person
    comments: Mapping[str, str]  # answer cell -> what a person wrote
    penalty: float
    seconds_late: float
    submitted_at: str | None

    @property
    def score(self) -> float:
        """The points that count, the late penalty taken off."""
        return max(0.0, sum(self.points.values()) - self.penalty)


@dataclass(frozen=True)
class Mark:
    """What a person gives for one answer; None leaves as it is what is there."""

    points: float | None
    comment: str | None


class GradebookWriter:
    """An open gradebook; close it, or use it in a `with` statement."""

    def __init__(self, course: Place) -> None:
        """Open the gradebook of `course`, and create it where there is none."""
        self._course = course
        self._cells: dict[str, dict[str, str]] = {}  # notebook id -> cell id -> name
        self._late = AssignLatePenalties(config=course.config)
        self._late.log.setLevel(logging.ERROR)  # lateness stands in the gradebook and the report
        self._late.init_plugin()
        with explained(course), never_empty(course), _version_found_here():
            self._gradebook = Gradebook(course.db_url, course.course_id)

    def __enter__(self) -> GradebookWriter:
        """Give the open gradebook."""
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Give the connections back."""
        self._gradebook.close()

    def enrol(self, roster: Path) -> None:
        """Add or update the students of a CSV with the columns id, first_name, last_name, email."""
        with roster.open(newline="", encoding="utf-8-sig") as file:
            rows = [row for row in csv.DictReader(file) if row.get("id")]
        known = ("first_name", "last_name", "email", "lms_user_id")
        with self._transaction() as gradebook:
            for row in rows:
                facts = {key: row[key] for key in known if row.get(key)}
                gradebook.update_or_create_student(row["id"], **facts)

    def write(self, record: SubmissionRecord, lesson: Lesson) -> None:
        """Enter `record`: student, submission, points and comments, in one transaction.

        Points and comments that a person gave stay; such a cell is marked for another look.
        """
        with self._transaction() as gradebook:
            gradebook.update_or_create_student(record.student)
            time = {"timestamp": record.submitted_at} if record.submitted_at else {}
            with gradebook.db.no_autoflush:  # nbgrader builds the rows before it adds them
                submission = gradebook.update_or_create_submission(
                    record.lesson, record.student, **time
                )
            notebook = next(one for one in submission.notebooks if one.name == record.lesson)
            names = self._names_of_cells(notebook)
            by_cell = {one.test_id: record.exercise(one.name) for one in lesson.exercises}
            by_answer = {one.answer_id: record.exercise(one.name) for one in lesson.exercises}
            for grade in notebook.grades:
                _enter_points(grade, by_cell.get(names[grade.cell_id]))
            for comment in notebook.comments:
                comment.auto_comment = _comment_on(by_answer.get(names[comment.cell_id]))
            gradebook.db.flush()
            self._penalise(submission, notebook)

    def mark_stale(self, lesson: str, students: Iterable[str]) -> None:
        """Mark what was graded before as waiting, until a new grade takes its place."""
        wanted = set(students)
        with self._transaction() as gradebook:
            for submission in gradebook.assignment_submissions(lesson):
                if submission.student_id in wanted:
                    for grade in (one for nb in submission.notebooks for one in nb.grades):
                        grade.needs_manual_grade = True

    def give(
        self, lesson: str, grade_cell: str, answer_cell: str, marks: Mapping[str, Mark]
    ) -> frozenset[str]:
        """Enter points and comments by hand for one question, all in one transaction.

        Returns the students of whom the gradebook has no submission to enter them in.
        """
        with self._transaction() as gradebook:
            found = {one.student_id: one for one in gradebook.assignment_submissions(lesson)}
            for student in marks.keys() & found.keys():
                mark, notebooks = marks[student], found[student].notebooks
                notebook = next(one for one in notebooks if one.name == lesson)
                names = self._names_of_cells(notebook)
                if mark.points is not None:  # as formgrader does
                    grade = next(g for g in notebook.grades if names[g.cell_id] == grade_cell)
                    grade.manual_score, grade.needs_manual_grade = mark.points, False
                if mark.comment is not None:
                    said = next(c for c in notebook.comments if names[c.cell_id] == answer_cell)
                    said.manual_comment = mark.comment
        return frozenset(marks.keys() - found.keys())

    def standings(self, lesson: str) -> dict[str, Standing]:
        """Student → what the gradebook holds of `lesson`."""
        with explained(self._course):
            try:
                assignment = self._gradebook.find_assignment(lesson)
            except MissingEntry:
                return {}
            found = {one.student_id: _standing(one, lesson) for one in assignment.submissions}
            self._gradebook.db.rollback()  # ends the read, so that nobody waits for us
            return found

    def names(self) -> dict[str, tuple[str, str]]:
        """Student → first and last name, empty where the gradebook has none."""
        with explained(self._course):
            people = self._gradebook.students
            found = {one.id: (one.first_name or "", one.last_name or "") for one in people}
            self._gradebook.db.rollback()
            return found

    def _names_of_cells(self, notebook: SubmittedNotebook) -> dict[str, str]:
        # Read once: asking each grade and comment for its cell is a query each.
        known = self._cells.get(notebook.notebook_id)
        if known is None or not {one.cell_id for one in notebook.grades} <= known.keys():
            cells = self._gradebook.db.query(BaseCell.id, BaseCell.name)
            found = cells.filter(BaseCell.notebook_id == notebook.notebook_id)
            known = self._cells[notebook.notebook_id] = {row.id: row.name for row in found}
        return known

    def _penalise(self, submission: SubmittedAssignment, notebook: SubmittedNotebook) -> None:
        notebook.late_submission_penalty = None
        seconds = submission.total_seconds_late
        if seconds <= 0:
            return
        self._gradebook.db.refresh(notebook)
        plugin, score = self._late.plugin_inst, notebook.score
        penalty = plugin.late_submission_penalty(submission.student_id, score, seconds)
        if penalty is not None:
            notebook.late_submission_penalty = min(max(0.0, penalty), score)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[Gradebook]:
        gradebook = self._gradebook
        with explained(self._course), gradebook.engine.begin() as connection:
            gradebook.db.remove()
            gradebook.db.configure(bind=connection, join_transaction_mode="rollback_only")
            try:
                yield gradebook
                gradebook.db.flush()
            finally:
                gradebook.db.remove()
                gradebook.db.configure(
                    bind=gradebook.engine, join_transaction_mode="conditional_savepoint"
                )


def auto_points(exercise: ExerciseRecord | None) -> float | None:
    """The points that the grader itself gives; None where it cannot know."""
    if exercise is None or exercise.status is Status.INFRASTRUCTURE:
        return None
    return None if exercise.manual and exercise.attempted else exercise.score


def _enter_points(grade: Grade, exercise: ExerciseRecord | None) -> None:
    grade.auto_score = auto_points(exercise)
    doubtful = exercise is not None and exercise.status in NEEDS_PERSON
    given = grade.manual_score is not None  # by a person, for an answer that may have changed
    grade.needs_manual_grade = doubtful or given or grade.auto_score is None


def _comment_on(exercise: ExerciseRecord | None) -> str | None:
    if exercise is None:
        return None
    if exercise.status is Status.GRADED and not exercise.attempted:
        return "No response."  # nbgrader's own words
    status = [] if exercise.status is Status.GRADED else [f"{exercise.status}."]
    return " ".join([*status, *exercise.notes]) or None


def _standing(submission: SubmittedAssignment, lesson: str) -> Standing:
    notebooks = [one for one in submission.notebooks if one.name == lesson]
    grades = [grade for one in notebooks for grade in one.grades]
    comments = [comment for one in notebooks for comment in one.comments]
    time = submission.timestamp
    return Standing(
        student=submission.student_id,
        auto={one.name: one.auto_score for one in grades},
        points={one.name: one.score or 0.0 for one in grades},
        manual=frozenset(one.name for one in grades if one.manual_score is not None),
        waiting=frozenset(one.name for one in grades if one.needs_manual_grade),
        comments={one.name: one.manual_comment for one in comments if one.manual_comment},
        penalty=sum(one.late_submission_penalty or 0.0 for one in notebooks),
        seconds_late=submission.total_seconds_late,
        submitted_at=time.isoformat() if time else None,
    )


@contextlib.contextmanager
def _version_found_here() -> Iterator[None]:
    """Let nbgrader learn the version of its tables in this process, not from a program: 1 s."""
    theirs = nbgrader.api.get_alembic_version
    nbgrader.api.get_alembic_version = lambda: str(ScriptDirectory(ALEMBIC_DIR).get_current_head())
    try:
        yield
    finally:
        nbgrader.api.get_alembic_version = theirs


@contextlib.contextmanager
def explained(course: Place) -> Iterator[None]:
    """Turn a database's error into one that says what to do; what is graded is in the journal."""
    try:
        yield
    except (SQLAlchemyError, InvalidEntry, ImportError) as error:  # nbgrader hides some in its own
        cause = str(getattr(error, "orig", None) or error).strip().splitlines()
        damaged = is_damaged(error)
        raise GradebookError(
            f"the gradebook refused: {cause[0] if cause else type(error).__name__}",
            place=_address(course.db_url),
            remedy=RESTORE if damaged else f"{_remedy(error)} {_KEPT}",
        ) from error


def _address(url: str) -> str:
    """The database's address without its password."""
    try:
        return make_url(url).render_as_string(hide_password=True)
    except ArgumentError:
        return url


def _remedy(error: Exception) -> str:
    text = str(error).lower()
    if isinstance(error, ImportError):
        return "Install the database's driver, for PostgreSQL `pip install 'psycopg[binary]'`."
    if isinstance(error, ArgumentError):
        return "Write --db sqlite:///FILE or postgresql://USER@HOST/NAME."
    if "locked" in text:
        return "Another program holds it; close it (formgrader, a database browser)."
    if "disk is full" in text or "disk i/o" in text:
        return "Make room on the disk."
    if "readonly" in text or "read-only" in text or "unable to open" in text:
        return "Give yourself the permission to write to the file and its directory."
    if "no such column" in text or "no such table" in text:
        return "It is of another nbgrader: back it up and run `nbgrader db upgrade`."
    if isinstance(error, OperationalError):
        return "See that the server is running and that the address and the password are right."
    return "See the cause above."
