"""What the probe of orders does to them: it empties the lists, and salts the hashes of texts."""

from __future__ import annotations

from typing import Any

import pytest

from course.probes.orders import orders_drawn


def seen(order: Any, *args: Any, **how: Any) -> Any:
    """The batches that the probe saw."""
    return orders_drawn.procedure(order, *args, **how)["batches"]


def test_lists_are_told_as_they_came_and_emptied_afterwards() -> None:
    kept = [[1, 0], [2]]
    found = orders_drawn.procedure(lambda *_: kept, [(3, 2)])
    assert kept == []
    assert found == {
        "batches": [[[1, 0], [2]]],
        "sizes": [[2, 1]],
        "numbers": [[0, 1, 2]],
        "types": ["int"],
    }


def test_inner_lists_that_are_given_out_again_come_back_empty() -> None:
    kept = [[1, 0], [2]]
    assert seen(lambda *_: kept[:], [(3, 2)] * 2)[1] == [[], []]


@pytest.mark.parametrize("value", ["text", b"bytes", ("3", 4), (0, ("deep",)), frozenset({"set"})])
def test_a_salt_changes_the_hashes_of_texts(value: Any) -> None:
    plain, salted, again = (
        seen(lambda *_: [[hash(value)]], [()], salt=salt) for salt in (None, 7, 7)
    )
    assert plain == [[[hash(value)]]]
    assert salted == again != plain


def test_a_salt_leaves_the_hashes_of_numbers() -> None:
    assert seen(lambda *_: [[hash((3, 4))]], [()], salt=7) == [[[hash((3, 4))]]]


def test_the_usual_hash_is_back_afterwards_also_after_an_error() -> None:
    usual = hash
    with pytest.raises(ZeroDivisionError):
        seen(lambda *_: 1 // 0, [()], salt=7)
    assert hash is usual
