"""Python's own search for cycles rests while a document is written or read, and goes on after."""

from __future__ import annotations

import gc

import pytest

from course.serialization import decode, encode
from course.serialization.garbage_collection import gc_paused


def test_it_goes_on_after_it_also_where_something_was_raised() -> None:
    assert gc.isenabled()
    with gc_paused():
        assert not gc.isenabled()
    assert gc.isenabled()
    with pytest.raises(ZeroDivisionError), gc_paused():
        raise ZeroDivisionError
    assert gc.isenabled()


def test_what_somebody_has_switched_off_stays_off() -> None:
    gc.disable()
    try:
        decode(*encode([1, {"a": 2}]))
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_no_search_begins_while_a_large_value_is_written() -> None:
    begun: list[int] = []

    def note(phase: str, about: dict[str, int]) -> None:
        begun.append(about["generation"])

    value = [{"a": [n, None]} for n in range(3_000)]
    gc.collect()
    gc.callbacks.append(note)
    try:
        with gc_paused():
            copies = [dict(one) for one in value for _ in range(2)]
            during = list(begun)
    finally:
        gc.callbacks.remove(note)
    assert (len(copies), during) == (6_000, [])
