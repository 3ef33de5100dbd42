"""A test cell that ends with its first failed check."""

from __future__ import annotations

from typing import Any

import pytest

from autograder.answer_bank.mutation.first_failure import until_first_failure, without_beliefs
from course import Check

CELL = """
check = Check("sums")
check.that(first, name="the first")
ran.append("between")
### BEGIN HIDDEN TESTS
for number in range(2):
    check.that(second, name="the second", misconception={"a-belief": lambda: ran.append("belief")})
ran.append("after")
check.that(lambda: ran.append("third") or True, name="the third")
### END HIDDEN TESTS
check.score(4)
"""


def run(source: str, first: bool = True, second: bool = True) -> tuple[list[str], Any]:
    """What ran, and the check of the cell."""
    names: dict[str, Any] = {"Check": Check, "ran": [], "first": first, "second": second}
    exec(source, names)
    return names["ran"], names["check"].result(4.0)


def test_a_cell_whose_checks_all_hold_runs_to_its_end_and_gives_the_same_points() -> None:
    ran, result = run(until_first_failure(CELL))
    assert (ran, result.score) == (["between", "after", "third"], 4.0)
    assert result.score == run(CELL)[1].score


def test_after_a_failed_check_nothing_runs_but_the_score() -> None:
    ran, result = run(until_first_failure(CELL), first=False)
    assert (ran, [one.name for one in result.checks]) == ([], ["the first"])
    assert result.score == 0


def test_a_loop_that_fails_is_the_last_to_run_and_no_belief_is_tried() -> None:
    ran, result = run(until_first_failure(CELL), second=False)
    assert ran == ["between"]
    assert [one.passed for one in result.checks] == [True, False, False]
    assert "belief" in run(CELL, second=False)[0]


@pytest.mark.parametrize(
    "source",
    [
        "assert answer == 3",
        "check = Check('x')\ncheck.that(True)",
        "def broken(:",
        "check.score(1)",
    ],
)
def test_a_cell_of_another_form_comes_back_as_it_is(source: str) -> None:
    assert until_first_failure(source) == source


def test_more_checks_than_python_can_nest_are_left_as_they_are() -> None:
    check = "check.that(True)\n"
    deep = f"check = Check('x')\n{80 * check}check.score(1)"
    assert until_first_failure(deep) == deep
    most = f"check = Check('x')\n{79 * check}check.score(1)"
    compile(until_first_failure(most), "cell", "exec")


def test_a_helper_of_the_cell_keeps_the_belief_that_it_is_given() -> None:
    cell = """
check = Check("sums")
def check_sum(right, misconception):
    check.that(right, name="a sum", misconception=misconception)
check_sum(first, misconception={"a-belief": lambda: ran.append("belief")})
check.score(4)
"""
    assert run(until_first_failure(cell))[1].score == 4.0
    ran, result = run(until_first_failure(cell), first=False)
    assert (ran, result.score) == ([], 0.0)


def test_without_beliefs_every_check_runs_and_gives_the_same_points() -> None:
    ran, result = run(without_beliefs(CELL), second=False)
    assert ran == ["between", "after", "third"]
    assert result.score == run(CELL, second=False)[1].score


def test_without_beliefs_what_is_hidden_stays_hidden() -> None:
    found = without_beliefs(CELL)
    before, begin, rest = found.partition("### BEGIN HIDDEN TESTS")
    inside, end, behind = rest.partition("### END HIDDEN TESTS")
    assert begin and end and "the first" in before and "score" in behind
    assert "the second" in inside and "the third" in inside and "belief" not in found


@pytest.mark.parametrize("source", ["assert answer == 3", "def broken(:"])
def test_a_cell_without_a_check_keeps_its_text(source: str) -> None:
    assert without_beliefs(source) == source
