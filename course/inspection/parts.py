"""What an object holds, read without running any code of its class."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from types import (
    BuiltinFunctionType,
    CellType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
)
from typing import Any

__all__ = ["held_within", "parts_of"]

# Who holds more objects than that is not looked through to the end.
_LIMIT = 10_000
# These hold nothing. They are not counted, so that a long list of numbers hides nothing.
_DATA = frozenset({type(None), bool, int, float, complex, str, bytes, bytearray})
# Their own `__iter__`, not that of a subclass, which may be anybody's code.
_ROWS: tuple[type[Iterable[Any]], ...] = (list, tuple, set, frozenset, deque)


def held_within(value: Any, parts: Callable[[Any], Iterable[Any]] | None = None) -> list[Any]:
    """`value`, and what it holds at any depth, each object once; no numbers and no text.

    `parts` tells what one object holds itself; None for all that `parts_of` finds.
    """
    found, seen = [value], {id(value)}
    for one in found:
        for part in (parts or parts_of)(one):
            if type(part) in _DATA or id(part) in seen:
                continue
            if len(found) >= _LIMIT:
                return found
            seen.add(id(part))
            found.append(part)
    return found


def parts_of(value: Any) -> Iterator[Any]:
    """What an object holds itself: elements, attributes, what a function closes over.

    A module holds nothing here, and neither do the globals of a function: all else hangs on them.
    """
    kind = type(value)
    if issubclass(kind, ModuleType):
        return
    if issubclass(kind, type):
        yield from value.__bases__
        yield from vars(value).values()
        return
    yield from _elements(value, kind)
    yield from _wrapped(value, kind)
    yield from _attributes(value, kind)


def _elements(value: Any, kind: type) -> Iterator[Any]:
    if issubclass(kind, dict):
        yield from [*dict.keys(value), *dict.values(value)]
        return
    for row in _ROWS:
        if issubclass(kind, row):
            yield from list(row.__iter__(value))


def _wrapped(value: Any, kind: type) -> Iterator[Any]:
    """What functions, methods and descriptors are made of."""
    if kind is FunctionType:
        yield from value.__closure__ or ()
        yield from value.__defaults__ or ()
        yield from (value.__kwdefaults__ or {}).values()
    elif kind is CellType:
        try:
            yield value.cell_contents
        except ValueError:  # nothing has been assigned yet
            return
    elif kind is MethodType:
        yield from (value.__func__, value.__self__)
    elif kind in (BuiltinFunctionType, MethodWrapperType):
        yield value.__self__  # `x.add` of a tensor; of a function of C's, its module
    elif kind in (staticmethod, classmethod):
        yield value.__func__
    elif kind is property:
        yield from (value.fget, value.fset, value.fdel)


def _attributes(value: Any, kind: type) -> Iterator[Any]:
    """The values in its `__dict__` and in the slots of its classes, `func` of a partial as well."""
    for base in kind.__mro__:
        has_slots = base.__flags__ & _MADE_BY_CLASS
        for name, one in vars(base).items():
            try:
                if name == "__dict__" and type(one) in _DESCRIPTORS:
                    yield from list(one.__get__(value).values())
                elif has_slots and type(one) is MemberDescriptorType:
                    yield one.__get__(value)
            except AttributeError:  # an empty slot
                continue


_DESCRIPTORS = (GetSetDescriptorType, MemberDescriptorType)  # of C; a property would run its code
# Py_TPFLAGS_HEAPTYPE. Members of other types are no slots: the globals of a function are one.
_MADE_BY_CLASS = 1 << 9
