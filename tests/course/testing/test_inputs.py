"""Hostile inputs: the same ones each time, and every state that they promise."""

from __future__ import annotations

import math
from collections import Counter

import pytest
import torch

from course.inspection.facts import facts, positions, same_storage
from course.testing.inputs import LAYOUTS, Case, laid_out, of_each_kind, tensors


def kinds(cases: list[Case]) -> set[str]:
    return {case.kind for case in cases}


def test_the_usual_cases_are_more_than_40_and_hold_every_layout() -> None:
    cases = tensors()
    assert len(cases) >= 40
    assert set(LAYOUTS) < kinds(cases)


def test_the_same_arguments_give_the_same_cases_and_another_seed_others() -> None:
    one, again, other = tensors(), tensors(), tensors(seed=1)
    same = [torch.equal(a.tensor, b.tensor) for a, b in zip(one, again, strict=True)]
    different = [torch.equal(a.tensor, b.tensor) for a, b in zip(one, other, strict=True)]
    nan = sum(bool(torch.isnan(case.tensor).any()) for case in one if case.tensor.numel())
    assert same.count(False) == nan  # nan is not equal to itself
    assert different.count(False) > 20


def test_cases_are_made_without_the_global_generator() -> None:
    before = torch.get_rng_state()
    tensors()
    assert torch.equal(before, torch.get_rng_state())


REPEATING = {"rows that repeat (stride 0)", "elements that repeat (stride 0)"}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4), (6,)])
def test_a_layout_keeps_the_elements_and_shares_nothing(
    layout: str, shape: tuple[int, ...]
) -> None:
    x = torch.arange(math.prod(shape), dtype=torch.float32).view(shape)
    made = laid_out(x, layout)
    assert made.shape == x.shape and not same_storage(made, x)
    distinct = len(set(positions(made))) == made.numel()
    assert torch.equal(made, x) == distinct
    assert distinct or layout in REPEATING | {"elements that overlap"}


def test_the_layouts_of_a_matrix_differ() -> None:
    x = torch.arange(12.0).view(3, 4)
    seen = {name: facts(laid_out(x, name)) for name in LAYOUTS}
    ways = {(f.stride, f.storage_offset, f.storage_nbytes) for f in seen.values()}
    # Of two dimensions only one other order is possible.
    assert len(ways) == len(LAYOUTS) - 1


def test_leaves_and_intermediates_come_under_both_modes() -> None:
    graph = [case for case in tensors() if case.tensor.requires_grad]
    assert {(case.intermediate, case.under) for case in graph} == {
        (False, ""),
        (True, ""),
        (False, "no_grad"),
        (True, "no_grad"),
    }


def test_nothing_is_made_that_was_not_asked_for() -> None:
    cases = tensors(
        (4, 3), dtypes=[torch.int64], sizes=False, scalar=False, special=False, grad=False
    )
    assert {case.tensor.dtype for case in cases} == {torch.int64}
    assert {tuple(case.tensor.shape) for case in cases} == {(4, 3)}


def test_an_unknown_layout_is_refused_with_its_name() -> None:
    with pytest.raises(ValueError, match="'upside down'"):
        tensors(layouts=["upside down"])


def test_more_arguments_leave_the_case_as_it_was() -> None:
    case = tensors()[0]
    more = case.with_(2, keepdim=True)
    assert (more.args[1:], more.kwargs) == ((2,), {"keepdim": True})
    assert case.args == (case.tensor,) and not case.kwargs


def test_of_each_kind_some_are_kept_in_their_order_and_the_same_ones_each_time() -> None:
    cases = [Case("even" if n % 2 else "odd", (n,)) for n in range(100)] + [Case("rare", (-1,))]
    kept = of_each_kind(cases, 7)
    assert Counter(case.kind for case in kept) == {"even": 7, "odd": 7, "rare": 1}
    assert [cases.index(case) for case in kept] == sorted(cases.index(case) for case in kept)
    assert of_each_kind(cases, 7) == kept != of_each_kind(cases, 7, seed=1)
    assert of_each_kind(cases, 50) == cases
