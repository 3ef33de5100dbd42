"""What grading found out: one record a submission, made of exercises, made of checks.

Records are plain values.  They travel from a grading worker to the journal, and from there to the
gradebook, the feedback page and the report; nothing else does.  They can hold text that a learner
wrote, so reading one back is strict: an unknown key, a wrong type or a status that does not exist
is a `RecordError`, never a guess.
"""

from __future__ import annotations

import json
import math
from enum import StrEnum
from typing import Any, Literal, Self

import msgspec

from autograder.records.decoding import NotNegative, Number, RecordError, read_as

__all__ = [
    "NOT_ATTEMPTED",
    "UNJUDGED",
    "CheckRecord",
    "ExerciseRecord",
    "RecordError",
    "RunnerName",
    "Status",
    "SubmissionRecord",
    "decode",
    "encode",
    "total",
]

RunnerName = Literal["engine", "stock"]
NOT_ATTEMPTED = "not attempted"


class Status(StrEnum):
    """What became of a submission, and of each exercise: exactly one of these."""

    GRADED = "graded"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out-of-memory"
    CRASHED = "crashed"
    MALFORMED = "malformed"
    MISSING = "missing"
    TAMPERED = "tampered"
    INFRASTRUCTURE = "infrastructure"


UNJUDGED = frozenset({Status.MALFORMED, Status.MISSING, Status.TAMPERED, Status.INFRASTRUCTURE})
"""The statuses under which nothing was judged: no points there are a statement on an answer."""


class CheckRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One line of a check table.

    `attempted` is false where the answer was never run (an untouched stub, a crash before).
    A hidden check has neither `actual`, `expected` nor `layouts`.
    """

    name: str
    passed: bool
    attempted: bool = True
    hidden: bool = False
    misconception: str | None = None
    message: str = ""
    actual: str | None = None
    expected: str | None = None
    weight: NotNegative = 1.0
    layouts: tuple[dict[str, Any], ...] | None = None


class _CheckTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a test cell publishes under the key "pytorch-measured"."""

    exercise: str
    status: Literal["graded", "not attempted"]
    score: NotNegative
    max: NotNegative
    checks: tuple[CheckRecord, ...]


class ExerciseRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One exercise of one submission.

    An exercise that was left as its stub is graded with 0 points and `attempted` is false.
    `manual` means that a person has to read the answer; `score` is 0 until then.
    `isolated` is false where test cell and answer shared one process.
    """

    id: str
    status: Status
    score: Number
    max: NotNegative
    checks: tuple[CheckRecord, ...] = ()
    notes: tuple[str, ...] = ()
    attempted: bool = True
    isolated: bool = True
    manual: bool = False

    @property
    def failed(self) -> tuple[CheckRecord, ...]:
        """The checks that do not hold, attempted or not."""
        return tuple(check for check in self.checks if not check.passed)

    @classmethod
    def from_table(cls, data: object, *, isolated: bool = True) -> Self:
        """The exercise that a test cell's own record (key "pytorch-measured") describes.

        Args:
            data: Plain data, as the cell's output holds it.
            isolated: Whether test cell and answer ran in processes of their own.

        Raises:
            RecordError: `data` is no check table; the message names the field.
        """
        table = read_as(_CheckTable, data, "check table")
        return cls(
            id=table.exercise,
            status=Status.GRADED,
            score=table.score,
            max=table.max,
            checks=table.checks,
            attempted=table.status != NOT_ATTEMPTED,
            isolated=isolated,
        )


class SubmissionRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One submission: what the journal keeps, and all that the later steps need."""

    student: str
    lesson: str
    status: Status
    score: Number
    max: NotNegative
    seconds: NotNegative
    exercises: tuple[ExerciseRecord, ...]
    runner: RunnerName
    sandboxed: bool
    notes: tuple[str, ...] = ()
    submission_digest: str = ""
    source_digest: str = ""
    submitted_at: str | None = None  # ISO 8601, UTC; None where nobody wrote a time down

    def exercise(self, name: str) -> ExerciseRecord | None:
        """The record of exercise `name`, None where this submission has none.

        Args:
            name: The exercise's own, such as `flatten`; not the id of a cell.
        """
        return next((one for one in self.exercises if one.id == name), None)

    def summary(self) -> dict[str, Any]:
        """What `grade --json` prints for this submission."""
        return {
            "student": self.student,
            "lesson": self.lesson,
            "status": str(self.status),
            "score": self.score,
            "max": self.max,
            "seconds": round(self.seconds, 3),
            "exercises": [_exercise_summary(one) for one in self.exercises],
        }

    def to_json(self) -> dict[str, Any]:
        """The record as plain data; `from_json` gives an equal record back."""
        plain: dict[str, Any] = msgspec.to_builtins(self)
        return plain

    @classmethod
    def from_json(cls, data: object) -> Self:
        """The record that `data` describes.

        Raises:
            RecordError: A key or a type is not that of a record; the message names the field.
        """
        return read_as(cls, data, "record")


def total(exercises: tuple[ExerciseRecord, ...]) -> tuple[float, float]:
    """Score and maximum of `exercises` together.

    Returns:
        Two sums in points, exact: the order of the exercises changes neither.
    """
    return math.fsum(one.score for one in exercises), math.fsum(one.max for one in exercises)


def encode(record: SubmissionRecord) -> bytes:
    """`record` as one line of UTF-8 JSON.

    Raises:
        ValueError: A number in it is NaN or infinite.
    """
    text = json.dumps(record.to_json(), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "backslashreplace") + b"\n"


def decode(raw: bytes) -> SubmissionRecord:
    """The record written by `encode`.

    Raises:
        RecordError: `raw` is something else; the message names the field, or what is no JSON.
    """
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise RecordError(f"the record is not JSON: {error}") from error
    return SubmissionRecord.from_json(data)


def _exercise_summary(one: ExerciseRecord) -> dict[str, Any]:
    failed = [{"check": check.name, "misconception": check.misconception} for check in one.failed]
    return {
        "id": one.id,
        "status": str(one.status) if one.attempted else NOT_ATTEMPTED,
        "score": one.score,
        "max": one.max,
        "failed": failed,
    }
