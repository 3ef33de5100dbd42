"""Notices when code that measures was replaced.

The measuring modules refer to each other, and to a few functions of torch and the standard
library, through dictionaries that any Python code in the process can change.  An `IntegrityCheck`
remembers what stood there before the learner's first cell; its verifier compares by identity.
"""

from __future__ import annotations

import contextlib
import re
import types
import warnings
from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter, is_
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


class IntegrityCheck:
    """The names and the code of the measuring modules, as they were when this was made."""

    def __init__(self, modules: Iterable[types.ModuleType]) -> None:
        spaces = [(space, _callable_names(space)) for space in map(vars, modules)]
        spaces += [
            (vars(one), [name for name in names if name in vars(one)]) for one, names in _ALSO
        ]
        values = {id(space[name]): space[name] for space, names in spaces for name in names}
        functions = [function for value in values.values() for function in _functions(value)]
        looks: list[tuple[Callable[[Any], Any], list[Any]]] = [
            *((space.__getitem__, names) for space, names in spaces),
            (attrgetter("__code__"), functions),
            (attrgetter("__defaults__"), functions),
        ]
        self._looks = tuple((look, tuple(of), tuple(map(look, of))) for look, of in looks)

    def verifier(self) -> Callable[[], bool]:
        """A function that tells whether all of it still stands; its loops are C's, for speed."""
        looks, every, same, each, missing = self._looks, all, is_, map, KeyError

        def intact() -> bool:
            try:
                return every([every(each(same, each(look, of), was)) for look, of, was in looks])
            except missing:
                return False

        return intact


def _callable_names(space: Mapping[str, Any]) -> list[str]:
    special = re.compile("__.*__")
    return [name for name, one in space.items() if callable(one) and not special.fullmatch(name)]


def _functions(value: Any) -> list[types.FunctionType]:
    """The Python functions that `value` is, or that it has as a class."""
    if isinstance(value, _FUNCTION):
        return [value]
    if isinstance(value, type):
        parts = [getattr(part, "fget", None) or part for part in vars(value).values()]
        return [part for part in parts if isinstance(part, _FUNCTION)]
    return []
