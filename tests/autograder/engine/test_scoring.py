"""What became of the cells decides status and points; nothing else does."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from autograder.engine.outcomes import CellOutcome, Failure, FailureCause
from autograder.engine.plan import CellKind, FormOfTests, Step, plan
from autograder.engine.scoring import judge, notes_of, submission_status
from autograder.lessons.model import Exercise
from autograder.records.model import ExerciseRecord, Status
from tests.autograder.engine.exam import exam_cells, words

TOTAL = Exercise("total", "Total", 3.0, "total", "x", "test-total", "x")
ANSWER = Step(0, CellKind.RUN, "x", "total")
TEST = Step(1, CellKind.TEST, "x", "test-total", 3.0)


def result(text: str) -> dict[str, Any]:
    return {
        "output_type": "execute_result",
        "data": {"text/plain": text},
        "metadata": {},
        "execution_count": 1,
    }


def record(
    answer: CellOutcome, test: CellOutcome, missing: frozenset[str] = frozenset()
) -> ExerciseRecord:
    return judge(TOTAL, (ANSWER, TEST), {0: answer, 1: test}, missing)


def test_a_value_above_the_points_is_left_to_a_person() -> None:
    found = record(CellOutcome(), CellOutcome(outputs=(result("300"),)))
    assert (found.status, found.score, found.manual) == (Status.GRADED, 0.0, True)
    assert found.notes == (
        "Its test cell gave more points than it has, which is 3. A person gives the points.",
    )


@pytest.mark.parametrize("text", ["-1", "nan", "False"])
def test_a_value_that_is_no_number_of_points_is_worth_none_and_noted(text: str) -> None:
    found = record(CellOutcome(), CellOutcome(outputs=(result(text),)))
    assert (found.status, found.score, found.manual) == (Status.GRADED, 0.0, False)
    (note,) = found.notes
    assert "no number of points" in note


@pytest.mark.parametrize("cause", list(FailureCause))
def test_a_lost_answer_cell_gives_its_exercise_the_status_and_says_why(cause: FailureCause) -> None:
    found = record(
        CellOutcome(failure=Failure(cause, "did it")), CellOutcome(outputs=(result("0.0"),))
    )
    assert (found.status, found.score) == (Status(cause), 0.0)
    assert found.notes == ("Your cell did it, so it was left out.",)


@pytest.mark.parametrize("cause", list(FailureCause))
def test_a_lost_test_cell_gives_no_points(cause: FailureCause) -> None:
    found = record(
        CellOutcome(), CellOutcome(outputs=(result("3.0"),), failure=Failure(cause, "did it"))
    )
    assert (found.status, found.score, found.notes) == (Status(cause), 0.0, ("Its test did it.",))


@pytest.mark.parametrize("kind", [CellKind.PLAIN_TEST, CellKind.TEST])
def test_a_class_is_not_named_where_its_name_may_say_what_is_hidden(kind: CellKind) -> None:
    steps = ANSWER, replace(TEST, kind=kind)
    outcomes = {0: CellOutcome(), 1: CellOutcome((result("0.0"),), error="SAW_4711")}
    (note,) = judge(TOTAL, steps, outcomes, frozenset()).notes
    assert note == "The test cell ended in an exception of its own class."


def test_a_memory_error_is_named_only_where_points_were_lost() -> None:
    full = record(CellOutcome(memory_error=True), CellOutcome(outputs=(result("3.0"),)))
    less = record(CellOutcome(memory_error=True), CellOutcome(outputs=(result("1.0"),)))
    called = record(CellOutcome(), CellOutcome(outputs=(result("1.0"),), memory_error=True))
    assert (full.status, less.status) == (Status.GRADED, Status.OUT_OF_MEMORY)
    assert (called.status, called.score) == (Status.OUT_OF_MEMORY, 1.0)


def test_a_missing_answer_is_not_attempted() -> None:
    assert not record(
        CellOutcome(), CellOutcome(outputs=(result("0.0"),)), frozenset({"total"})
    ).attempted


def test_a_submission_is_called_after_its_gravest_fate() -> None:
    graded = ExerciseRecord("a", Status.GRADED, 1, 1)
    crashed = ExerciseRecord("b", Status.CRASHED, 0, 1)
    late = CellOutcome(failure=Failure(FailureCause.TIMEOUT, "x"))
    assert submission_status([graded], []) is Status.GRADED
    assert submission_status([graded, crashed], []) is Status.CRASHED
    assert submission_status([graded, crashed], [late]) is Status.TIMEOUT


@pytest.mark.parametrize(
    ("graver", "lighter"),
    [
        (Status.INFRASTRUCTURE, Status.TAMPERED),
        (Status.TAMPERED, Status.TIMEOUT),
        (Status.TIMEOUT, Status.OUT_OF_MEMORY),
        (Status.OUT_OF_MEMORY, Status.CRASHED),
        (Status.CRASHED, Status.GRADED),
    ],
)
def test_of_two_statuses_the_graver_is_the_submissions(graver: Status, lighter: Status) -> None:
    one, other = (ExerciseRecord("a", status, 0, 1) for status in (graver, lighter))
    assert submission_status([one, other], []) is submission_status([other, one], []) is graver
    if lighter in set(FailureCause):
        by_a_cell = CellOutcome(failure=Failure(FailureCause(lighter), "x"))
        assert submission_status([one], [by_a_cell]) is graver


def test_a_note_names_the_cell_that_was_left_out() -> None:
    own = Step(4, CellKind.RUN, "x", "")
    notes = notes_of(
        (ANSWER, own), {4: CellOutcome(failure=Failure(FailureCause.TIMEOUT, "was stopped"))}
    )
    assert notes == ("Cell 5 was stopped; what follows ran without it.",)


def test_the_plan_sends_tests_to_the_checker_and_the_rest_to_the_student() -> None:
    cells = [*exam_cells(), words("x", "y")]
    steps = plan(cells, FormOfTests.of(cells))
    assert [step.kind.name for step in steps] == [
        *("TEXT", "RUN", "RUN", "TEST", "TEXT", "RUN", "TEST", "TEXT")
    ]
