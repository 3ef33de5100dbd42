"""The tolerance follows the dtype of what is expected."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from course.testing.compare import difference
from course.testing.tolerance import Tolerance

USUAL = Tolerance(rounding=1)
FLOATS = [torch.float16, torch.bfloat16, torch.float32, torch.float64]


@pytest.mark.parametrize("dtype", FLOATS)
def test_an_element_may_be_away_by_some_roundings_of_its_dtype(dtype: torch.dtype) -> None:
    expected = torch.tensor([1.0, 3.0], dtype=torch.float64)
    eps = torch.finfo(dtype).eps
    for roundings, near in ((3, True), (10_000, False)):
        actual = (expected * (1 + roundings * eps)).to(dtype)
        assert (difference(actual, expected.to(dtype), USUAL) is None) is near


def test_float64_with_the_digits_of_float32_is_not_near() -> None:
    expected = torch.rand(20, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    assert difference(expected.float().double(), expected, USUAL) is not None
    assert difference(float(torch.tensor(0.1)), 0.1, USUAL) is not None


def test_a_constant_that_is_added_for_safety_is_seen_in_float64() -> None:
    x = torch.linspace(-3, 3, 7, dtype=torch.float64)
    right, shifted = x.logsumexp(0), (x - 3).exp().sum()
    assert difference(shifted.log() + 3, right, USUAL) is None
    for constant in (1e-6, 1e-8, 1e-11):
        assert difference((shifted + constant).log() + 3, right, USUAL) is not None


@pytest.mark.parametrize("dtype", [torch.int64, torch.uint8, torch.bool])
def test_what_is_no_floating_number_is_exact(dtype: torch.dtype) -> None:
    assert difference(torch.tensor([0], dtype=dtype), torch.tensor([1], dtype=dtype), USUAL)
    assert difference(2**60 + 1, 2**60, USUAL) is not None


def test_numbers_computed_in_float32_say_so() -> None:
    expected = float(torch.tensor(0.1))
    assert difference(expected * (1 + 1e-7), expected, USUAL) is not None
    told = Tolerance(rounding=1, precision=torch.float32)
    assert difference(expected * (1 + 1e-7), expected, told) is None


def test_beside_large_numbers_a_small_one_is_as_far_as_their_rounding() -> None:
    alone, beside = torch.tensor([1.0]), torch.tensor([1.0, 9e3])
    off = 1000 * torch.finfo(torch.float32).eps
    assert difference(alone + off, alone, USUAL) is not None
    assert difference(beside + torch.tensor([off, 0]), beside, USUAL) is None


def test_infinities_are_equal_and_give_no_leave_to_others() -> None:
    expected = torch.tensor([torch.inf, -torch.inf, 1.0])
    assert difference(expected.clone(), expected, USUAL) is None
    assert difference(torch.tensor([torch.inf, -torch.inf, 1.001]), expected, USUAL) is not None
    assert difference(torch.tensor([-torch.inf, -torch.inf, 1.0]), expected, USUAL) is not None


@pytest.mark.parametrize("how", [USUAL, Tolerance(rtol=1e-5), Tolerance(rtol=0.1, atol=1.0)])
@pytest.mark.parametrize("inf", [torch.inf, -torch.inf, complex(torch.inf, 1.0)])
def test_where_infinity_is_expected_only_the_same_one_is_near(how: Tolerance, inf: Any) -> None:
    wraps: list[Callable[[Any], Any]] = [lambda x: [x], torch.tensor, np.asarray]
    for wrap, other in itertools.product(wraps, [7.0, 1e38, -inf, torch.nan]):
        alike = type(inf)(other)
        assert difference(wrap(inf), wrap(inf), how) is None
        assert difference(wrap(alike), wrap(inf), how) is not None
        assert difference(wrap(inf), wrap(alike), how) is not None


def test_nothing_is_near_zero_but_zero_where_the_check_is_exact() -> None:
    assert difference(6e-17, 0.0) is not None
    assert difference(torch.tensor([6e-17]), torch.tensor([0.0])) is not None


def test_digits_that_a_text_promises_are_those_of_the_largest_number() -> None:
    told = Tolerance(rtol={torch.float32: 1e-4, torch.float64: 1e-10})
    for dtype, share in ((torch.float32, 1e-4), (torch.float64, 1e-10)):
        expected = torch.tensor([0.0, 1e3], dtype=dtype)
        for part, near in ((0.5, True), (2.0, False)):
            actual = expected + torch.tensor([part * share * 1e3, 0], dtype=dtype)
            assert (difference(actual, expected, told) is None) is near
    assert difference(
        torch.tensor([1], dtype=torch.int8), torch.tensor([2], dtype=torch.int8), told
    )
