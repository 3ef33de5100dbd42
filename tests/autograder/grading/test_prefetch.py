"""An iterator runs ahead of its reader, gives its errors to it, and ends with it."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from autograder.grading.prefetch import Prefetch


def counting(log: list[str], most: int = 10**9) -> Iterator[int]:
    """Numbers, with a note of what happened to the generator."""
    try:
        for number in range(most):
            log.append(f"made {number}")
            yield number
    finally:
        log.append("closed")


def test_every_item_arrives_in_order() -> None:
    with Prefetch(counting([], 100)) as items:
        assert list(items) == list(range(100))


def test_it_works_before_anyone_reads() -> None:
    started = threading.Event()

    def source() -> Iterator[int]:
        started.set()
        yield 1

    with Prefetch(source()) as items:
        assert started.wait(10)
        assert list(items) == [1]


def test_an_error_arrives_after_the_items_before_it() -> None:
    def source() -> Iterator[int]:
        yield 1
        raise ValueError("no more")

    with Prefetch(source()) as items:
        assert next(items) == 1
        with pytest.raises(ValueError, match="no more"):
            next(items)


def test_none_is_an_item() -> None:
    with Prefetch(iter_of(None, None)) as items:
        assert list(items) == [None, None]


def iter_of(*items: object) -> Iterator[object]:
    yield from items


def test_leaving_early_closes_the_source() -> None:
    log: list[str] = []
    with Prefetch(counting(log), most=2) as items:
        assert next(items) == 0
    assert log[-1] == "closed"
    assert len(log) < 9


def test_an_error_of_the_reader_closes_the_source_too() -> None:
    log: list[str] = []
    with pytest.raises(KeyError), Prefetch(counting(log), most=2) as items:
        raise KeyError(next(items))
    assert log[-1] == "closed"
