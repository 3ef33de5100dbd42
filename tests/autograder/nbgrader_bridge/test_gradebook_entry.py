"""Whether a gradebook's entry is what the record says, told without any gradebook."""

from __future__ import annotations

import dataclasses
import time
from dataclasses import replace
from datetime import datetime
from types import SimpleNamespace
from typing import Any

import pytest

from autograder.lessons.model import Lesson, find_lesson
from autograder.nbgrader_bridge.gradebook_entry import (
    FROM_GRADEBOOK,
    GradebookEntry,
    agrees,
    auto_points,
    comment_on,
    comments_of,
    entry_of,
    is_doubtful,
    record_from,
    utc_of,
)
from autograder.records.model import Status
from autograder.records.runner import ANSWER_TO_MARK
from tests.autograder import tiny
from tests.autograder.classroom import SLUG, double, flatten, record, tiny_lesson

TIME = "2026-01-10T12:00:00"


@pytest.fixture(scope="module")
def lesson(tmp_path_factory: pytest.TempPathFactory) -> Lesson:
    return find_lesson(tiny.build(tmp_path_factory.mktemp("course")), SLUG)


def entry(**changes: Any) -> GradebookEntry:
    """What the gradebook says of a right submission to the tiny lesson."""
    points = {"test-flatten": 4.0, "test-double": 2.0}
    usual = {"student": "ada", "auto": points, "points": points, "manual": frozenset()}
    rest = {"waiting": frozenset(), "comments": {}, "penalty": 0.0, "seconds_late": 0.0}
    return GradebookEntry(**usual | rest | {"submitted_at": TIME} | changes)


RIGHT = record("ada", submitted_at=f"{TIME}+00:00")


# What counts.


def test_the_penalty_is_taken_off_and_leaves_at_least_nothing() -> None:
    assert (entry(penalty=1.5).score, entry(penalty=6.5).score) == (4.5, 0.0)


@pytest.mark.parametrize(
    ("auto", "manual", "graded"),
    [
        ({"a": None, "b": 0.0}, frozenset(), True),
        ({"a": None}, frozenset({"a"}), True),
        ({"a": None}, frozenset(), False),
        ({}, frozenset(), False),
    ],
)
def test_an_entry_is_graded_where_anybody_gave_points(
    auto: dict[str, float | None], manual: frozenset[str], graded: bool
) -> None:
    assert entry(auto=auto, manual=manual).is_graded is graded


@pytest.mark.parametrize(
    ("due", "holds"), [(None, True), (1.0, True), (1.0 + 1e-10, True), (1.1, False), (0.0, False)]
)
def test_a_penalty_holds_where_it_is_what_is_asked_for_now(due: float | None, holds: bool) -> None:
    assert entry(penalty=1.0, penalty_due=due).penalty_holds is holds


def test_a_penalty_of_nothing_holds_beside_what_a_database_makes_of_nothing() -> None:
    assert entry(penalty=0.0, penalty_due=1e-10).penalty_holds
    assert not entry(penalty=0.0, penalty_due=1e-8).penalty_holds


def row(**changes: Any) -> SimpleNamespace:
    """A submission as nbgrader's tables give it, with a notebook of another name."""
    grade = {"auto_score": 3.0, "score": None, "manual_score": None, "extra_credit": None}
    grades = [
        SimpleNamespace(**grade | {"name": "machine", "needs_manual_grade": False, "score": 3.0}),
        SimpleNamespace(**grade | {"name": "person", "needs_manual_grade": True}),
        SimpleNamespace(**grade | {"name": "zero", "needs_manual_grade": False, "manual_score": 0}),
        SimpleNamespace(**grade | {"name": "more", "needs_manual_grade": False, "extra_credit": 1}),
    ]
    comments = [
        SimpleNamespace(name="a", manual_comment="Good.", auto_comment=None),
        SimpleNamespace(name="b", manual_comment="", auto_comment="No response."),
    ]
    mine = SimpleNamespace(name=SLUG, grades=grades, comments=comments, late_submission_penalty=1.5)
    other = SimpleNamespace(**vars(mine) | {"name": "other", "grades": grades[:1]})
    about = {"student_id": "ada", "notebooks": [other, mine], "total_seconds_late": 90}
    usual = {"assignment": SimpleNamespace(duedate="then"), "timestamp": datetime(2026, 1, 10)}
    return SimpleNamespace(**about | usual | changes)


def test_an_entry_has_what_the_rows_of_its_own_notebook_say() -> None:
    found = entry_of(row(), tiny_lesson(), 2.5)
    assert (found.student, found.submitted_at) == ("ada", "2026-01-10T00:00:00")
    assert found.auto == dict.fromkeys(("machine", "person", "zero", "more"), 3.0)
    assert found.points == {"machine": 3.0, "person": 0.0, "zero": 0.0, "more": 0.0}
    assert (found.manual, found.waiting) == ({"zero", "more"}, {"person"})
    assert (found.comments, found.auto_comments) == ({"a": "Good."}, {"b": "No response."})
    assert (found.penalty, found.penalty_due, found.seconds_late) == (1.5, 2.5, 90.0)


def test_an_entry_without_time_and_penalty_has_neither() -> None:
    bare = row(timestamp=None)
    bare.notebooks[1].late_submission_penalty = None
    found = entry_of(bare, tiny_lesson())
    assert (found.submitted_at, found.penalty, found.penalty_due) == (None, 0.0, None)


# Whether record and entry agree.


def test_a_record_agrees_with_its_own_entry(lesson: Lesson) -> None:
    assert agrees(entry(), RIGHT, lesson)


OTHER: dict[str, dict[str, Any]] = {
    "no time": {"submitted_at": None},
    "another time": {"submitted_at": "2026-01-10T12:00:01"},
    "other points": {"auto": {"test-flatten": 4.0, "test-double": 1.9}},
    "no points": {"auto": {"test-flatten": 4.0, "test-double": None}},
    "a cell less": {"auto": {"test-flatten": 4.0}},
    "a cell more with points": {"auto": {**entry().auto, "test-old": 1.0}},
    "a comment": {"auto_comments": {"flatten": "No response."}},
    "it waits": {"waiting": frozenset({"test-double"})},
}


@pytest.mark.parametrize("changes", OTHER.values(), ids=OTHER)
def test_an_entry_that_says_otherwise_does_not_agree(
    lesson: Lesson, changes: dict[str, Any]
) -> None:
    assert not agrees(entry(**changes), RIGHT, lesson)


def test_no_entry_agrees_with_no_record(lesson: Lesson) -> None:
    assert not agrees(None, RIGHT, lesson)
    assert not agrees(None, record("ada"), lesson)


def test_points_that_a_database_rounded_agree(lesson: Lesson) -> None:
    third = record("ada", flatten(10 / 3), double(), submitted_at=f"{TIME}+00:00")
    rounded = {"test-flatten": 3.3333333, "test-double": 2.0}
    assert agrees(entry(auto=rounded), third, lesson)
    assert not agrees(entry(auto=rounded | {"test-flatten": 3.333}), third, lesson)


def test_a_cell_that_the_lesson_no_longer_has_is_left_alone_where_nobody_knows_its_points(
    lesson: Lesson,
) -> None:
    auto = {**entry().auto, "test-old": None}
    assert agrees(entry(auto=auto, waiting=frozenset({"test-old"})), RIGHT, lesson)


def test_what_the_grader_cannot_judge_has_to_wait(lesson: Lesson) -> None:
    words = record("ada", flatten(0.0, manual=True), double(), submitted_at=f"{TIME}+00:00")
    auto = {"test-flatten": None, "test-double": 2.0}
    assert agrees(entry(auto=auto, waiting=frozenset({"test-flatten"})), words, lesson)
    assert not agrees(entry(auto=auto), words, lesson)
    assert agrees(entry(auto=auto, manual=frozenset({"test-flatten"})), words, lesson)


def test_what_is_doubtful_may_wait_or_have_been_looked_at(lesson: Lesson) -> None:
    odd = flatten(0.0, status=Status.TAMPERED)
    doubt = record("ada", odd, double(), submitted_at=f"{TIME}+00:00")
    said = {
        "auto": {"test-flatten": 0.0, "test-double": 2.0},
        "auto_comments": {"flatten": "tampered."},
    }
    assert agrees(entry(**said), doubt, lesson)
    assert agrees(entry(**said, waiting=frozenset({"test-flatten"})), doubt, lesson)
    assert not agrees(entry(**said, waiting=frozenset({"test-double"})), doubt, lesson)


# What is entered.


@pytest.mark.parametrize(
    ("changes", "points"),
    [
        ({}, 4.0),
        ({"status": Status.TIMEOUT}, 4.0),
        ({"status": Status.INFRASTRUCTURE}, None),
        ({"manual": True}, None),
        ({"manual": True, "attempted": False}, 4.0),
    ],
)
def test_the_grader_gives_points_where_it_can_know(
    changes: dict[str, Any], points: float | None
) -> None:
    assert auto_points(flatten(4.0, **changes)) == points


def test_an_exercise_without_a_record_has_neither_points_nor_doubt_nor_comment() -> None:
    assert (auto_points(None), is_doubtful(None), comment_on(None)) == (None, False, None)


@pytest.mark.parametrize("status", Status)
def test_a_person_looks_at_what_could_not_be_judged_but_was_handed_in(status: Status) -> None:
    doubtful = {Status.MALFORMED, Status.TAMPERED, Status.INFRASTRUCTURE}
    assert is_doubtful(flatten(status=status)) is (status in doubtful)


@pytest.mark.parametrize(
    ("changes", "comment"),
    [
        ({}, None),
        ({"attempted": False}, "No response."),
        ({"attempted": False, "notes": ("Lost.",)}, "No response."),
        ({"notes": ("One.", "Two.")}, "One. Two."),
        ({"status": Status.TIMEOUT}, "timeout."),
        ({"status": Status.CRASHED, "attempted": False, "notes": ("A.",)}, "crashed. A."),
    ],
)
def test_the_comment_says_what_became_of_an_answer(
    changes: dict[str, Any], comment: str | None
) -> None:
    assert comment_on(flatten(**changes)) == comment


def test_a_time_is_kept_in_utc_wherever_the_machine_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "JST-9")
        time.tzset()
        assert utc_of("2026-01-10T13:00:00+01:00") == "2026-01-10T12:00:00"
    time.tzset()


@pytest.mark.parametrize("moment", [None, ""])
def test_no_time_stays_none(moment: str | None) -> None:
    assert utc_of(moment) is None


# A record of what the gradebook alone knows.


def test_a_record_from_the_gradebook_has_its_points_and_says_where_they_are_from(
    lesson: Lesson,
) -> None:
    found = record_from(entry(points={"test-flatten": 2.5, "test-double": 2.0}), lesson)
    assert (found.student, found.lesson, found.status) == ("ada", SLUG, Status.GRADED)
    assert (found.score, found.max, found.seconds) == (4.5, 6.0, 0.0)
    assert (found.runner, found.sandboxed, found.notes) == ("stock", False, (FROM_GRADEBOOK,))
    assert found.submitted_at == f"{TIME}+00:00"
    assert record_from(entry(submitted_at=None), lesson).submitted_at is None


def test_its_exercises_wait_where_nobody_judged_them(lesson: Lesson) -> None:
    auto = {"test-flatten": None, "test-double": 2.0}
    first, second = record_from(entry(auto=auto), lesson).exercises
    assert (first.id, first.status, first.score, first.max) == ("flatten", Status.GRADED, 0.0, 4.0)
    assert (first.manual, first.isolated, first.attempted) == (True, False, True)
    assert (second.score, second.manual) == (2.0, False)


def test_points_by_hand_and_no_response_are_told(lesson: Lesson) -> None:
    auto = {"test-flatten": None, "test-double": 0.0}
    points = {"test-flatten": 3.0, "test-double": 0.0}
    none = {"double": "No response."}
    given = entry(auto=auto, points=points, manual=frozenset({"test-flatten"}), auto_comments=none)
    first, second = record_from(given, lesson).exercises
    assert (first.score, first.manual, first.attempted) == (3.0, False, True)
    assert (second.score, second.attempted) == (0.0, False)


def test_a_question_in_words_has_its_points_in_the_gradebook_alone(lesson: Lesson) -> None:
    asked = replace(lesson, exercises=tuple(replace(one, manual=True) for one in lesson.exercises))
    found = record_from(entry(manual=frozenset({"test-flatten", "test-double"})), asked)
    assert [(one.score, one.manual) for one in found.exercises] == [(0.0, True), (0.0, True)]


def test_a_cell_that_the_gradebook_lacks_counts_nothing(lesson: Lesson) -> None:
    less = {"test-double": 2.0}
    first, second = record_from(entry(auto=less, points=less), lesson).exercises
    assert (first.score, second.score) == (0.0, 2.0)
    assert (first.manual, second.manual) == (True, False)


def test_that_a_person_grades_an_answer_is_no_comment_on_it() -> None:
    notes = (ANSWER_TO_MARK, "It was put together from 2 cells.")
    assert comment_on(flatten(notes=notes, manual=True)) == "It was put together from 2 cells."
    assert comment_on(flatten(notes=(ANSWER_TO_MARK,), manual=True)) is None


def test_tests_that_ask_for_one_answer_share_its_comment(lesson: Lesson) -> None:
    one, other = lesson.exercises
    shared = dataclasses.replace(
        lesson, exercises=(one, dataclasses.replace(other, answer_id=one.answer_id))
    )
    both = record("ada", flatten(0.0, notes=("First.",)), double(notes=("Second.",)))
    assert comments_of(both, shared) == {"flatten": "First. Second."}
    untouched = record("ada", flatten(0.0, attempted=False), double(0.0, attempted=False))
    assert comments_of(untouched, shared) == {"flatten": "No response."}
