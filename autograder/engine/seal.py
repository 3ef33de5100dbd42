"""Notices when code that measures was replaced.

The measuring modules refer to each other, and to a few functions of torch and the standard
library, through dictionaries that any Python code in the process can change.  A seal remembers
what stood there before the learner's first cell; its checker compares by identity.
"""

from __future__ import annotations

import contextlib
import types
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import torch
import torch.overrides
import torch.utils._python_dispatch
import torch.utils._pytree
from torch.multiprocessing import reductions

_FUNCTION = types.FunctionType
# Python code of torch and the standard library that a measurement runs through.
_ALSO: tuple[tuple[Any, tuple[str, ...]], ...] = (
    (torch.utils._pytree, ("tree_leaves", "tree_flatten", "_is_leaf", "tree_iter")),
    (torch.utils._python_dispatch, ("TorchDispatchMode", "_push_mode", "_pop_mode")),
    (torch.utils._python_dispatch.TorchDispatchMode, ("__enter__", "__exit__")),
    (torch.overrides, ("TorchFunctionMode", "resolve_name", "_push_mode", "_pop_mode")),
    (torch.overrides.TorchFunctionMode, ("__enter__", "__exit__")),
    (reductions, ("StorageWeakRef",)),
    (reductions.StorageWeakRef, ("__init__", "expired")),
    (warnings.catch_warnings, ("__enter__", "__exit__", "__init__")),
    (contextlib.redirect_stdout, ("__enter__", "__exit__", "__init__")),
    (torch.UntypedStorage, ("nbytes",)),
    (torch.autograd, ("backward",)),
)


class Seal:
    """What the names and the code of the measuring modules were when it was made."""

    def __init__(self, modules: Iterable[types.ModuleType]) -> None:
        spaces = [vars(module) for module in modules]
        self._names = [entry for space in spaces for entry in _callables(space)]
        for owner, names in _ALSO:
            space = vars(owner)
            self._names += [(space, name, space[name]) for name in names if name in space]
        found = {id(value): value for _, _, value in self._names}
        self._code = [
            (function, function.__code__, function.__defaults__)
            for value in list(found.values())
            for function in _functions(value)
        ]

    def checker(self) -> Callable[[], bool]:
        """A function that tells whether all of it still stands."""
        names, code = tuple(self._names), tuple(self._code)

        def intact() -> bool:
            for space, name, value in names:
                if space.get(name) is not value:
                    return False
            for function, written, defaults in code:
                if function.__code__ is not written or function.__defaults__ is not defaults:
                    return False
            return True

        return intact


def _callables(space: dict[str, Any]) -> list[tuple[dict[str, Any], str, Any]]:
    return [
        (space, name, value)
        for name, value in space.items()
        if callable(value) and not (name.startswith("__") and name.endswith("__"))
    ]


def _functions(value: Any) -> list[types.FunctionType]:
    """The Python functions that `value` is, or that it has as a class."""
    if isinstance(value, _FUNCTION):
        return [value]
    if isinstance(value, type):
        parts = [getattr(part, "fget", None) or part for part in vars(value).values()]
        return [part for part in parts if isinstance(part, _FUNCTION)]
    return []
