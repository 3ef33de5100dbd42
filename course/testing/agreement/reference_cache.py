"""What references give for a lesson's cases, computed once for all processes forked afterwards.

Cases are made from seeds, so a test cell asks every answer the same. Where a process has computed
what the reference gives for these cases, its forks find it here, and a test cell that runs in one
of them need not compute it again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    MethodDescriptorType,
    ModuleType,
)
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
    taken, code = _taken_along(reference, [reference]), reference.__code__
    # A cell's file is named after its text, and a code knows its place in it.
    return None if taken is None else (asked, code.co_filename, code, taken, about)


def _taken_along(function: FunctionType, met: list[Any]) -> _Key | None:
    """What a function of the cell knows beside its text; None where that cannot be told apart.

    A test cell may keep what an answer gave under a name that its reference reads.
    """
    cells = [one.cell_contents for one in function.__closure__ or ()]
    named = (function.__kwdefaults__ or {}).items()
    of_cell = {} if _is_of_a_module(function) else function.__globals__
    read = [(one, of_cell[one]) for one in _names_in(function.__code__) if one in of_cell]
    known = (*cells, *(function.__defaults__ or ()), *named, *read)
    found = [_told_apart(one, met) for one in known]
    return None if None in found else tuple(found)


def _names_in(code: CodeType) -> Iterator[str]:
    """The names that it may read of the cell, those of attributes among them."""
    yield from code.co_names
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _names_in(one)


def _told_apart(value: Any, met: list[Any]) -> _Key | None:
    """What tells a value from others; of one that was met before, such as itself, where."""
    if type(value) not in (tuple, list, set, dict, FunctionType, type):
        return _plain_told_apart(value)
    place = next((n for n, one in enumerate(met) if one is value), None)
    if place is not None:
        return (_told_apart, place)
    met.append(value)
    if len(met) > _MOST_MET:
        return None
    if type(value) in (tuple, list, set, dict):  # with what it holds when the reference is asked
        parts = [_told_apart(one, met) for one in (value.items() if type(value) is dict else value)]
        held = frozenset(parts) if type(value) is set else tuple(parts)
        return None if None in held else (type(value), held)
    if _is_known_by_name(value):
        return (value,)
    if type(value) is FunctionType:
        taken = _taken_along(value, met)
        return None if taken is None else (value.__code__, *taken)
    # A class of the cell is another one each time that the cell runs.
    about = [(n, v) for n, v in vars(value).items() if n not in _OF_EVERY_CLASS]
    found = [_told_apart(one, met) for one in (value.__qualname__, *value.__bases__, *about)]
    return None if None in found else tuple(found)


def _plain_told_apart(value: Any) -> _Key | None:
    if type(value) is torch.Tensor and value.numel() <= _MOST_ELEMENTS and not value.is_sparse:
        about = value.dtype, tuple(value.shape), value.stride(), value.requires_grad
        return (*about, repr(value.tolist()))
    return (type(value), value) if isinstance(value, _PLAIN) else None


def _is_of_a_module(value: Any) -> bool:
    """Whether a function or a class was made by a module that was imported, and by no cell."""
    return value.__module__ != "__main__" and value.__module__ in sys.modules


def _is_known_by_name(value: Any) -> bool:
    """Whether it stands in such a module, so that it is the same one wherever somebody asks."""
    held = vars(sys.modules[value.__module__]) if _is_of_a_module(value) else {}
    return held.get(value.__qualname__) is value


_MOST_ELEMENTS, _MOST_MET = 1_000, 200
_OF_EVERY_CLASS = {"__dict__", "__weakref__", "__doc__", "__module__"}
_PLAIN = (
    *(bool, int, float, complex, str, bytes, type(None), range),
    *(type, ModuleType, BuiltinFunctionType, MethodDescriptorType, torch.dtype, torch.device),
)
