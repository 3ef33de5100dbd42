"""nbgrader's gradebook: this module is the only one that writes to it.

A submission is one transaction.  nbgrader's own methods commit after every row; here the session
joins a transaction that is opened outside of it (`join_transaction_mode="rollback_only"`), so that
their commits only flush and the rows of a submission appear all together or not at all.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from nbgrader.api import (
    Assignment,
    BaseCell,
    Comment,
    Grade,
    Gradebook,
    SubmittedAssignment,
    SubmittedNotebook,
)
from sqlalchemy import create_engine, inspect
from sqlalchemy.engine import make_url
from sqlalchemy.orm import scoped_session, selectinload, sessionmaker

from autograder.course_directory import CourseDirectory
from autograder.lessons.model import Exercise, Lesson
from autograder.nbgrader_bridge.database_address import check_address, database_file
from autograder.nbgrader_bridge.gradebook_entry import (
    GradebookEntry,
    auto_points,
    comments_of,
    entry_of,
    is_doubtful,
    notebooks_of,
    utc_of,
)
from autograder.nbgrader_bridge.gradebook_errors import (
    NoGradebook,
    explained,
    never_empty,
    shown_address,
)
from autograder.nbgrader_bridge.penalties import (
    LatePolicy,
    PenaltyChange,
    PolicyError,
    seconds_late,
)
from autograder.nbgrader_bridge.table_version import table_version_in_process
from autograder.records.model import ExerciseRecord, SubmissionRecord
from autograder.submissions.class_list import Extensions, roster_rows


@dataclass(frozen=True)
class ManualMark:
    """What a person gives for one answer; None leaves as it is what is there."""

    points: float | None
    comment: str | None


class GradebookReader:
    """An open gradebook that is only read; close it, or use it in a `with` statement."""

    def __init__(self, course: CourseDirectory) -> None:
        """Open the gradebook of `course`; raises `NoGradebook` where there is none."""
        check_address(course)
        self._course = course
        self._policy = LatePolicy(course.config)
        with explained(course), never_empty(course):
            self._gradebook = self._opened(course)

    def __enter__(self) -> Self:
        """Give the open gradebook."""
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Give the connections back."""
        self._gradebook.close()

    def entries(self, lesson: Lesson) -> dict[str, GradebookEntry]:
        """Student → what the gradebook holds of `lesson`.

        A penalty that the course's plugin fails to say holds nowhere: its submission is not up to
        date, and `grade` says why.

        Raises:
            GradebookError: The database refuses; the remedy says what to do.
        """
        with explained(self._course):
            found = {
                one.student_id: entry_of(one, lesson, self._penalty_known(one, lesson))
                for one in self._submissions(lesson.slug)
            }
            self._gradebook.db.rollback()  # ends the read, so that nobody waits for us
            return found

    def names(self) -> dict[str, tuple[str, str]]:
        """Student → first and last name, empty where the gradebook has none."""
        with explained(self._course):
            people = self._gradebook.students
            found = {one.id: (one.first_name or "", one.last_name or "") for one in people}
            self._gradebook.db.rollback()
            return found

    def _submissions(self, lesson: str) -> list[SubmittedAssignment]:
        """The rows of `lesson`, with what belongs to them in a few queries for all."""
        notebooks = selectinload(SubmittedAssignment.notebooks)
        rows = self._gradebook.db.query(SubmittedAssignment).join(Assignment)
        return list(
            rows.filter(Assignment.name == lesson).options(
                notebooks.selectinload(SubmittedNotebook.grades),
                notebooks.selectinload(SubmittedNotebook.comments),
            )
        )

    def _penalty_due(self, submission: SubmittedAssignment, lesson: Lesson) -> float:
        """What is taken off; nbgrader asks the policy for each notebook."""
        seconds, student = seconds_late(submission), submission.student_id
        scores = [sum(g.score for g in n.grades) for n, _ in notebooks_of(submission, lesson)]
        return sum(self._policy.penalty(student, score, seconds) or 0.0 for score in scores)

    def _penalty_known(self, submission: SubmittedAssignment, lesson: Lesson) -> float:
        with contextlib.suppress(PolicyError):
            return self._penalty_due(submission, lesson)
        return math.nan

    @staticmethod
    def _opened(course: CourseDirectory) -> Gradebook:
        return _Existing(course)


def _lacking(submission: SubmittedAssignment) -> Iterator[SubmittedNotebook]:
    """Rows for notebooks that the assignment did not have when the submission was entered."""
    there = {one.notebook_id for one in submission.notebooks}
    for notebook in submission.assignment.notebooks:
        if notebook.id not in there:
            row = SubmittedNotebook(notebook=notebook, assignment=submission)
            for cell in (*notebook.grade_cells, *notebook.task_cells):
                Grade(cell_id=cell.id, notebook=row)
            for cell in (*notebook.solution_cells, *notebook.task_cells):
                Comment(cell_id=cell.id, notebook=row)
            yield row


class GradebookWriter(GradebookReader):
    """An open gradebook to write to; close it, or use it in a `with` statement."""

    def __init__(self, course: CourseDirectory) -> None:
        """Open the gradebook of `course`, and create it where there is none."""
        super().__init__(course)
        self._cells: dict[str, dict[str, str]] = {}  # notebook id -> cell id -> name
        self._extensions: dict[str, Extensions] = {}

    def enrol(self, roster: Path, extensions: Mapping[str, Extensions] | None = None) -> None:
        """Add or update the students of the class.

        Args:
            roster: A CSV with the columns id, first_name, last_name, email and lms_user_id.
            extensions: Theirs for each lesson; a lesson without keeps those of the gradebook.

        Raises:
            RosterError: The file cannot be read, or two lines of it have one id.
            GradebookError: The database refuses.
        """
        rows = roster_rows(roster)
        known = ("first_name", "last_name", "email", "lms_user_id")
        with self._transaction() as gradebook:
            for row in rows:
                facts = {key: row[key] for key in known if row.get(key)}
                gradebook.update_or_create_student(row["id"], **facts)
        self._extensions = dict(extensions or {})

    def write(self, record: SubmissionRecord, lesson: Lesson) -> None:
        """Enter `record`: student, submission, points and comments, in one transaction.

        Points and comments that a person gave stay; such a cell is marked for another look.

        Args:
            record: The journal's.
            lesson: Says which cell belongs to which exercise; its cells are registered.

        Raises:
            GradebookError: Nothing of it was entered; the next `grade` does it.
            PolicyError: The course's plugin for late penalties fails.
        """
        with self._transaction() as gradebook:
            gradebook.update_or_create_student(record.student)
            with gradebook.db.no_autoflush:  # nbgrader builds the rows before it adds them
                submission = gradebook.update_or_create_submission(
                    record.lesson, record.student, timestamp=utc_of(record.submitted_at)
                )
                gradebook.db.add_all(_lacking(submission))
            gradebook.db.flush()
            self._extend(submission)
            by_cell = {one.test_id: record.exercise(one.name) for one in lesson.exercises}
            by_answer = comments_of(record, lesson)
            for notebook, part in notebooks_of(submission, lesson):
                names = self._names_of_cells(notebook)
                for grade in notebook.grades:
                    _enter_points(grade, by_cell.get(lesson.key(part, names[grade.cell_id])))
                for comment in notebook.comments:
                    key = lesson.key(part, names[comment.cell_id])
                    comment.auto_comment = by_answer.get(key)
                gradebook.db.flush()
                self._penalise(submission, notebook)

    def mark_stale(self, lesson: str, students: Iterable[str]) -> None:
        """Mark what was graded before as waiting, until a new grade takes its place.

        Args:
            lesson: Its slug.
            students: Whose submissions; others stay as they are.
        """
        wanted = set(students)
        with self._transaction() as gradebook:
            for submission in gradebook.assignment_submissions(lesson):
                if submission.student_id in wanted:
                    for grade in (one for nb in submission.notebooks for one in nb.grades):
                        grade.needs_manual_grade = True

    def give(
        self, lesson: Lesson, exercise: Exercise, marks: Mapping[str, ManualMark]
    ) -> frozenset[str]:
        """Enter points and comments by hand for one question, all in one transaction.

        Returns the students of whom the gradebook has no submission to enter them in.

        Args:
            lesson: The question's.
            exercise: The question: one cell has the points, one the comment.
            marks: Student → points and comment.
        """
        with self._transaction() as gradebook:
            rows = gradebook.assignment_submissions(lesson.slug)
            found = {one.student_id: one for one in rows}
            for student in marks.keys() & found.keys():
                self._give(found[student], lesson, exercise, marks[student])
        return frozenset(marks.keys() - found.keys())

    def _give(
        self, submission: SubmittedAssignment, lesson: Lesson, exercise: Exercise, mark: ManualMark
    ) -> None:
        for notebook, part in notebooks_of(submission, lesson):
            names = self._names_of_cells(notebook)
            for grade in notebook.grades if mark.points is not None else ():  # as formgrader does
                if lesson.key(part, names[grade.cell_id]) == exercise.test_id:
                    grade.manual_score, grade.needs_manual_grade = mark.points, False
            for said in notebook.comments if mark.comment is not None else ():
                if lesson.key(part, names[said.cell_id]) == exercise.answer_id:
                    said.manual_comment = mark.comment

    def penalise(
        self, lesson: Lesson, leave: Iterable[str], failed: list[PolicyError]
    ) -> list[PenaltyChange]:
        """Give everyone the extension and the late penalty that hold now; which ones changed.

        Nothing is run for it.

        Args:
            lesson: Whose.
            leave: Who is graded anew, and gets theirs then.
            failed: Gets the errors of the plugin; those submissions stay as they are.
        """
        left, changes = frozenset(leave), []
        with self._transaction():
            for submission in self._submissions(lesson.slug):
                if submission.student_id in left:
                    continue
                try:
                    change = self._penalised(submission, lesson)
                except PolicyError as error:
                    failed.append(error)
                else:
                    changes += [] if change is None else [change]
        return changes

    def _penalised(self, submission: SubmittedAssignment, lesson: Lesson) -> PenaltyChange | None:
        """Give a submission the extension and penalty that hold now; None where they are those."""
        self._extend(submission)
        due = self._penalty_due(submission, lesson)
        entry = entry_of(submission, lesson, due)
        if entry.penalty_holds:
            return None
        for notebook, _ in notebooks_of(submission, lesson):
            self._penalise(submission, notebook)
        return PenaltyChange(submission.student_id, entry.penalty, due)

    def _names_of_cells(self, notebook: SubmittedNotebook) -> dict[str, str]:
        # Read once: asking each grade and comment for its cell is a query each.
        known = self._cells.get(notebook.notebook_id)
        if known is None or not {one.cell_id for one in notebook.grades} <= known.keys():
            cells = self._gradebook.db.query(BaseCell.id, BaseCell.name)
            found = cells.filter(BaseCell.notebook_id == notebook.notebook_id)
            known = self._cells[notebook.notebook_id] = {row.id: row.name for row in found}
        return known

    def _extend(self, submission: SubmittedAssignment) -> None:
        """Give the extension of the roster, where it has a column for this lesson.

        Without a due date it waits: nbgrader adds the two, whether there is one or not, and fails.
        """
        wanted = self._extensions.get(submission.name, {})
        if submission.student_id in wanted and submission.assignment.duedate is not None:
            submission.extension = wanted[submission.student_id]

    def _penalise(self, submission: SubmittedAssignment, notebook: SubmittedNotebook) -> None:
        notebook.late_submission_penalty = None
        seconds = seconds_late(submission)
        if seconds > 0:
            self._gradebook.db.refresh(notebook)
            student, score = submission.student_id, notebook.score
            notebook.late_submission_penalty = self._policy.penalty(student, score, seconds)

    @staticmethod
    def _opened(course: CourseDirectory) -> Gradebook:
        with table_version_in_process():
            return Gradebook(course.db_url, course.course_id)

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


def _enter_points(grade: Grade, exercise: ExerciseRecord | None) -> None:
    grade.auto_score = auto_points(exercise)
    given = grade.manual_score is not None  # by a person, for an answer that may have changed
    grade.needs_manual_grade = is_doubtful(exercise) or given or grade.auto_score is None


class _Existing(Gradebook):
    """A gradebook that is there already; nbgrader's own constructor would make one."""

    def __init__(self, course: CourseDirectory) -> None:
        make_url(course.db_url)  # an address that is none has an explanation of its own
        file = database_file(course)
        if file is not None and not file.exists():
            raise _nothing_at(course)
        self.engine = create_engine(course.db_url)
        self.db = scoped_session(sessionmaker(bind=self.engine))
        self.course_id, self.authenticator = course.course_id, None
        if not inspect(self.engine).has_table(SubmittedAssignment.__tablename__):
            self.close()
            raise _nothing_at(course)


def _nothing_at(course: CourseDirectory) -> NoGradebook:
    return NoGradebook(
        "there is no gradebook here",
        place=shown_address(course.db_url),
        remedy="Run `autograder grade`, which makes it, also anew from the journal. If the grades "
        "are elsewhere, add --db URL.",
    )


def enrolled(course: CourseDirectory) -> dict[str, tuple[str, str]]:
    """Student → first and last name; nobody where there is no gradebook yet, and none is made."""
    try:
        with GradebookReader(course) as gradebook:
            return gradebook.names()
    except NoGradebook:
        return {}
