"""What became of the cells decides status and points; nothing else does."""

from __future__ import annotations

from typing import Any

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbgrader.utils import determine_grade

from autograder.engine.execution import Shown
from autograder.engine.life import Fate, Lost
from autograder.engine.plan import Part, Step, asks_for_answers, plan
from autograder.engine.scoring import judge, notes_of, points_of, submission_status
from autograder.lessons import Exercise
from autograder.records import ExerciseRecord, Status
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


OUTPUT = st.sampled_from(["1.0", "0", "3", "2.5", "'text'", "[1]", "True", "-1.0", "nope"]).map(
    result
)
STREAM = st.sampled_from(["stdout", "stderr"]).map(
    lambda name: {"output_type": "stream", "name": name, "text": "x"}
)
ERROR = st.just({"output_type": "error", "ename": "E", "evalue": "", "traceback": []})


@given(st.lists(STREAM, max_size=2), st.lists(OUTPUT, max_size=1) | st.lists(ERROR, max_size=1))
def test_points_are_those_of_nbgrader(streams: list[dict], last: list[dict]) -> None:
    outputs = [*streams, *last]
    cell = nbformat.v4.new_code_cell("x", outputs=[nbformat.from_dict(o) for o in outputs])
    cell.metadata.nbgrader = {"grade": True, "points": 3, "grade_id": "t", "solution": False}
    assert points_of(outputs, 3.0) == determine_grade(cell)[0]


def test_a_value_before_an_error_and_a_value_above_the_points_count_nothing() -> None:
    error = {"output_type": "error", "ename": "E", "evalue": "", "traceback": []}
    assert points_of([result("3.0"), error], 3.0) == 0.0
    assert points_of([result("300.0")], 3.0) == 0.0
    assert points_of([result("nan")], 3.0) == 0.0
    assert points_of([result("inf")], 3.0) == 0.0


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
