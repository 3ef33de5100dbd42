"""Notices when code that measures was replaced.

The measuring modules refer to each other, and to a few functions of torch and the standard
library, through dictionaries that any Python code in the process can change.  An `IntegrityCheck`
remembers what stood there before the learner's first cell; its verifier compares by identity.  It
is asked as soon as a call has returned, before anything is used that the call may have replaced,
and again when its result has been written down.
"""

from __future__ import annotations

import contextlib
import types
import warnings
from collections.abc import Callable, Iterable
from operator import attrgetter, eq, is_
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
    """What the measuring modules were made of when this was made.

    Every name of the modules and of their classes, the code, defaults and closures of their
    functions, and what their constants hold; also how many names there are, since a new one may
    hide a built-in function.
    """

    def __init__(self, modules: Iterable[types.ModuleType]) -> None:
        found = list(modules)
        spaces = _spaces(found)
        whole = [space for space, grows in spaces if not grows]
        looks: list[tuple[Callable[[Any], Any], list[Any]]] = [
            (space.__getitem__, list(space)) for space, _ in spaces
        ]
        looks += [
            (vars(one).__getitem__, [n for n in names if n in vars(one)]) for one, names in _ALSO
        ]
        values = {id(value): value for look, of in looks for value in map(look, of)}.values()
        functions = [function for value in values for function in _functions(value)]
        cells = [cell for one in functions for cell in one.__closure__ or () if _is_full(cell)]
        looks += [
            (attrgetter(name), functions) for name in ("__code__", "__defaults__", "__kwdefaults__")
        ]
        looks += [(attrgetter("cell_contents"), cells)]
        self._looks = tuple((look, tuple(of), tuple(map(look, of))) for look, of in looks)
        self._sizes = tuple(whole), tuple(map(len, whole))

    def verifier(self) -> Callable[[], bool]:
        """A function that tells whether all of it still stands; its loops are C's, for speed."""
        looks, every, same, each, equal = self._looks, all, is_, map, eq
        (whole, sizes), size_of = self._sizes, len

        def intact() -> bool:
            try:
                return every(each(equal, each(size_of, whole), sizes)) and every(
                    [every(each(same, each(look, of), was)) for look, of, was in looks]
                )
            except (KeyError, IndexError, ValueError):
                return False

        return intact


def _spaces(modules: Iterable[types.ModuleType]) -> list[tuple[Any, bool]]:
    """What holds the names and constants of modules, and whether names may come to it later."""
    spaces: list[tuple[Any, bool]] = []
    for module in modules:
        space = vars(module)
        spaces.append((space, "__getattr__" in space))  # a lazy package keeps what it imported
        for name, value in space.items():
            if getattr(value, "__module__", None) == module.__name__ and isinstance(value, type):
                spaces.append((vars(value), False))
            elif type(value) is dict and name.isupper():
                spaces.append((value, False))
            elif name.isupper() and type(value).__module__ == module.__name__:
                spaces.append((getattr(value, "__dict__", {}), False))
    return spaces


def _is_full(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:  # nothing was put into it yet
        return False


def _functions(value: Any) -> list[types.FunctionType]:
    """The Python function that `value` is or wraps, with those inside of it."""
    for name in ("fget", "__func__", "__wrapped__"):
        value = getattr(value, name, None) or value
    return [value] if isinstance(value, _FUNCTION) else []
