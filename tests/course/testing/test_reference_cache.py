"""What references give, computed once for the forks of a process."""

from __future__ import annotations

from types import FunctionType

import pytest
import torch

from course.testing.agreement import reference_cache
from course.testing.agreement.comparing import Expected

SOMETHING = object()
ONE, TWO = (Expected(n, None, None, None, (), {}) for n in (1, 2))


def reference() -> None:
    """Stands at a place of its own."""


@pytest.fixture(autouse=True)
def empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference_cache, "_cache", reference_cache._Cache())


def collected(asked: bytes, result: Expected, about: tuple[object, ...] = (False,)) -> None:
    reference_cache.fill(True)
    reference_cache.expected(asked, reference, about, lambda: [result])
    reference_cache.fill(False)


def found(asked: bytes, about: tuple[object, ...] = (False,)) -> list[Expected]:
    return reference_cache.expected(asked, reference, about, lambda: [TWO])


def test_what_was_collected_is_found_again() -> None:
    collected(b"cases", ONE)
    assert (found(b"cases"), reference_cache.kept_count()) == ([ONE], 1)


def test_other_cases_another_way_and_another_reference_are_computed() -> None:
    collected(b"cases", ONE)
    assert found(b"others") == [TWO]
    assert found(b"cases", (True,)) == [TWO]
    assert reference_cache.expected(b"cases", found, (False,), lambda: [TWO]) == [TWO]


def test_what_could_be_two_things_is_neither() -> None:
    collected(b"cases", ONE)
    collected(b"cases", ONE)
    assert (found(b"cases"), reference_cache.kept_count()) == ([TWO], 0)


def test_nothing_is_kept_where_nobody_collects_or_says_what_was_asked() -> None:
    assert (found(b"cases"), reference_cache.kept_count()) == ([TWO], 0)
    collected(b"", ONE)
    assert (found(b""), reference_cache.kept_count()) == ([TWO], 0)


def test_an_object_that_is_called_is_no_reference_to_know_again() -> None:
    reference_cache.fill(True)
    reference_cache.expected(b"cases", int, (False,), lambda: [ONE])
    reference_cache.fill(False)
    assert reference_cache.expected(b"cases", int, (False,), lambda: [TWO]) == [TWO]


def is_known_as(kept: FunctionType, asked: FunctionType) -> bool:
    """Whether what is kept of one reference is what another one is told to give."""
    reference_cache.fill(True)
    reference_cache.expected(b"cases", kept, (False,), lambda: [ONE])
    reference_cache.fill(False)
    return reference_cache.expected(b"cases", asked, (False,), lambda: [TWO]) == [ONE]


def times(factor: object) -> FunctionType:
    """A reference that takes something along."""

    def reference(x: object, other: object = factor) -> object:
        return (factor, other, x)

    return reference


@pytest.mark.parametrize(
    ("kept", "asked", "is_found"),
    [
        *((2, 2, True), (2, 3, False), (1, True, False)),
        *(([2], [2], True), ([2], [3], False), ({1: {2}}, {1: {2}}, True), ({1: 2}, {1: 3}, False)),
        *((times(2), times(2), True), (times(2), times(3), False)),
        (SOMETHING, SOMETHING, False),  # what is in it may be another thing now
    ],
)
def test_a_reference_is_known_by_what_it_takes_along(
    kept: object, asked: object, is_found: bool
) -> None:
    assert is_known_as(times(kept), times(asked)) is is_found


def calling_itself() -> FunctionType:
    def reference(x: int) -> int:
        return x and reference(x - 1)

    return reference


def test_a_reference_may_call_itself() -> None:
    assert is_known_as(calling_itself(), calling_itself())


NAMING_ITSELF = (
    "class KEY:\n    def again(self):\n        return KEY, {}",
    "def KEY(): return KEY, other, {}\ndef other(): return KEY",
    "KEY = [{}]\nKEY.append(KEY)",
)


@pytest.mark.parametrize(
    ("before", "now", "is_found"),
    [
        ("KEY = 3", "KEY = 3", True),
        ("KEY = 0", "KEY = 7", False),  # what the answer gave, and a default without one
        ("KEY = torch.ones(2)", "KEY = torch.ones(2)", True),
        ("KEY = torch.ones(2)", "KEY = torch.zeros(2)", False),
        ("class KEY:\n    n = 1", "class KEY:\n    n = 1", True),
        ("class KEY:\n    n = 1", "class KEY:\n    n = 2", False),
        *[(kind.format(1), kind.format(n), n == 1) for kind in NAMING_ITSELF for n in (1, 2)],
        ("def KEY(): return 1", "def KEY(): return 1", True),
        ("def KEY(): return 1", "def KEY(): return 2", False),
        ("KEY = object()", "KEY = object()", False),
    ],
)
def test_a_reference_is_known_by_what_it_reads_of_the_cell(
    before: str, now: str, is_found: bool
) -> None:
    def reference(source: str) -> FunctionType:
        names = {"torch": torch, "__name__": "__main__"}
        exec(source, names)
        exec("def reference(x):\n    return [x * y for y in (KEY, 1)]", names)
        return names["reference"]

    assert is_known_as(reference(before), reference(now)) is is_found


def test_two_references_on_one_line_are_two() -> None:
    one, two = (lambda x: x), (lambda x: x + 1)
    assert not is_known_as(one, two)
