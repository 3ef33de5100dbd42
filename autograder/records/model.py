"""What grading found out: one record a submission, made of exercises, made of checks.

Records are plain values.  They travel from a grading worker to the journal, and from there to the
gradebook, the feedback page and the report; nothing else does.  They can hold text that a learner
wrote, so reading one back is strict: an unknown key, a wrong type or a status that does not exist
is a `RecordError`, never a guess.  The bytes are those of `json`, whose text can hold lone
surrogates; msgspec's own reader refuses them.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Annotated, Any, Literal, Self, TypeVar

import msgspec

from autograder.errors import AutograderError

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

T = TypeVar("T")
_MOST = sys.float_info.max  # bounds refuse NaN too, which compares with nothing
Number = Annotated[float, msgspec.Meta(ge=-_MOST, le=_MOST)]
NotNegative = Annotated[float, msgspec.Meta(ge=0, le=_MOST)]
RunnerName = Literal["engine", "stock"]
NOT_ATTEMPTED = "not attempted"


class RecordError(AutograderError):
    """A record that cannot be read; the message names the field and what is wrong with it."""


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
    `reached` is false where an exception took what it looks at and a line before tells of that;
    `call` is the call that ended so, as code. A hidden check has neither `actual`, `expected`,
    `layouts` nor `call`. `suspected` is a misconception that nobody is told of, since another one
    has better evidence or just as much.
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
    reached: bool = True
    call: str | None = None
    suspected: str | None = None


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
        table = _read_as(_CheckTable, data, "check table")
        return cls(
            id=table.exercise,
            status=Status.GRADED,
            score=table.score,
            max=table.max,
            checks=table.checks,
            attempted=table.status != NOT_ATTEMPTED,
            isolated=isolated,
        )


def joined(tables: Sequence[ExerciseRecord]) -> ExerciseRecord:
    """What several check tables of one test cell say together; its points are the last one's.

    Args:
        tables: One or more, in the order in which they were shown.
    """
    checks = tuple(check for one in tables for check in one.checks)
    attempted = any(one.attempted for one in tables)
    return msgspec.structs.replace(tables[-1], checks=checks, attempted=attempted)


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
        for check in (check for one in plain["exercises"] for check in one["checks"]):
            for key, usual in _LATER.items():
                if check[key] == usual:
                    del check[key]
        return plain

    @classmethod
    def from_json(cls, data: object) -> Self:
        """The record that `data` describes.

        Raises:
            RecordError: A key or a type is not that of a record; the message names the field.
        """
        return _read_as(cls, data, "record")


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


def _read_as(kind: type[T], data: object, what: str) -> T:
    """`data` as a `kind`, with every field given, those with a default too.

    Args:
        kind: A `msgspec.Struct`; bool is no number in it, and text is none either.
        data: What `json` has read.
        what: A word for it, with which the place in a message begins: `record.exercises[0].score`.

    Raises:
        RecordError: A field is missing, has another type or a value outside of its bounds, or is
            not known where the type forbids that.
    """
    try:
        found = msgspec.convert(data, kind)
    except (msgspec.ValidationError, RecursionError) as error:
        cause, _, place = str(error).partition(" - at ")
        raise RecordError(f"{what}{place.strip('`').removeprefix('$')}: {cause}") from None
    absent = next(_absent(data, msgspec.to_builtins(found), what), None)
    if absent is not None:
        raise RecordError(f"{absent} is missing")
    return found


# What checks had no fields for at first, and what a record without them means.
_LATER: dict[str, Any] = {"reached": True, "call": None, "suspected": None}


def _absent(given: object, whole: object, place: str) -> Iterator[str]:
    """The places that `whole` has and `given` has not."""
    if isinstance(given, dict) and isinstance(whole, dict):
        for key, value in whole.items():
            if key in given:
                yield from _absent(given[key], value, f"{place}.{key}")
            elif key not in _LATER:
                yield f"{place}.{key}"
    elif isinstance(given, list | tuple) and isinstance(whole, list | tuple):
        for index, (one, other) in enumerate(zip(given, whole, strict=True)):
            yield from _absent(one, other, f"{place}[{index}]")
