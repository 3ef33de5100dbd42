"""A check that is misspelt or lacks an argument is named before any answer is tried."""

from __future__ import annotations

import ast

import pytest

from autograder.lessons.lint.check_calls import OF_EVERY_CHECK, check_slips
from course.testing import check_log


def slips(line: str, check: str = 'check = Check("flatten")') -> list[str]:
    """What is found in a test cell of `flatten` with this line."""
    tree = ast.parse(f"{check}\nseen = ask(1)\n{line}\ncheck.score(2)")
    return [f"{cause} | {cure}" for _, cause, cure in check_slips("test-flatten", "flatten", tree)]


@pytest.mark.parametrize(
    "line",
    [
        "check.equal(seen.result, 1)",
        'check.equal(seen.result, expected=1, name="n", misconception="m", weight=2, guard=True)',
        'check.uses(seen, "reshape", "view", message="m")',
        "check.equal(*both)",
        "check.equal(seen.result, **more)",
        "other.nonsense(1, 2, 3)",
        "check.exercise",
    ],
)
def test_a_call_that_can_be_made_is_let_alone(line: str) -> None:
    assert slips(line) == []


def test_a_misspelt_check_names_the_one_that_was_meant() -> None:
    assert slips("check.unchange(seen)") == [
        "line 3: no check is called 'unchange'. Did you mean unchanged? | "
        "docs/authoring.md lists the checks."
    ]


def test_a_misspelt_argument_names_the_one_that_was_meant() -> None:
    assert slips('check.equal(seen.result, 1, nmae="n")') == [
        "line 3: check.equal takes no 'nmae'. Did you mean name? | "
        "It takes actual, expected, allow, name, message, misconception, weight, guard."
    ]


def test_an_argument_that_is_missing_is_named() -> None:
    (found,) = slips("check.equal(seen.result)")
    assert found.startswith("line 3: check.equal: missing a required argument: 'expected' |")


def test_an_argument_too_many_is_found() -> None:
    (found,) = slips("check.runs(seen, 1)")
    assert found.startswith("line 3: check.runs: too many positional arguments |")


def test_a_check_under_another_name_is_looked_at_as_well() -> None:
    (found,) = slips("table.unchange(seen)", 'table = check = Check("flatten")')
    assert found.startswith("line 3: no check is called 'unchange'.")


def test_the_checks_of_another_exercise_are_found() -> None:
    assert slips("check.runs(seen)", 'check = Check("double")') == [
        "line 1: it begins the checks of 'double' | "
        'Write Check("flatten"): table and progress of a learner go by this name.'
    ]


def test_what_every_check_takes_is_what_the_log_knows() -> None:
    assert OF_EVERY_CHECK == check_log._KNOWN
