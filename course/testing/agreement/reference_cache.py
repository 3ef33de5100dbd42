"""What references give for a lesson's cases, computed once for all processes forked afterwards.

Cases are made from seeds, so a test cell asks every answer the same. Where a process has computed
what the reference gives for these cases, its forks find it here, and a test cell that runs in one
of them need not compute it again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from course.testing.agreement.comparing import Expected

__all__ = ["expected", "fill", "is_filling", "kept_count"]

_Key = tuple[Any, ...]


@dataclass
class _Cache:
    """What was computed: None where one key would stand for several things."""

    filling: bool = False
    found: dict[_Key, list[Expected] | None] = field(default_factory=dict)


_cache = _Cache()


def fill(on: bool) -> None:
    """From now on, keep what is computed, or no longer."""
    _cache.filling = on


def is_filling() -> bool:
    """Whether what is computed is kept: the test cells run without an answer."""
    return _cache.filling


def kept_count() -> int:
    """How many of the comparisons with a reference are kept."""
    return sum(one is not None for one in _cache.found.values())


def expected(
    asked: bytes, reference: Callable[..., Any], about: tuple[Any, ...], compute: Callable[[], Any]
) -> list[Expected]:
    """What a reference gives for the cases of a request: as it was kept, or computed now.

    Args:
        asked: What tells the request apart from every other; empty where nobody says.
        reference: The reference. It is known again by its place in the test cell; where one place
            is asked for the same cases twice in a rehearsal, nothing is kept of it.
        about: How it is called.
        compute: Computes it.
    """
    key = _key_of(asked, reference, about)
    kept = None if key is None else _cache.found.get(key)
    if kept is not None and not _cache.filling:
        return kept
    result: list[Expected] = compute()
    if key is not None and _cache.filling:
        _cache.found[key] = None if key in _cache.found else result
    return result


def _key_of(asked: bytes, reference: Callable[..., Any], about: tuple[Any, ...]) -> _Key | None:
    if not asked or type(reference) is not FunctionType:
        return None
    code = reference.__code__
    # A cell's file is named after its text, so the place of a function in it says all of it.
    return asked, code.co_filename, code.co_firstlineno, code.co_qualname, *about
