"""The promotion explorer: its answers are what Python and torch give when the line runs."""

from __future__ import annotations

from itertools import product

import pytest
import torch

from course.lessons.tensors import explore_promotion
from course.lessons.tensors.promotion_explorer import ERROR, OPERATIONS, PromotionPanel, outcome
from course.lessons.tensors.type_promotion import DTYPES, Operand, dtype_name

FEW = [torch.bool, torch.uint8, torch.int64, torch.float16, torch.float32, torch.complex64]


def panel(**choices: str) -> PromotionPanel:
    """A panel after these choices, in this order."""
    made = explore_promotion().panel
    for name, value in choices.items():
        getattr(made, name).value = value
    return made


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("number", [True, 2, 2.5])
def test_the_answer_is_what_the_line_gives(operation: str, number: float) -> None:
    for dtype in FEW:
        left = torch.ones(2, dtype=dtype)
        try:
            expected = dtype_name(OPERATIONS[operation](left, number).dtype)
        except RuntimeError:
            expected = ERROR
        assert outcome(operation, Operand.of(dtype), Operand.of(number)).answer == expected


def test_each_outcome_has_a_reason_that_names_its_dtype_or_its_error() -> None:
    for operation, left, right in product(OPERATIONS, DTYPES, DTYPES):
        seen = outcome(operation, Operand.of(left), Operand.of(right))
        assert seen.why.endswith(".")
        assert bool(seen.message) == (seen.answer == ERROR)


def test_in_place_a_higher_category_is_refused_and_a_lower_one_is_not() -> None:
    whole, floats = Operand.of(torch.int32), Operand.of(torch.float32)
    refused = outcome("left += right", whole, floats)
    assert "nothing is put into a dtype of a lower kind" in refused.why
    assert outcome("left += right", floats, whole).answer == "float32"


def test_a_prediction_comes_first() -> None:
    made = panel()
    made.run.click()
    assert "Predict first" in made.result.value
    assert made.asked == 0


def test_a_right_and_a_wrong_prediction_are_told_with_reason_and_lattice() -> None:
    made = panel(guess="int16")
    made.run.click()
    assert "✓ You predicted int16; it is int16." in made.result.value
    assert "They meet at int16." in made.result.value
    made.guess.value = "int8"
    made.run.click()
    assert "✗ You predicted int8; it is int16." in made.result.value
    assert "Right so far: 1 of 2." in made.result.value
    assert "<figure" in made.result.value


@pytest.mark.parametrize(
    "change", [("left", "bool"), ("right_kind", "0-d tensor"), ("operation", "left < right")]
)
def test_a_change_begins_a_new_prediction(change: tuple[str, str]) -> None:
    made = panel(guess="int16")
    made.run.click()
    getattr(made, change[0]).value = change[1]
    assert made.guess.value == "choose …"
    assert "You predicted" not in made.result.value
    assert "Which dtype does left" in made.result.value


def test_a_python_number_offers_numbers_and_a_tensor_dtypes() -> None:
    made = panel(right_kind="Python number")
    assert list(made.right.options) == ["True", "1", "1.0", "1j"]
    made.right_kind.value = "0-d tensor"
    assert "float16" in made.right.options


def test_two_python_numbers_are_told_to_be_pythons_affair() -> None:
    made = panel(left_kind="Python number", right_kind="Python number", guess="int64")
    made.run.click()
    assert "at least one tensor" in made.result.value


def test_without_a_front_end_it_is_the_lattice() -> None:
    explorer = explore_promotion(torch.float16, 2.5)
    assert set(explorer._repr_mimebundle_()) == {"text/plain", "text/html"}
    assert "Computed in float16." in repr(explorer)
