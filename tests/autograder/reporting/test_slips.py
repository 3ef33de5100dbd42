"""A slip of the pen in several exercises is told once, above all of them."""

from __future__ import annotations

import pytest
import torch

from autograder.records.model import CheckRecord, ExerciseRecord
from autograder.reporting.slips import repeated_slips
from course.testing.compare import difference
from tests.autograder.classroom import double, flatten


def failing(message: str, **about: bool) -> tuple[ExerciseRecord, ExerciseRecord]:
    """Two exercises, of which a check failed with this message."""
    checks = (CheckRecord("it is right", False, message=message, **about),)
    return flatten(0, checks=checks), double(0, checks=checks)


def told(mine: object, wanted: object) -> str:
    """What a check says of a value where another one is expected."""
    found = difference(mine, wanted)
    assert found is not None
    return f"the result of `f`: {found}"


@pytest.mark.parametrize(
    ("message", "begins"),
    [
        (told(torch.tensor(2.0), 2.0), "A tensor stands"),
        (told([1.0, torch.tensor(2)], [1.0, 2]), "A tensor stands"),
        (told([1], (1,)), "A list stands"),
        (told(3.0, 3), "An int stands"),
        ("`f` gives None each time it is called. Is there a `return` missing?", "A function"),
        ("`f` ended with NameError: name 'tensr' is not defined", "A name"),
        ("`f` ended with AttributeError: module 'torch' has no attribute 'sun'", "A name"),
    ],
)
def test_a_slip_in_two_exercises_is_told(message: str, begins: str) -> None:
    (slip,) = repeated_slips(failing(message))
    assert slip.title.startswith(begins) and slip.exercises == ("flatten", "double")


@pytest.mark.parametrize("message", [told(2.0, 3.0), told((1,), (1, 2)), told("a", "b")])
def test_a_wrong_value_is_no_slip(message: str) -> None:
    assert repeated_slips(failing(message)) == ()


def test_what_one_exercise_has_alone_stands_in_its_own_table() -> None:
    assert repeated_slips(failing(told([1], (1,)))[:1]) == ()


def test_what_was_not_reached_tells_of_nothing() -> None:
    assert repeated_slips(failing(told([1], (1,)), reached=False)) == ()
