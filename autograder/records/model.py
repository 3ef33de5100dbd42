"""What grading found out: one record a submission, made of exercises, made of checks.

Records are plain values.  They travel from a grading worker to the journal, and from there to the
gradebook, the feedback page and the report; nothing else does.  They can hold text that a learner
wrote, so reading one back is strict: an unknown key, a wrong type or a status that does not exist
is a `RecordError`, never a guess.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, Self

from autograder.records import decoding
from autograder.records.decoding import Read, RecordError

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


@dataclass(frozen=True)
class CheckRecord:
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
    weight: float = 1.0
    layouts: tuple[Mapping[str, Any], ...] | None = None

    @classmethod
    def from_json(cls, data: object) -> Self:
        """The check that `data`, one entry of a test cell's record, describes."""
        return cls(**decoding.decode_object(data, _CHECK, "check"))


@dataclass(frozen=True)
class ExerciseRecord:
    """One exercise of one submission.

    An exercise that was left as its stub is graded with 0 points and `attempted` is false.
    `manual` means that a person has to read the answer; `score` is 0 until then.
    `isolated` is false where test cell and answer shared one process.
    """

    id: str
    status: Status
    score: float
    max: float
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
    def from_json(cls, data: object) -> Self:
        """The exercise that `data` describes, every key given."""
        return cls(**decoding.decode_object(data, _EXERCISE, "exercise"))

    @classmethod
    def from_table(cls, data: object, *, isolated: bool = True) -> Self:
        """The exercise that a test cell's own record (key "pytorch-measured") describes."""
        values = decoding.decode_object(data, _TABLE, "check table")
        attempted = values["status"] != NOT_ATTEMPTED
        return cls(
            id=values["exercise"],
            status=Status.GRADED,
            score=values["score"],
            max=values["max"],
            checks=values["checks"],
            attempted=attempted,
            isolated=isolated,
        )


@dataclass(frozen=True)
class SubmissionRecord:
    """One submission: what the journal keeps, and all that the later steps need."""

    student: str
    lesson: str
    status: Status
    score: float
    max: float
    seconds: float
    exercises: tuple[ExerciseRecord, ...]
    runner: RunnerName
    sandboxed: bool
    notes: tuple[str, ...] = ()
    submission_digest: str = ""
    source_digest: str = ""
    submitted_at: str | None = None  # ISO 8601, UTC; None where nobody wrote a time down

    def exercise(self, name: str) -> ExerciseRecord | None:
        """The record of exercise `name`, None where this submission has none."""
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
        exercises = [
            {**vars(one), "checks": [vars(check) for check in one.checks]} for one in self.exercises
        ]
        return {**vars(self), "exercises": exercises}

    @classmethod
    def from_json(cls, data: object) -> Self:
        """The record that `data` describes; raises `RecordError` on any key or type it refuses."""
        return cls(**decoding.decode_object(data, _SUBMISSION, "record"))


def total(exercises: tuple[ExerciseRecord, ...]) -> tuple[float, float]:
    """Score and maximum of `exercises` together."""
    return math.fsum(one.score for one in exercises), math.fsum(one.max for one in exercises)


def encode(record: SubmissionRecord) -> bytes:
    """`record` as one line of UTF-8 JSON; NaN and infinity are refused."""
    text = json.dumps(record.to_json(), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "backslashreplace") + b"\n"


def decode(raw: bytes) -> SubmissionRecord:
    """The record written by `encode`; raises `RecordError` where `raw` is something else."""
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


# What each field of a record may hold.


def _status(value: object) -> Status:
    return Status(decoding.one_of(*Status)(value))


_text, _flag, _mapping = decoding.of_type(str), decoding.of_type(bool), decoding.of_type(dict)

_CHECK: dict[str, Read] = {
    "name": _text,
    "passed": _flag,
    "attempted": _flag,
    "hidden": _flag,
    "misconception": decoding.optional(_text),
    "message": _text,
    "actual": decoding.optional(_text),
    "expected": decoding.optional(_text),
    "weight": decoding.points,
    "layouts": decoding.optional(decoding.list_of(_mapping)),
}
_TABLE: dict[str, Read] = {
    "exercise": _text,
    "status": decoding.one_of(Status.GRADED, NOT_ATTEMPTED),
    "score": decoding.points,
    "max": decoding.points,
    "checks": decoding.list_of(CheckRecord.from_json),
}
_EXERCISE: dict[str, Read] = {
    "id": _text,
    "status": _status,
    "score": decoding.number,
    "max": decoding.points,
    "checks": decoding.list_of(CheckRecord.from_json),
    "notes": decoding.list_of(_text),
    "attempted": _flag,
    "isolated": _flag,
    "manual": _flag,
}
_SUBMISSION: dict[str, Read] = {
    "student": _text,
    "lesson": _text,
    "status": _status,
    "score": decoding.number,
    "max": decoding.points,
    "seconds": decoding.points,
    "exercises": decoding.list_of(ExerciseRecord.from_json),
    "runner": decoding.one_of("engine", "stock"),
    "sandboxed": _flag,
    "notes": decoding.list_of(_text),
    "submission_digest": _text,
    "source_digest": _text,
    "submitted_at": decoding.optional(_text),
}
