"""What became of the cells decides status and points; nothing else does."""

from __future__ import annotations

from typing import Any

import pytest

from autograder.engine.execution import Shown
from autograder.engine.plan import Part, Step, asks_for_answers, plan
from autograder.engine.scoring import judge, notes_of, submission_status
from autograder.engine.student.client import Fate, Lost
from autograder.lessons.model import Exercise
from autograder.records.model import ExerciseRecord, Status
from tests.autograder.engine.exam import exam_cells, words

TOTAL = Exercise("total", "Total", 3.0, "total", "x", "test-total", "x")
ANSWER = Step(0, Part.RUN, "x", "total")
TEST = Step(1, Part.TEST, "x", "test-total", 3.0)


def result(text: str) -> dict[str, Any]:
    return {
        "output_type": "execute_result",
        "data": {"text/plain": text},
        "metadata": {},
        "execution_count": 1,
    }


def record(answer: Shown, test: Shown, missing: frozenset[str] = frozenset()) -> ExerciseRecord:
    return judge(TOTAL, (ANSWER, TEST), {0: answer, 1: test}, missing)


def test_a_value_above_the_points_is_left_to_a_person() -> None:
    found = record(Shown(), Shown(outputs=(result("300"),)))
    assert (found.status, found.score, found.manual) == (Status.GRADED, 0.0, True)
    assert found.notes == (
        "Its test cell gave 300 points, but has no more than 3. A person gives the points.",
    )


@pytest.mark.parametrize("fate", list(Fate))
def test_a_lost_answer_cell_gives_its_exercise_the_status_and_says_why(fate: Fate) -> None:
    found = record(Shown(lost=Lost(fate, "did it")), Shown(outputs=(result("0.0"),)))
    assert (found.status, found.score) == (Status(fate), 0.0)
    assert found.notes == ("Your cell did it, so it was left out.",)


@pytest.mark.parametrize("fate", list(Fate))
def test_a_lost_test_cell_gives_no_points(fate: Fate) -> None:
    found = record(Shown(), Shown(outputs=(result("3.0"),), lost=Lost(fate, "did it")))
    assert (found.status, found.score, found.notes) == (Status(fate), 0.0, ("Its test did it.",))


def test_a_memory_error_is_named_only_where_points_were_lost() -> None:
    full = record(Shown(memory_error=True), Shown(outputs=(result("3.0"),)))
    less = record(Shown(memory_error=True), Shown(outputs=(result("1.0"),)))
    called = record(Shown(), Shown(outputs=(result("1.0"),), memory_error=True))
    assert (full.status, less.status) == (Status.GRADED, Status.OUT_OF_MEMORY)
    assert (called.status, called.score) == (Status.OUT_OF_MEMORY, 1.0)


def test_a_missing_answer_is_not_attempted() -> None:
    assert not record(Shown(), Shown(outputs=(result("0.0"),)), frozenset({"total"})).attempted


def test_a_submission_is_called_after_its_gravest_fate() -> None:
    graded = ExerciseRecord("a", Status.GRADED, 1, 1)
    crashed = ExerciseRecord("b", Status.CRASHED, 0, 1)
    late = Shown(lost=Lost(Fate.TIMEOUT, "x"))
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
    if lighter in set(Fate):
        by_a_cell = Shown(lost=Lost(Fate(lighter), "x"))
        assert submission_status([one], [by_a_cell]) is graver


def test_a_note_names_the_cell_that_was_left_out() -> None:
    own = Step(4, Part.RUN, "x", "")
    notes = notes_of((ANSWER, own), {4: Shown(lost=Lost(Fate.TIMEOUT, "was stopped"))})
    assert notes == ("Cell 5 was stopped; what follows ran without it.",)


def test_the_plan_sends_tests_to_the_checker_and_the_rest_to_the_student() -> None:
    steps = plan([*exam_cells(), words("x", "y")])
    assert [step.part.name for step in steps] == [
        *("TEXT", "RUN", "RUN", "TEST", "TEXT", "RUN", "TEST", "TEXT")
    ]


@pytest.mark.parametrize(
    ("source", "asks"),
    [
        ("f = answer('f')", True),
        ("import course\ncourse.answer('f')()", True),
        ("# answer('f')\nassert f(1)", False),
        ("assert 'answer(' in text", False),
        ("%magic answer('f')", False),
        ("(" * 500, False),
    ],
)
def test_a_test_cell_asks_for_answers_when_it_calls_answer(source: str, asks: bool) -> None:
    assert asks_for_answers(source) is asks
