"""The precision explorer: what becomes of a typed number, and its neighbours."""

from __future__ import annotations

import math

import pytest
import torch

from course.lessons.tensors import explore_bits
from course.lessons.tensors.bits_explorer import (
    WAYS_STORED,
    BitsPanel,
    NumberError,
    neighbour,
    parse_number,
    way_stored,
)
from course.lessons.tensors.stored_numbers import STORABLE, stored

EXACT, ROUNDED, OTHER = WAYS_STORED


def panel(number: str, dtype: str, guess: str = EXACT) -> BitsPanel:
    """A panel in which this was typed and predicted, and the button pressed."""
    made = explore_bits().panel
    made.number.value, made.dtype.value, made.guess.value = number, dtype, guess
    made.store.click()
    return made


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0.1", 0.1),
        ("-1", -1),
        ("2**24 + 1", 2**24 + 1),
        ("1/4", 0.25),
        ("-inf", -math.inf),
        ("True", True),
        ("(1 + 2) * 3 - 4", 5),
        ("1e-40", 1e-40),
    ],
)
def test_a_number_is_read_as_python_reads_it(text: str, number: float) -> None:
    read = parse_number(text)
    assert (read, type(read)) == (number, type(number))


@pytest.mark.parametrize(
    "text", ["", "x", "1/0", "10**30", "9**9**9", "'a'", "1j", "(-1)**0.5", "print(1)", "0 or 1"]
)
def test_what_is_no_number_is_refused_in_words(text: str) -> None:
    with pytest.raises(NumberError, match=r"\.$"):
        parse_number(text)


@pytest.mark.parametrize(
    ("number", "dtype", "expected"),
    [
        (0.5, torch.float16, EXACT),
        (0.1, torch.float64, ROUNDED),
        (2**24 + 1, torch.float32, ROUNDED),
        (2.9, torch.int8, ROUNDED),
        (1e-50, torch.float32, ROUNDED),
        (300, torch.uint8, OTHER),
        (70000, torch.float16, OTHER),
        (300.5, torch.uint8, OTHER),
        (2, torch.bool, OTHER),
        (math.nan, torch.bfloat16, EXACT),
        (math.inf, torch.float16, EXACT),
    ],
)
def test_what_becomes_of_a_number(number: float, dtype: torch.dtype, expected: str) -> None:
    assert way_stored(number, stored(number, dtype)) == expected


@pytest.mark.parametrize("dtype", STORABLE, ids=str)
def test_between_a_number_and_its_neighbour_the_dtype_has_no_other(dtype: torch.dtype) -> None:
    here = stored(1, dtype)
    below = neighbour(here, -1)
    assert below < 1
    assert stored(below, dtype).value == below
    assert neighbour(stored(below, dtype), 1) == 1
    middle = (below + 1) / 2
    if dtype.is_floating_point and dtype is not torch.float64:
        assert stored(middle, dtype).value in (below, 1)


def test_a_prediction_comes_first_and_nothing_can_be_stepped_before() -> None:
    made = explore_bits().panel
    made.store.click()
    assert "Predict first" in made.result.value
    assert made.up.disabled
    assert made.down.disabled


def test_right_and_wrong_predictions_are_told_with_the_bits() -> None:
    assert f"✗ You predicted “{EXACT}”; it holds {OTHER}." in panel("300", "uint8").result.value
    right = panel("300", "uint8", OTHER)
    assert f"✓ As you predicted, it holds {OTHER}." in right.result.value
    assert "300 in int64" in right.result.value
    assert "stored: 44, off by -256" in right.result.value


@pytest.mark.exhaustive("whole notebooks and trainings")
def test_steps_go_through_the_numbers_that_the_dtype_has() -> None:
    made = panel("2**24", "float32")
    made.up.click()
    assert made.number.value == "16777218.0"
    made.down.click()
    made.down.click()
    assert made.number.value == "16777215.0"
    assert "The next number down is 16777215.0." in made.result.value


def test_the_last_number_says_so() -> None:
    made = panel("255", "uint8")
    made.up.click()
    assert "255 is the last number that uint8 has." in made.result.value


def test_another_number_begins_a_new_prediction() -> None:
    made = panel("300", "uint8")
    made.number.value = "301"
    assert (made.guess.value, made.up.disabled) == ("choose …", True)
    assert "What will uint8 hold of 301?" in made.result.value
    assert "301 in int64" in made.result.value


def test_the_question_does_not_show_what_it_asks_for() -> None:
    made = explore_bits(0.5, torch.float64).panel
    assert "What will float64 hold of 0.5?" in made.result.value
    assert "<figure" not in made.result.value
    made.dtype.value = "float16"
    assert "0.5 in float64" in made.result.value
    assert "in float16" not in made.result.value


def test_what_cannot_be_read_is_told_and_nothing_can_be_stepped() -> None:
    made = panel("abc", "uint8")
    assert "can&#x27;t be stored" in made.result.value
    assert made.up.disabled


def test_without_a_front_end_it_is_the_bits() -> None:
    explorer = explore_bits(300, torch.uint8)
    assert "300 in uint8: 00101100" in repr(explorer)
    assert "<figure" in explorer._repr_html_()
