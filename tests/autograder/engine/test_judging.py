"""The whole record of an exercise, for each way in which its two cells can end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from autograder.engine.outcomes import TABLE_KEY, CellOutcome, Failure, FailureCause
from autograder.engine.plan import CellKind, Step
from autograder.engine.scoring import judge
from autograder.lessons.model import Exercise
from autograder.records.model import CheckRecord, ExerciseRecord, Status
from autograder.records.runner import HANDED_IN_EMPTY

TOTAL = Exercise("total", "Total", 3.0, "total", "x", "test-total", "x")
ANSWER = Step(0, CellKind.RUN, "x", "total")
TEST = Step(1, CellKind.TEST, "x", "test-total", 3.0)
CHECK = CheckRecord("values", False, misconception="m")
SLOW = Failure(FailureCause.TIMEOUT, "ran too long")
DEAD = Failure(FailureCause.CRASHED, "ended the process")


def record(**changes: Any) -> ExerciseRecord:
    """The record of `total` where nothing happened but what is said."""
    return structs.replace(ExerciseRecord("total", Status.GRADED, 0.0, 3.0), **changes)


def points(text: str, **table: Any) -> dict[str, Any]:
    """The output of a test cell that ends in these points, with a check table."""
    about = {"exercise": "total", "status": "graded", "score": 0.0, "max": 3.0, "checks": []}
    metadata = {TABLE_KEY: about | table} if table else {}
    data = {"text/plain": text}
    return {"output_type": "execute_result", "data": data, "metadata": metadata}


def judged(
    answer: CellOutcome, test: CellOutcome | None, step: Step = TEST, missing: str = ""
) -> Any:
    """What is judged of the two cells."""
    shown = {0: answer} | ({} if test is None else {1: test})
    return judge(TOTAL, (ANSWER, step), shown, frozenset({missing}))


def test_a_test_cell_gives_points_checks_and_whether_it_was_attempted() -> None:
    ended = CellOutcome(outputs=(points("2.0", checks=[structs.asdict(CHECK)]),))
    assert judged(CellOutcome(), ended) == record(score=2.0, checks=(CHECK,))
    untouched = CellOutcome(outputs=(points("0.0", status="not attempted"),))
    assert judged(CellOutcome(), untouched) == record(attempted=False)
    assert judged(CellOutcome(), CellOutcome(outputs=(points("2.0"),))) == record(score=2.0)


@pytest.mark.parametrize(
    ("source", "error", "attempted"),
    [
        ("def total(x", "SyntaxError", True),
        ("def total(x", "NotImplementedError", False),
        ("def total(x", None, False),
        (TOTAL.stub, "NameError", False),
    ],
)
def test_an_answer_that_ends_in_an_error_was_attempted_where_somebody_wrote_it(
    source: str, error: str | None, attempted: bool
) -> None:
    untouched = CellOutcome(outputs=(points("0.0", status="not attempted"),))
    steps = (replace(ANSWER, source=source), TEST)
    found = judge(TOTAL, steps, {0: CellOutcome(error=error), 1: untouched}, frozenset())
    assert found == record(attempted=attempted)


def test_a_test_cell_that_ran_beside_the_answer_is_not_isolated() -> None:
    beside = replace(TEST, kind=CellKind.RUN)
    assert judged(CellOutcome(), CellOutcome(), beside) == record(score=3.0, isolated=False)
    note = ("Its test ran too long.",)
    assert judged(CellOutcome(), CellOutcome(failure=SLOW), beside) == record(
        status=Status.TIMEOUT, notes=note, isolated=False
    )
    assert judged(CellOutcome(), CellOutcome(failure=SLOW)) == record(
        status=Status.TIMEOUT, notes=note
    )


@pytest.mark.parametrize("steps", [(ANSWER, TEST), (ANSWER,)])
@pytest.mark.parametrize(
    ("answer", "status"),
    [(CellOutcome(), Status.INFRASTRUCTURE), (CellOutcome(failure=DEAD), Status.CRASHED)],
)
def test_a_test_cell_that_was_not_reached_has_the_status_of_what_came_before(
    steps: tuple[Step, ...], answer: CellOutcome, status: Status
) -> None:
    found = judge(TOTAL, steps, {0: answer}, frozenset())
    assert found == record(status=status, notes=("Its test cell was not reached.",))


def test_an_answer_cell_that_was_not_shown_or_is_not_there_costs_nothing() -> None:
    ended = CellOutcome(outputs=(points("3.0"),))
    assert judge(TOTAL, (ANSWER, TEST), {1: ended}, frozenset()) == record(score=3.0)
    assert judge(TOTAL, (TEST,), {1: ended}, frozenset()) == record(score=3.0)


def test_an_error_is_told_only_where_no_table_tells_more() -> None:
    error = {"output_type": "error", "ename": "E", "evalue": "", "traceback": []}
    alone = CellOutcome(outputs=(error,), error="NameError")
    assert judged(CellOutcome(), alone) == record(notes=("The test cell ended in NameError.",))
    table = CellOutcome(
        outputs=(points("0.0", checks=[structs.asdict(CHECK)]), error), error="NameError"
    )
    assert judged(CellOutcome(), table) == record(checks=(CHECK,))


def test_a_table_that_cannot_be_read_is_named_and_the_points_stand() -> None:
    found = judged(CellOutcome(), CellOutcome(outputs=(points("1.0", score="many"),)))
    (note,) = found.notes
    assert note.startswith("The check table of total cannot be read: check table.score: Expected")
    assert structs.replace(found, notes=()) == record(score=1.0)


def test_a_lack_of_memory_is_told_of_the_cell_that_met_it() -> None:
    lacking = CellOutcome(outputs=(points("1.0"),), memory_error=True)
    enough, less = CellOutcome(outputs=(points("3.0"),)), CellOutcome(outputs=(points("1.0"),))
    call = "A call asked for more memory than a submission may take."
    cell = "Your cell asked for more memory than a submission may take."
    short = record(status=Status.OUT_OF_MEMORY, score=1.0)
    assert judged(CellOutcome(), lacking) == structs.replace(short, notes=(call,))
    assert judged(CellOutcome(memory_error=True), less) == structs.replace(short, notes=(cell,))
    assert judged(CellOutcome(memory_error=True), lacking) == structs.replace(short, notes=(call,))
    assert judged(CellOutcome(memory_error=True), enough) == record(score=3.0)
    assert judged(CellOutcome(), replace(enough, memory_error=True)) == record(score=3.0)


def test_a_lost_answer_was_attempted_and_its_test_keeps_a_status_of_its_own() -> None:
    untouched = CellOutcome(outputs=(points("0.0", status="not attempted"),))
    left_out = "Your cell ended the process, so it was left out."
    found = judged(CellOutcome(failure=DEAD), untouched)
    assert found == record(status=Status.CRASHED, notes=(left_out,))
    found = judged(CellOutcome(failure=DEAD), CellOutcome(failure=SLOW))
    assert found == record(status=Status.TIMEOUT, notes=(left_out, "Its test ran too long."))


def test_a_cell_that_was_not_handed_in_was_not_attempted() -> None:
    ended = CellOutcome(outputs=(points("3.0"),))
    assert judged(CellOutcome(), ended, missing="total") == record(score=3.0, attempted=False)
    assert judged(CellOutcome(), ended, missing="other") == record(score=3.0)


@pytest.mark.parametrize(
    ("source", "at_cell", "expected"),
    [
        ("My own words.", CellOutcome(), {"notes": ("A person grades this answer.",)}),
        ("YOUR ANSWER HERE", CellOutcome(), {"attempted": False}),
        (" YOUR \n ANSWER  HERE ", CellOutcome(), {"attempted": False}),
        (" \n", CellOutcome(), {"notes": (HANDED_IN_EMPTY,)}),
        (
            "def f(): ...",
            CellOutcome(failure=DEAD),
            {
                "status": Status.CRASHED,
                "notes": ("Your cell ended the process.", "A person grades this answer."),
            },
        ),
    ],
)
def test_an_answer_that_a_person_grades_has_no_points_yet(
    source: str, at_cell: CellOutcome, expected: dict[str, Any]
) -> None:
    question = replace(TOTAL, answer_source="the model answer", manual=True)
    step = replace(ANSWER, source=source)
    found = judge(question, (step, TEST), {0: at_cell}, frozenset())
    assert found == record(manual=True, **expected)
