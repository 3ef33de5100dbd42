"""What grading found out: one record a submission, made of exercises, made of checks.

Records are plain values.  They travel from a grading worker to the journal, and from there to the
gradebook, the feedback page and the report; nothing else does.  They can hold text that a learner
wrote, so reading one back is strict: an unknown key, a wrong type or a status that does not exist
is a `RecordError`, never a guess.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any, Literal, Self

from autograder.errors import AutograderError

RunnerName = Literal["engine", "stock"]
NOT_ATTEMPTED = "not attempted"


class RecordError(AutograderError):
    """A record that cannot be read; the message names the field and what stood there."""


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
        return cls(**_decode(data, _CHECK, "check"))


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
        return cls(**_decode(data, _EXERCISE, "exercise"))

    @classmethod
    def from_table(cls, data: object, *, isolated: bool = True) -> Self:
        """The exercise that a test cell's own record (key "pytorch-measured") describes."""
        values = _decode(data, _TABLE, "check table")
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
        return asdict(self)

    @classmethod
    def from_json(cls, data: object) -> Self:
        """The record that `data` describes; raises `RecordError` on any key or type it refuses."""
        return cls(**_decode(data, _SUBMISSION, "record"))


def total(exercises: tuple[ExerciseRecord, ...]) -> tuple[float, float]:
    """Score and maximum of `exercises` together."""
    return math.fsum(one.score for one in exercises), math.fsum(one.max for one in exercises)


def with_note(record: SubmissionRecord, note: str) -> SubmissionRecord:
    """`record` with one more note at its end."""
    return replace(record, notes=(*record.notes, note))


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


# Strict reading: a table of field readers for each kind of record.

Read = Callable[[object], Any]


def _is(kind: type) -> Read:
    def read(value: object) -> object:
        if type(value) is not kind:
            raise RecordError(f"must be {kind.__name__}, is {value!r:.80}")
        return value

    return read


def _number(value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise RecordError(f"must be a finite number, is {value!r:.80}")
    return float(value)


def _points(value: object) -> float:
    number = _number(value)
    if number < 0:
        raise RecordError(f"must not be negative, is {value!r}")
    return number


def _optional(read: Read) -> Read:
    return lambda value: None if value is None else read(value)


def _tuple(read: Read) -> Read:
    def read_all(value: object) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple):
            raise RecordError(f"must be a list, is {value!r:.80}")
        return tuple(read(item) for item in value)

    return read_all


def _one_of(*allowed: str) -> Read:
    def read(value: object) -> str:
        if type(value) is not str or value not in allowed:
            raise RecordError(f"must be one of {', '.join(allowed)}, is {value!r:.80}")
        return value

    return read


def _status(value: object) -> Status:
    return Status(_one_of(*Status)(str(value) if isinstance(value, Status) else value))


_text, _flag, _mapping = _is(str), _is(bool), _is(dict)

_CHECK: dict[str, Read] = {
    "name": _text,
    "passed": _flag,
    "attempted": _flag,
    "hidden": _flag,
    "misconception": _optional(_text),
    "message": _text,
    "actual": _optional(_text),
    "expected": _optional(_text),
    "weight": _points,
    "layouts": _optional(_tuple(_mapping)),
}
_TABLE: dict[str, Read] = {
    "exercise": _text,
    "status": _one_of(Status.GRADED, NOT_ATTEMPTED),
    "score": _points,
    "max": _points,
    "checks": _tuple(CheckRecord.from_json),
}
_EXERCISE: dict[str, Read] = {
    "id": _text,
    "status": _status,
    "score": _number,
    "max": _points,
    "checks": _tuple(CheckRecord.from_json),
    "notes": _tuple(_text),
    "attempted": _flag,
    "isolated": _flag,
    "manual": _flag,
}
_SUBMISSION: dict[str, Read] = {
    "student": _text,
    "lesson": _text,
    "status": _status,
    "score": _number,
    "max": _points,
    "seconds": _points,
    "exercises": _tuple(ExerciseRecord.from_json),
    "runner": _one_of("engine", "stock"),
    "sandboxed": _flag,
    "notes": _tuple(_text),
    "submission_digest": _text,
    "source_digest": _text,
    "submitted_at": _optional(_text),
}


def _decode(data: object, readers: dict[str, Read], what: str) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise RecordError(f"a {what} must be an object, is {data!r:.80}")
    unknown, absent = sorted(data.keys() - readers.keys()), sorted(readers.keys() - data.keys())
    if unknown or absent:
        raise RecordError(f"{what}: unknown keys {unknown}, missing keys {absent}")
    return {key: _read(read, data[key], f"{what}.{key}") for key, read in readers.items()}


def _read(read: Read, value: object, place: str) -> object:
    try:
        return read(value)
    except RecordError as error:
        raise RecordError(f"{place}: {error}") from None
