"""Answers that do no work are tried on every exercise, and get a fifth of its points at most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from autograder.answer_bank.bank import parse_bank
from autograder.answer_bank.constant_answers import MOST_SHARE, NAMES, constant_answer
from autograder.answer_bank.expectations import Case
from autograder.answer_bank.gate import Gate, GateReport, lesson_gate, run_gates
from autograder.answer_bank.notebook_runner import AnswerRunResult
from autograder.errors import BankError
from autograder.lessons.model import Exercise, find_lesson
from autograder.records.model import CheckRecord, ExerciseRecord, Status
from tests.autograder import tiny

SOLUTION = """\
from contextlib import contextmanager

HELP = 3


def double(x, *, by=2):
    return by * x


def pairs(items):
    for item in items:
        yield item, item


@contextmanager
def opened(path):
    yield path.lower()


class Box(dict):
    def __init__(self, size):
        self.size = size

    def __iter__(self):
        return iter([self.size])

    def grown(self, by):
        return self.size + by

    @staticmethod
    def of(size):
        return Box(size)


limit = 40
"""
ASKED = ("double", "pairs", "opened", "Box", "limit")


def answered(name: str) -> dict[str, Any]:
    """What the constant called `name` makes of every form of answer."""
    test = "\n".join(f'answer("{one}")' for one in ASKED)
    made: dict[str, Any] = {}
    exec(constant_answer(Exercise("x", "X", 1.0, "x", SOLUTION, "test-x", test), name), made)
    return made


def test_there_are_fourteen_of_them() -> None:
    assert len(NAMES) == len(set(NAMES)) == 14


def test_arguments_are_copied_or_called_where_there_is_one_to_call() -> None:
    given = [1, 2]
    (copied, *_) = answered("copied arguments")["double"](given)
    assert copied == given and copied is not given
    called = answered("a call of an argument")["double"]
    assert called(lambda: "called") == "called"
    with pytest.raises(StopIteration):
        called(3)


def test_by_heart_is_what_the_visible_checks_ask_directly_or_by_a_probe_and_nothing_else() -> None:
    solution = "def double(x, *, by=2):\n    return by * x"
    test = """
double = answer("double")
check = Check("double")
seen = double(3)
check.equal(seen.result, 6)
@probe
def twice(f, x):
    return f(x, by=4), f(x, by=5)
twice(double, torch.ones(1))
### BEGIN HIDDEN TESTS
double(4)
### END HIDDEN TESTS
check.score(1)
"""
    exercise = Exercise("double", "X", 1.0, "double", solution, "test-double", test)
    made: dict[str, Any] = {"torch": torch}
    exec(constant_answer(exercise, "by heart"), made)
    double = made["double"]
    assert (double(3), double(torch.ones(1), by=5)) == (6, torch.tensor([5.0]))
    assert [double(4), double(3.0), double(torch.ones(1), by=6), double(object())] == [None] * 4


def test_every_constant_defines_what_is_asked_for_and_nothing_of_the_solution() -> None:
    for name in NAMES:
        assert set(ASKED) <= answered(name).keys() and "HELP" not in answered(name)


@pytest.mark.parametrize(("name", "value"), [("0", 0), ("False", False), ("empty list", [])])
def test_a_constant_comes_from_functions_methods_generators_and_blocks(
    name: str, value: Any
) -> None:
    made = answered(name)
    assert made["double"](3, by=1) == made["Box"](3).grown(1) == made["Box"].of(1) == value
    assert list(made["pairs"]([1, 2])) == list(made["Box"](3)) == [value]
    with made["opened"]("A") as found:
        assert found == made["limit"] == value


def test_the_first_argument_comes_back_and_self_is_none() -> None:
    made = answered("first argument")
    assert (made["double"](3), made["Box"](1).grown(7), made["Box"].of(8)) == (3, 7, 8)
    assert list(made["pairs"]("ab")) == ["ab"]


def test_an_empty_body_yields_nothing_and_keeps_the_base_class() -> None:
    made = answered("empty body")
    assert (made["double"](3), list(made["pairs"]([1])), made["limit"]) == (None, [], None)
    assert list(made["Box"]()) == []
    with made["opened"]("A") as found:
        assert found is None


def test_an_error_is_raised_by_everything_also_by_making_an_object() -> None:
    made = answered("error")
    for run in (lambda: made["double"](1), lambda: made["Box"](1), lambda: made["Box"].of(1)):
        with pytest.raises(ValueError, match="no"):
            run()


def test_a_tensor_and_an_object_that_takes_everything_are_among_them() -> None:
    assert torch.equal(answered("empty tensor")["double"](1), torch.empty(0))
    assert answered("anything")["double"](1).whatever(2)[3] is not None


# The gate.


@pytest.fixture
def course(tmp_path: Path) -> Path:
    return tiny.build(tmp_path)


def gate_of(course: Path, more: str = "") -> Gate:
    bank = course / "autograder/answers/01-tiny.py"
    bank.write_text(tiny.BANK + more)
    return lesson_gate(course, find_lesson(course, "1"))


def giving(share: float, name: str = "False") -> Any:
    """A runner that gives this share to one constant, nothing to the others, all to the rest."""

    def points(case: Case) -> float:
        if case.kind != "constant":
            return case.exercise.points
        return share * case.exercise.points if case.title == name else 0.0

    def run(cases: Sequence[Case]) -> list[AnswerRunResult]:
        held = (CheckRecord("it shares", True), CheckRecord("it copies", False))
        records = [
            ExerciseRecord(c.exercise.name, Status.GRADED, points(c), c.exercise.points, held)
            for c in cases
        ]
        return [AnswerRunResult("finished", one.score, one) for one in records]

    return run


def about_constants(report: GateReport) -> list[str]:
    return [m.reason for e in report.exercises for m in e.misses if m.kind == "constant"]


def test_each_constant_is_tried_on_each_exercise(course: Path) -> None:
    tried = [c.title for c in gate_of(course).cases if c.kind == "constant"]
    assert tried == [*NAMES, *NAMES]


def test_a_constant_with_more_than_a_fifth_is_refused_with_the_checks_that_hold(
    course: Path,
) -> None:
    reasons = about_constants(run_gates([gate_of(course)], giving(0.25)))
    assert reasons[0].startswith(
        "it does no work and gets 1 of 4; 20% are the most. These checks hold: it shares. Say"
    )
    assert about_constants(run_gates([gate_of(course)], giving(MOST_SHARE))) == []


def test_the_summary_names_the_largest_share_its_exercise_and_its_constant(course: Path) -> None:
    report = run_gates([gate_of(course)], giving(0.125))
    assert report.constants == "constant answers: most 12 % (flatten, False)"
    assert report.to_json()["constants"] == report.constants
    nothing = run_gates([gate_of(course)], giving(0.0))
    assert nothing.constants == "constant answers: none gets a point"


EXCUSE = "\n# %% constant flatten: half of all tensors may be viewed\n"


def test_an_exception_in_the_bank_gives_its_reason_and_is_taken_back_when_needless(
    course: Path,
) -> None:
    gate = gate_of(course, EXCUSE)
    assert about_constants(run_gates([gate], giving(0.5)))[0].endswith(
        "`# %% constant double: why` in the bank"
    )
    needless = run_gates([gate], giving(0.1)).exercises[0].misses[-1]
    assert needless.reason == "no constant gets more than 20%: remove it"
    assert needless.title == "half of all tensors may be viewed"


def test_an_exception_is_a_heading_alone() -> None:
    (one,) = parse_bank(EXCUSE, Path("bank.py"))
    assert (one.kind, one.exercise, one.source) == ("constant", "flatten", "")
    with pytest.raises(BankError, match="the exception for 'flatten' holds code"):
        parse_bank(EXCUSE + "x = 1", Path("bank.py"))
    with pytest.raises(BankError, match="has no title"):
        parse_bank("# %% constant flatten:", Path("bank.py"))


def test_a_constant_that_never_ends_got_nothing_once_it_ran_alone(course: Path) -> None:
    def endless(cases: Sequence[Case]) -> list[AnswerRunResult]:
        lost = replace(giving(0.0)(cases[:1])[0], ended="timeout", record=None, points=0.0)
        found = zip(cases, giving(0.0)(cases), strict=True)
        return [lost if case.kind == "constant" else one for case, one in found]

    again: list[str] = []

    def alone(cases: Sequence[Case]) -> list[AnswerRunResult]:
        again.extend(case.kind for case in cases if case.kind == "constant")
        return endless(cases)

    assert about_constants(run_gates([gate_of(course)], endless, run_alone=alone)) == []
    assert len(again) == 2 * len(NAMES)
