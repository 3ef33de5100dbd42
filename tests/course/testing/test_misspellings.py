"""A misspelt name is told as what it is, and shows nothing that its author believes."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from course import Check, answer, probe
from course.inspection.error_origin import is_misspelt
from course.testing.misspellings import tells_of_misspelling
from tests.course.testing.test_checks import checked_of


@probe
def caught(function: Any) -> str:
    """What a probe tells that catches whatever its function raises."""
    try:
        return str(function(torch.ones(2)))
    except Exception as error:
        return type(error).__name__


def unknown(x: Any) -> Any:
    return no_such_name + x  # type: ignore[name-defined]  # noqa: F821


def of_torch(x: Any) -> Any:
    return torch.no_such_function(x)


def of_a_tensor(x: Any) -> Any:
    return x.no_such_method()


def another_error(x: Any) -> Any:
    raise ValueError("wrong")


def ask(check: Check) -> None:
    f = answer("f")
    check.equal(f(torch.ones(2)).result, torch.ones(2), misconception="m")
    check.that(lambda: f(torch.ones(3)).ok, misconception="m")
    check.that(lambda: caught(f).result.plain == "1", misconception="m")


@pytest.mark.parametrize("mine", [unknown, of_torch, of_a_tensor])
def test_a_name_that_does_not_exist_shows_no_belief(mine: Any) -> None:
    found = checked_of(mine, ask)
    assert [one.passed for one in found] == [False] * len(found)
    assert {one.misconception for one in found} == {None}


def test_another_exception_may_show_one() -> None:
    assert "m" in {one.misconception for one in checked_of(another_error, ask)}


def test_a_probe_that_caught_it_counts_too() -> None:
    def through_a_probe(check: Check) -> None:
        check.that(lambda: caught(answer("f")).result.plain == "1", misconception="m")

    assert {one.misconception for one in checked_of(of_torch, through_a_probe)} == {None}
    assert {one.misconception for one in checked_of(another_error, through_a_probe)} == {"m"}


@pytest.mark.parametrize(
    ("kind", "message", "misspelt"),
    [
        ("NameError", "name 'x' is not defined", True),
        ("AttributeError", "module 'torch' has no attribute 'zeroes'", True),
        ("AttributeError", "'Tensor' object has no attribute 'sice'", True),
        ("AttributeError", "'NoneType' object has no attribute 'shape'", False),
        ("AttributeError", "'Linear' object has no attribute 'wieght'", False),
        ("KeyError", "'zeroes'", False),
    ],
)
def test_what_counts_as_misspelt(kind: str, message: str, misspelt: bool) -> None:
    assert is_misspelt(kind, message) == misspelt
    assert tells_of_misspelling(f"{kind}: {message}") == misspelt


def told(mine: Any, belief: Any) -> str | None:
    """The belief that is told where an answer ends so and the belief leads to this exception."""

    def ask(check: Check) -> None:
        check.runs(answer("f")(torch.ones(2)), misconception={"m": belief})

    return checked_of(mine, ask)[0].misconception


def test_a_belief_in_a_class_of_exception_is_not_told_of_a_slip() -> None:
    assert told(lambda x: None.variable, AttributeError) == "m"  # type: ignore[attr-defined]
    assert told(of_torch, AttributeError) is None
    assert told(unknown, NameError) is None


def test_a_belief_may_say_which_name_is_not_there() -> None:
    assert told(unknown, NameError("no_such_name")) == "m"
    assert told(unknown, NameError("data")) is None
    assert told(of_torch, NameError("no_such")) is None
