"""Storages are numbered once and for all, and two over the same bytes are recognised."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from course.inspection.facts import facts, memory_number, storage_number
from course.inspection.storage_numbers import StorageNumbers
from course.testing.checks import Check


def through_numpy(x: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(x.numpy())


def test_a_tensor_through_numpy_has_a_storage_of_its_own_over_the_same_memory() -> None:
    x = torch.arange(6.0)
    y = through_numpy(x)
    assert storage_number(x) != storage_number(y)
    assert memory_number(x) == memory_number(y) == facts(y).memory


@pytest.mark.parametrize("first", ["the whole", "the part"])
def test_the_order_in_which_they_are_seen_does_not_matter(first: str) -> None:
    array = np.arange(9.0)
    whole, part = torch.from_numpy(array), torch.from_numpy(array[4:])
    order = (whole, part) if first == "the whole" else (part, whole)
    assert len({memory_number(one) for one in order}) == 1


def test_neighbours_in_one_array_that_share_no_byte_are_apart() -> None:
    array = np.arange(8.0)
    left, right = torch.from_numpy(array[:4]), torch.from_numpy(array[4:])
    assert memory_number(left) != memory_number(right)


def test_memory_that_was_freed_and_is_used_again_is_not_shared() -> None:
    array = np.arange(5.0)
    before = torch.from_numpy(array)
    number = memory_number(before)
    del before
    assert memory_number(torch.from_numpy(array)) != number


def test_memory_that_a_storage_gave_away_when_it_grew_is_not_shared() -> None:
    numbers = StorageNumbers()
    first = torch.zeros(4).untyped_storage()
    old = numbers.number(first)
    address = first.data_ptr()
    first.resize_(1 << 20)
    assert first.data_ptr() != address
    second = torch.zeros(4).untyped_storage()  # likely where the first one was
    assert numbers.memory(numbers.number(second)) != old


def test_thousands_of_short_lives_leave_no_trace() -> None:
    numbers = StorageNumbers()
    kept = torch.zeros(3)
    number = numbers.number(kept.untyped_storage())
    for _ in range(3000):
        numbers.number(torch.zeros(2).untyped_storage())
    assert numbers.number(kept.untyped_storage()) == number
    assert max(len(numbers._known), len(numbers._starts)) <= 1025


def test_empty_and_meta_tensors_share_nothing() -> None:
    several = [torch.empty(0), torch.empty(0), torch.empty(3, device="meta")]
    assert len({memory_number(one) for one in several}) == 3


@pytest.mark.parametrize("method", ["copies", "disjoint"])
def test_a_detour_through_numpy_is_no_copy(method: str) -> None:
    x = torch.arange(6.0)
    check = Check("detour")
    getattr(check, method)(through_numpy(x), x)
    getattr(check, method)(x.clone(), x)
    assert [one.passed for one in check.result(1.0).checks] == [False, True]
    check = Check("detour")
    check.copies(through_numpy(x), x)
    assert "still lives in the memory of" in check.result(1.0).checks[0].message


def test_numbers_can_be_kept_apart_from_those_of_other_processes() -> None:
    numbers = StorageNumbers()
    first = torch.zeros(1)
    assert numbers.number(first.untyped_storage()) == 1
    numbers.count_from(100)
    numbers.count_from(50)
    others = torch.zeros(1), torch.zeros(1)
    assert [numbers.number(one.untyped_storage()) for one in others] == [100, 101]
    assert numbers.number(first.untyped_storage()) == 1
