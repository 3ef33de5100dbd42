"""The standard library and torch for the code that measures, as they are before the first cell.

A learner may replace `functools.partial` for the whole process.  Code that looks it up while it
measures would then call the learner's code in the middle of what it does, with objects of its own.
So each measuring module gets copies of the modules that it has imported.  Methods of torch's
classes may still be the learner's; they get nothing but tensors, and what they change is noticed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from functools import lru_cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

__all__ = ["FrozenModule", "freeze"]

_PARTS = ("fget", "fset", "__func__", "__wrapped__")
_MADE_OF_FUNCTIONS = (FunctionType, property, staticmethod, classmethod, type(lru_cache(abs)))


class FrozenModule:
    """What a module had when this was made; what it gets later is there, too."""

    def __init__(self, module: ModuleType) -> None:
        """Copy the names of `module`; of `sys` only functions, for its streams are replaced."""
        names = vars(module).items()
        vars(self).update({n: v for n, v in names if callable(v) or module is not sys})
        vars(self)["_frozen"] = module

    def __getattr__(self, name: str) -> Any:
        return getattr(vars(self)["_frozen"], name)


def freeze(modules: Iterable[ModuleType]) -> list[FrozenModule]:
    """Give these modules copies of all others that they have a name for; returns the copies.

    A module inside of another, such as `torch.nn`, is copied where their code names it.
    """
    modules = list(modules)
    names = set(_names_in(modules))
    copies: dict[int, FrozenModule] = {}

    def copied(module: ModuleType) -> FrozenModule:
        found = copies.get(id(module))
        if found is None:
            found = copies[id(module)] = FrozenModule(module)
            inner = {n: v for n, v in vars(found).items() if n in names and _is_other(v)}
            vars(found).update({name: copied(value) for name, value in inner.items()})
        return found

    def _is_other(value: object) -> bool:
        return isinstance(value, ModuleType) and value not in modules

    for module in modules:
        others = {name: value for name, value in vars(module).items() if _is_other(value)}
        vars(module).update({name: copied(value) for name, value in others.items()})
    return list(copies.values())


def _names_in(modules: Iterable[ModuleType]) -> Iterator[str]:
    """All names that the code of these modules looks up."""
    for module in modules:
        classes = [one for one in vars(module).values() if isinstance(one, type)]
        own = [one for one in classes if one.__module__ == module.__name__]
        for space in (vars(module), *map(vars, own)):
            for value in list(space.values()):
                for code in _codes_of(value):
                    yield from code.co_names


def _codes_of(value: object) -> Iterator[CodeType]:
    """The code of a function, or of what is made of functions."""
    if isinstance(value, FunctionType):
        yield from _nested(value.__code__)
    if isinstance(value, _MADE_OF_FUNCTIONS):
        for name in _PARTS:
            yield from _codes_of(getattr(value, name, None))


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)
