"""What the gradebook says of a submission, and whether that is what the journal's record says."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from nbgrader.api import SubmittedAssignment, SubmittedNotebook

from autograder.lessons.model import Exercise, Lesson
from autograder.nbgrader_bridge.penalties import seconds_late
from autograder.records.model import ExerciseRecord, Status, SubmissionRecord, total
from autograder.records.runner import ANSWER_TO_MARK, TASK_TO_MARK

NO_RESPONSE = "No response."  # nbgrader's own words for an answer that is still the stub
# A person has to look before these count; the gradebook says so with needs_manual_grade.
NEEDS_PERSON = frozenset({Status.MALFORMED, Status.TAMPERED, Status.INFRASTRUCTURE})
FROM_GRADEBOOK = (
    "These points come from the gradebook. What the checks found is not on record, so this page "
    "cannot explain them."
)


@dataclass(frozen=True)
class GradebookEntry:
    """What the gradebook says of one submission, manual grades and penalties included."""

    student: str
    auto: Mapping[str, float | None]  # grade cell -> points of the grader; None = not graded
    points: Mapping[str, float]  # grade cell -> points that count
    manual: frozenset[str]  # grade cells whose points a person gave, or added to
    waiting: frozenset[str]  # grade cells that wait for a person
    comments: Mapping[str, str]  # answer cell -> what a person wrote
    penalty: float
    seconds_late: float
    submitted_at: str | None
    auto_comments: Mapping[str, str] = field(default_factory=dict)  # answer cell -> the grader's
    penalty_due: float | None = None  # what the policy asks for now; None where nobody asked it

    @property
    def score(self) -> float:
        """The points that count, the late penalty taken off."""
        return max(0.0, sum(self.points.values()) - self.penalty)

    @property
    def is_graded(self) -> bool:
        """Whether anything in it has points, from a grader or a person."""
        return bool(self.manual) or any(one is not None for one in self.auto.values())

    @property
    def penalty_holds(self) -> bool:
        """Whether the penalty is that of today's due date, extension and points."""
        return self.penalty_due is None or _same(self.penalty, self.penalty_due)


def entry_of(
    submission: SubmittedAssignment, lesson: Lesson, penalty_due: float | None = None
) -> GradebookEntry:
    """What the gradebook says of one submission.

    Args:
        submission: Its row, with notebooks, grades and comments.
        lesson: Its notebooks count.
        penalty_due: What the late policy asks for now; None where nobody asked it.
    """
    found = notebooks_of(submission, lesson)
    notebooks = [one for one, _ in found]
    grades = [_Named(lesson.key(part, g.name), g) for one, part in found for g in one.grades]
    comments = [_Named(lesson.key(part, c.name), c) for one, part in found for c in one.comments]
    time = submission.timestamp
    return GradebookEntry(
        student=submission.student_id,
        auto={one.key: one.row.auto_score for one in grades},
        points={one.key: one.row.score or 0.0 for one in grades},
        manual=frozenset(
            one.key for one in grades if one.row.manual_score is not None or one.row.extra_credit
        ),
        waiting=frozenset(one.key for one in grades if one.row.needs_manual_grade),
        comments={one.key: one.row.manual_comment for one in comments if one.row.manual_comment},
        auto_comments={one.key: one.row.auto_comment for one in comments if one.row.auto_comment},
        penalty=sum(one.late_submission_penalty or 0.0 for one in notebooks),
        penalty_due=penalty_due,
        seconds_late=seconds_late(submission),
        submitted_at=time.isoformat() if time else None,
    )


@dataclass(frozen=True)
class _Named:
    """A row of grades or comments, and how the lesson's exercises name its cell."""

    key: str
    row: Any


def notebooks_of(
    submission: SubmittedAssignment, lesson: Lesson
) -> list[tuple[SubmittedNotebook, Lesson]]:
    """The rows of the notebooks of `lesson`, each with its part; others are none of it."""
    parts = {part.notebook: part for part in lesson.notebooks}
    return [(one, parts[one.name]) for one in submission.notebooks if one.name in parts]


def agrees(entry: GradebookEntry | None, record: SubmissionRecord, lesson: Lesson) -> bool:
    """Whether the gradebook holds what `record` says: points, comments, time, who is waited for.

    What a person did in formgrader is theirs: their points, and that they looked at a cell.

    Args:
        entry: None where the gradebook has no such submission; then they differ.
        record: The journal's.
        lesson: Says which cell belongs to which exercise.
    """
    if entry is None or entry.submitted_at != utc_of(record.submitted_at):
        return False
    by_cell = {one.test_id: record.exercise(one.name) for one in lesson.exercises}
    return dict(entry.auto_comments) == comments_of(record, lesson) and all(
        _same(points, auto_points(by_cell.get(cell))) and _waits_rightly(entry, cell, by_cell)
        for cell, points in {**dict.fromkeys(by_cell), **entry.auto}.items()
    )


def auto_points(exercise: ExerciseRecord | None) -> float | None:
    """The points that the grader itself gives; None where it cannot know."""
    if exercise is None or exercise.status is Status.INFRASTRUCTURE:
        return None
    return None if exercise.manual and exercise.attempted else exercise.score


def is_doubtful(exercise: ExerciseRecord | None) -> bool:
    """Whether a person has to look before the points of `exercise` count."""
    return exercise is not None and exercise.status in NEEDS_PERSON


def comment_on(exercise: ExerciseRecord | None) -> str | None:
    """What the grader writes beside an answer in the gradebook.

    That a person grades it stands there already, and learners would read it as a comment.
    """
    if exercise is None:
        return None
    if exercise.status is Status.GRADED and not exercise.attempted:
        return NO_RESPONSE
    status = [] if exercise.status is Status.GRADED else [f"{exercise.status}."]
    notes = [one for one in exercise.notes if one not in (ANSWER_TO_MARK, TASK_TO_MARK)]
    return " ".join([*status, *notes]) or None


def comments_of(record: SubmissionRecord, lesson: Lesson) -> dict[str, str]:
    """Answer cell → what the grader writes beside it; several tests may ask for one answer."""
    said: dict[str, dict[str, None]] = {}
    for one in lesson.exercises:
        if comment := comment_on(record.exercise(one.name)):
            said.setdefault(one.answer_id, {})[comment] = None
    return {cell: " ".join(texts) for cell, texts in said.items() if cell}


def utc_of(time: str | None) -> str | None:
    """A record's time as the gradebook keeps it: UTC, without saying so.

    >>> utc_of("2026-01-10T13:00:00+01:00")
    '2026-01-10T12:00:00'
    """
    if not time:
        return None
    return datetime.fromisoformat(time).astimezone(UTC).replace(tzinfo=None).isoformat()


def record_from(entry: GradebookEntry, lesson: Lesson) -> SubmissionRecord:
    """A record of what the gradebook alone knows: points, and no checks.

    Args:
        entry: Graded by stock nbgrader, by a person, or by a `grade` whose journal is lost.
        lesson: Gives the exercises and their points.
    """
    exercises = tuple(_exercise_from(entry, one) for one in lesson.exercises)
    score, most = total(exercises)
    return SubmissionRecord(
        student=entry.student,
        lesson=lesson.slug,
        status=Status.GRADED,
        score=score,
        max=most,
        seconds=0.0,
        exercises=exercises,
        runner="stock",
        sandboxed=False,
        notes=(FROM_GRADEBOOK,),
        submitted_at=f"{entry.submitted_at}+00:00" if entry.submitted_at else None,
    )


def _exercise_from(entry: GradebookEntry, exercise: Exercise) -> ExerciseRecord:
    cell = exercise.test_id
    judged = entry.auto.get(cell) is not None or cell in entry.manual
    return ExerciseRecord(
        id=exercise.name,
        status=Status.GRADED,
        score=entry.points[cell] if judged and not exercise.manual else 0.0,
        max=exercise.points,
        attempted=entry.auto_comments.get(exercise.answer_id) != NO_RESPONSE,
        isolated=False,
        manual=exercise.manual or not judged,  # it waits for a person, as one in words does
    )


def _waits_rightly(
    entry: GradebookEntry, cell: str, by_cell: Mapping[str, ExerciseRecord | None]
) -> bool:
    if cell in entry.manual or cell not in entry.auto:
        return True
    exercise = by_cell.get(cell)
    if auto_points(exercise) is None:
        return cell in entry.waiting
    return cell not in entry.waiting or is_doubtful(exercise)


def _same(left: float | None, right: float | None) -> bool:
    if left is None or right is None:
        return left is right
    return math.isclose(left, right, rel_tol=1e-6, abs_tol=1e-9)
