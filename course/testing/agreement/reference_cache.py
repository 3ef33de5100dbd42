"""What references give for a lesson's cases, computed once for all processes forked afterwards.

Cases are made from seeds, so a test cell asks every answer the same. Where a process has computed
what the reference gives for these cases, its forks find it here, and a test cell that runs in one
of them need not compute it again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType, ModuleType
from typing import Any

import torch

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
    taken, code = _taken_along(reference), reference.__code__
    # A cell's file is named after its text, and a code knows its place in it.
    return None if taken is None else (asked, code.co_filename, code, taken, about)


def _taken_along(function: FunctionType) -> _Key | None:
    """What a function knows beside its cell's names; None where that cannot be told apart."""
    cells = [one.cell_contents for one in function.__closure__ or ()]
    named = (function.__kwdefaults__ or {}).items()
    found = [_told_apart(one) for one in (*cells, *(function.__defaults__ or ()), *named)]
    return None if None in found else tuple(found)


def _told_apart(value: Any) -> _Key | None:
    if type(value) in (tuple, list, set, dict):  # with what it holds when the reference is asked
        parts = [_told_apart(one) for one in (value.items() if type(value) is dict else value)]
        held = frozenset(parts) if type(value) is set else tuple(parts)
        return None if None in held else (type(value), held)
    if type(value) is FunctionType:
        taken = _taken_along(value)
        return None if taken is None else (value.__code__, *taken)
    return (type(value), value) if isinstance(value, _PLAIN) else None


_PLAIN = (
    *(bool, int, float, complex, str, bytes, type(None)),
    *(type, ModuleType, BuiltinFunctionType, MethodDescriptorType, torch.dtype, torch.device),
)
