"""Records travel as JSON and come back equal, and nothing but a record is taken for one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import asdict, replace

from autograder.records.model import (
    CheckRecord,
    ExerciseRecord,
    RecordError,
    Status,
    SubmissionRecord,
    decode,
    encode,
    joined,
    total,
)
from tests.autograder.classroom import double, flatten, record

texts = st.text(max_size=20)
points = st.floats(0, 100, allow_nan=False)
checks = st.builds(
    CheckRecord,
    name=texts,
    passed=st.booleans(),
    attempted=st.booleans(),
    hidden=st.booleans(),
    misconception=st.none() | texts,
    message=texts,
    actual=st.none() | texts,
    expected=st.none() | texts,
    weight=points,
    layouts=st.none() | st.tuples(st.fixed_dictionaries({"shape": st.lists(st.integers())})),
)
exercises = st.builds(
    ExerciseRecord,
    id=texts,
    status=st.sampled_from(Status),
    score=points,
    max=points,
    checks=st.lists(checks, max_size=3).map(tuple),
    notes=st.lists(texts, max_size=2).map(tuple),
    attempted=st.booleans(),
    isolated=st.booleans(),
    manual=st.booleans(),
)
submissions = st.builds(
    SubmissionRecord,
    student=texts,
    lesson=texts,
    status=st.sampled_from(Status),
    score=points,
    max=points,
    seconds=points,
    exercises=st.lists(exercises, max_size=3).map(tuple),
    runner=st.sampled_from(["engine", "stock"]),
    sandboxed=st.booleans(),
    notes=st.lists(texts, max_size=2).map(tuple),
    submission_digest=texts,
    source_digest=texts,
    submitted_at=st.none() | texts,
)
TABLE = {"exercise": "flatten", "status": "graded", "score": 2.5, "max": 4.0, "checks": []}


@given(submissions)
def test_a_record_comes_back_equal_from_its_bytes(one: SubmissionRecord) -> None:
    assert decode(encode(one)) == one


def test_a_lone_surrogate_in_a_learners_text_survives() -> None:
    one = record("ada", flatten(notes=("\udc80",)))
    assert decode(encode(one)) == one


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"extra": 1}, "^record: Object contains unknown field `extra`$"),
        ({"status": "excellent"}, "^record.status: Invalid enum value 'excellent'$"),
        ({"score": "6"}, "^record.score: Expected `float`, got `str`$"),
        ({"score": True}, "^record.score: Expected `float`, got `bool`$"),
        ({"score": float("inf")}, "^record.score: Expected `float` <= "),
        ({"score": float("-inf")}, "^record.score: Expected `float` >= "),
        ({"score": float("nan")}, "^record.score: Expected `float` >= "),
        ({"score": 10**400}, "^record.score: Number out of range$"),
        ({"max": -1}, r"^record.max: Expected `float` >= 0\.0$"),
        ({"seconds": -1}, r"^record.seconds: Expected `float` >= 0\.0$"),
        ({"sandboxed": 1}, "^record.sandboxed: Expected `bool`, got `int`$"),
        ({"runner": "magic"}, "^record.runner: Invalid enum value 'magic'$"),
        ({"exercises": {}}, "^record.exercises: Expected `array`, got `object`$"),
        ({"exercises": [{"id": "x"}]}, r"^record.exercises\[0\]: Object missing required field"),
        (
            {"exercises": [asdict(flatten()) | {"checks": [{}]}]},
            r"\[0\].checks\[0\]: Object missing",
        ),
    ],
)
def test_what_is_no_record_is_refused_with_its_place(change: dict[str, Any], reason: str) -> None:
    data = json.loads(encode(record())) | change
    with pytest.raises(RecordError, match=reason):
        SubmissionRecord.from_json(data)


def test_an_exercise_is_found_by_its_name_and_another_is_not() -> None:
    one = record("ada", flatten(), double(1.0))
    assert one.exercise("double") is one.exercises[1]
    assert one.exercise("triple") is None


def test_a_missing_key_is_named() -> None:
    data = record().to_json()
    del data["notes"]
    with pytest.raises(RecordError, match=r"^record\.notes is missing$"):
        SubmissionRecord.from_json(data)


def test_a_missing_key_of_a_check_is_named_though_the_field_has_a_default() -> None:
    data = record().to_json()
    check = {**data["exercises"][0]["checks"][0]}
    del check["hidden"]
    data["exercises"] = [data["exercises"][0] | {"checks": [check]}]
    with pytest.raises(RecordError, match=r"^record\.exercises\[0\]\.checks\[0\]\.hidden is miss"):
        SubmissionRecord.from_json(data)


def test_points_below_nothing_can_stand_in_a_record_but_not_in_a_check_table() -> None:
    assert SubmissionRecord.from_json(record().to_json() | {"score": -1}).score == -1.0
    with pytest.raises(RecordError, match=r"^check table\.score: Expected `float` >= 0"):
        ExerciseRecord.from_table(TABLE | {"score": -1})


OLD = (
    b'{"student":"ada","lesson":"01-tiny","status":"graded","score":4.0,"max":6.0,"seconds":0.5,'
    b'"exercises":[{"id":"flatten","status":"graded","score":4,"max":4.0,"checks":[{"name":"n",'
    b'"passed":true,"attempted":true,"hidden":false,"misconception":null,"message":"","actual":null,'
    b'"expected":null,"weight":1.0,"layouts":[{"shape":[2]}]}],"notes":["a"],"attempted":true,'
    b'"isolated":true,"manual":false}],"runner":"engine","sandboxed":true,"notes":[],'
    b'"submission_digest":"d","source_digest":"s","submitted_at":null}'
)


def test_a_record_of_an_earlier_version_is_read_and_written_in_the_same_form() -> None:
    one = decode(OLD)
    assert one.exercises[0].checks[0].layouts == ({"shape": [2]},)
    assert json.dumps(one.to_json(), separators=(",", ":")).encode() == OLD.replace(
        b":4,", b":4.0,"
    )


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"[" * 100_000, b"\xff"])
def test_bytes_that_are_no_record_are_a_record_error(raw: bytes) -> None:
    with pytest.raises(
        RecordError, match=r"^(the record is not JSON: .|record: Expected `object`, got `array`)"
    ):
        decode(raw)


def test_a_record_is_one_line_of_readable_utf_8() -> None:
    raw = encode(record("Zoë", flatten(notes=("line one\nline two",))))
    assert "Zoë".encode() in raw
    assert raw.count(b"\n") == 1 and raw.endswith(b"\n")


def test_nan_is_never_written() -> None:
    with pytest.raises(ValueError, match="JSON"):
        encode(record("ada", flatten(score=float("nan"))))


def test_a_check_table_becomes_a_graded_exercise() -> None:
    one = ExerciseRecord.from_table(TABLE)
    assert (one.id, one.status, one.score, one.max) == ("flatten", Status.GRADED, 2.5, 4.0)
    assert (one.attempted, one.isolated, one.checks) == (True, True, ())


def test_several_tables_of_a_cell_are_one() -> None:
    check = CheckRecord("values", True, hidden=True, misconception="m", weight=2.0)
    first = ExerciseRecord.from_table(TABLE | {"checks": [asdict(check)], "score": 1.0})
    last = ExerciseRecord.from_table(TABLE | {"status": "not attempted", "score": 2.0})
    found = joined([first, last])
    assert (found.checks, found.attempted, found.score) == (first.checks, True, 2.0)


def test_a_check_table_brings_its_checks_and_where_it_ran() -> None:
    check = CheckRecord("values", False, hidden=True, misconception="m", weight=2.0)
    one = ExerciseRecord.from_table(TABLE | {"checks": [asdict(check)]}, isolated=False)
    assert (one.checks, one.isolated) == ((check,), False)
    with pytest.raises(RecordError, match=r"^check table: Object contains unknown field `more`"):
        ExerciseRecord.from_table(TABLE | {"more": 1})


def test_a_table_that_was_not_attempted_says_so() -> None:
    one = ExerciseRecord.from_table(TABLE | {"status": "not attempted", "score": 0})
    assert (one.status, one.attempted) == (Status.GRADED, False)


def test_a_table_may_not_claim_a_status_of_its_own() -> None:
    with pytest.raises(RecordError, match="status"):
        ExerciseRecord.from_table(TABLE | {"status": "tampered"})


def test_the_summary_has_the_keys_that_programs_read() -> None:
    one = record("ada", flatten(3.0), double(0, attempted=False), seconds=0.12351)
    found = replace(one, status=Status.CRASHED).summary()
    assert (found["status"], found["seconds"]) == ("crashed", 0.124)
    assert list(found) == ["student", "lesson", "status", "score", "max", "seconds", "exercises"]
    first, second = found["exercises"]
    failed = [{"check": "it lives in the same storage", "misconception": "order-of-memory"}]
    assert first == {"id": "flatten", "status": "graded", "score": 3.0, "max": 4.0} | {
        "failed": failed
    }
    assert (second["status"], second["score"]) == ("not attempted", 0)


def test_the_total_of_exercises_is_exact() -> None:
    assert total(tuple(flatten(0.1) for _ in range(10))) == (1.0, 40.0)
