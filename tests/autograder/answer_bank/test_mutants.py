"""A mutant is killed, stands in the bank, or is a miss with its line and what is different."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from autograder.answer_bank.bank import parse_bank
from autograder.answer_bank.expectations import Case
from autograder.answer_bank.gate import Gate, lesson_gate
from autograder.answer_bank.mutants import MutantReport, Plan, plan_mutants, run_mutants
from autograder.answer_bank.notebook_runner import AnswerRunResult
from autograder.cli.main import main
from autograder.errors import UsageError
from autograder.lessons.model import find_lesson
from autograder.records.model import CheckRecord, ExerciseRecord, Status
from tests.autograder import tiny

IN_PLACE = "# %% same double: the sum is the product\ndef double(x):\n    return x + 2\n"
DIVIDES = "# %% same double: nobody asks\ndef double(x):\n    return x / 2\n"


@pytest.fixture
def course(tmp_path: Path) -> Path:
    return tiny.build(tmp_path)


@pytest.fixture
def gate(course: Path) -> Gate:
    return lesson_gate(course, find_lesson(course, "1"))


def with_bank(gate: Gate, text: str) -> Gate:
    return replace(gate, answers=parse_bank(text, Path("bank.py")))


@dataclass
class Grader:
    """Gives all points to the solution and to every answer in which one of the words stands."""

    passing: tuple[str, ...] = ()
    ended: str = "finished"
    solution: bool = True
    asked: int = 0

    def __call__(self, cases: Sequence[Case]) -> list[AnswerRunResult]:
        self.asked += len(cases)
        return [self._result(case) for case in cases]

    def _result(self, case: Case) -> AnswerRunResult:
        full = self.solution if case.kind == "solution" else self._passes(case)
        most = case.exercise.points
        check = CheckRecord("a check", full)
        record = ExerciseRecord(
            case.exercise.name, Status.GRADED, most if full else 0.0, most, (check,)
        )
        if full or self.ended == "finished":
            return AnswerRunResult("finished", record.score, record)
        return AnswerRunResult(self.ended, 0.0, None)  # type: ignore[arg-type]

    def _passes(self, case: Case) -> bool:
        return any(word in case.source for word in self.passing)


def doubled(gate: Gate, most: int | None = None) -> list[Plan]:
    return plan_mutants([gate], exercise="double", most=most)


def report(gate: Gate, *passing: str, **how: object) -> MutantReport:
    return run_mutants(doubled(gate), Grader(passing, **how))  # type: ignore[arg-type]


def test_where_no_mutant_gets_all_points_all_are_killed(gate: Gate) -> None:
    found = report(gate)
    count = len(doubled(gate)[0].tried)
    assert found.ok
    assert found.closing == f"mutants killed {count}/{count} · same 0"


def test_a_mutant_that_gets_all_points_is_a_miss_with_line_and_diff(gate: Gate) -> None:
    found = report(gate, "x + 2")
    (survivor,) = found.exercises[0].survivors
    assert not found.ok
    assert (survivor.line, survivor.words) == (4, "`x * 2` became `x + 2`")
    assert survivor.diff == ("-    return x * 2", "+    return x + 2")
    assert "cell double, line 4: `x * 2` became `x + 2`" in "\n".join(found.lines())


def test_a_survivor_that_stands_in_the_bank_as_the_same_is_accepted(gate: Gate) -> None:
    every = len(doubled(gate)[0].tried)
    found = report(with_bank(gate, IN_PLACE), "x + 2")
    assert found.ok
    assert found.closing == f"mutants killed {every - 1}/{every - 1} · same 1"


def test_a_mutant_that_is_a_right_answer_of_the_bank_is_the_same(gate: Gate) -> None:
    right = IN_PLACE.replace("same", "right")
    found = report(with_bank(gate, right), "x + 2")
    assert found.closing.endswith("same 1")


def test_what_the_bank_calls_the_same_must_get_all_points(gate: Gate) -> None:
    found = report(with_bank(gate, DIVIDES))
    (miss,) = found.exercises[0].misses
    assert (miss.kind, miss.title, found.ok) == ("same", "nobody asks", False)
    assert miss.reason.startswith("it gets 0 of 2")
    assert found.closing.endswith("same 0")


def test_an_entry_that_no_mutant_is_like_is_stale(gate: Gate) -> None:
    stale = "# %% same double: long ago\ndef double(x):\n    return 2 * x * 1\n"
    found = report(with_bank(gate, stale))
    assert [one.reason for one in found.exercises[0].misses] == [
        "no change to the solution gives this: remove it"
    ]
    assert found.closing.endswith("same 0")


def test_where_the_solution_loses_points_nothing_is_said_of_its_mutants(gate: Gate) -> None:
    found = report(gate, "x + 2", solution=False)
    (one,) = found.exercises
    assert ([miss.kind for miss in one.misses], one.survivors) == (["solution"], ())
    assert one.killed[0] == 0
    assert not found.ok


@pytest.mark.parametrize("ended", ["timeout", "died"])
def test_a_mutant_that_hangs_or_ends_its_process_is_killed_when_it_does_so_alone(
    gate: Gate, ended: str
) -> None:
    alone = Grader(ended=ended)
    found = run_mutants(doubled(gate), Grader(ended=ended), run_alone=alone)
    assert found.ok
    assert alone.asked == len(doubled(gate)[0].tried)


def test_a_mutant_that_was_ended_by_another_one_survives_alone(gate: Gate) -> None:
    found = run_mutants(doubled(gate), Grader(ended="died"), run_alone=Grader(("x + 2",)))
    assert [one.words for one in found.exercises[0].survivors] == ["`x * 2` became `x + 2`"]


def test_a_mutant_that_survives_beside_another_one_is_tried_again_alone(gate: Gate) -> None:
    alone = Grader()
    found = run_mutants(doubled(gate), Grader(("x + 2",)), run_alone=alone)
    assert found.ok
    assert alone.asked == 1


def test_most_draws_the_same_mutants_each_time(gate: Gate) -> None:
    first, again = doubled(gate, most=3)[0], doubled(gate, most=3)[0]
    assert len(first.tried) == 3
    assert [mutant for mutant, _ in first.tried] == [mutant for mutant, _ in again.tried]


def test_an_exercise_that_does_not_exist_is_refused_with_the_nearest_name(gate: Gate) -> None:
    with pytest.raises(UsageError, match="no exercise 'dubble' to change"):
        plan_mutants([gate], exercise="dubble")


def command(course: Path, *words: str) -> int:
    return main(["mutants", *words, "--runner", "notebook", "--course", str(course)])


def ask_of_twos_alone(course: Path) -> None:
    """Let `double` be tested where twice and plus two are the same."""
    notebook = tiny.notebook()
    (cell,) = (one for one in notebook["cells"] if one["id"] == "test-double")
    twos = tiny.TEST_DOUBLE.replace("torch.arange(3.0)", "torch.full((3,), 2.0)")
    cell["source"] = twos.replace("[0.0, 2.0, 4.0]", "[4.0, 4.0, 4.0]")
    tiny.write(course, notebook)


@pytest.mark.exhaustive("whole runs of the gate")
def test_the_command_ends_with_0_where_every_change_is_noticed(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(course, "1") == 0
    first, flatten, double, closing = capsys.readouterr().out.splitlines()
    assert (first, flatten.split()[:2], double.split()[:2]) == (
        *("01-tiny", ["✓", "flatten"]),
        ["✓", "double"],
    )
    assert closing == "mutants killed 6/6 · same 0"


def test_the_command_names_each_survivor_and_ends_with_1(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ask_of_twos_alone(course)
    assert command(course, "--exercise", "double") == 1
    out = capsys.readouterr().out.splitlines()
    assert out[1] == "  ✗ double  killed 3/4 · same 0"
    assert out[2].endswith("cell double, line 4: `x * 2` became `x + 2`")
    assert out[3:5] == ["          -    return x * 2", "          +    return x + 2"]
    assert out[5].startswith("A survivor needs a check that sees it")
    assert out[6:] == ["mutants killed 3/4 · same 0"]


@pytest.mark.exhaustive("mutants as JSON")
def test_the_command_speaks_json_with_the_source_of_a_survivor(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ask_of_twos_alone(course)
    command(course, "1", "--json", "--exercise", "double")
    found = json.loads(capsys.readouterr().out)
    (survivor,) = found["exercises"][0]["survivors"]
    assert (found["ok"], survivor["line"]) == (False, 4)
    assert survivor["source"].startswith("def double(x):")
