"""Notices when code that measures was replaced.

The measuring modules refer to each other, and to a few functions of torch and the standard
library, through dictionaries that any Python code in the process can change.  An `IntegrityCheck`
remembers what stood there before the learner's first cell; its verifier compares by identity.  It
is asked as soon as a call has returned, before anything is used that the call may have replaced,
and again when its result has been written down.

CPython up to 3.13 gives a dictionary a new number with each change.  Where no number is new nothing
was changed, not even for a moment; and nobody but an attacker changes these dictionaries.  Without
such numbers some 8,000 objects are compared.  A call is surrounded by some nine looks, so the
numbers are read where they lie in memory, all at once.
"""

from __future__ import annotations

import contextlib
import copyreg
import ctypes
import gc
import types
import warnings
from collections.abc import Callable, Iterable
from operator import attrgetter, is_
from typing import Any

import numpy as np
import torch
import torch.overrides
import torch.utils._python_dispatch
import torch.utils._pytree
from torch.multiprocessing import reductions

_FUNCTION = types.FunctionType
_WORD_NBYTES = 8
_slot_names: Callable[[type], object] = getattr(copyreg, "_slotnames", id)
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

    Every name of the modules and of their classes, what their constants hold and what their
    functions close over.  No name may be added either: it may hide a built-in function.  Changing
    the code of a function raises an audit event, which `audit` takes down; reading it would too,
    and cost a hundred times more than all of this.
    """

    def __init__(
        self,
        modules: Iterable[types.ModuleType],
        copies: Iterable[object] = (),
    ) -> None:
        """Remember what is there.

        Args:
            modules: Those that measure.
            copies: The objects that stand for other modules there.
        """
        modules = list(modules)
        spaces = _spaces(modules)
        self._fixed = [(space, tuple(space)) for space, grows in spaces if not grows]
        self._some = [(space, tuple(space)) for space, grows in spaces if grows]
        for one, names in _ALSO:
            self._some.append((vars(one), tuple(name for name in names if name in vars(one))))
        values = [space[name] for space, names in self._fixed + self._some for name in names]
        self._fixed += [(vars(one), tuple(vars(one))) for one in copies]
        self._cells = [*{id(cell): cell for value in values for cell in _cells(value)}.values()]
        self._objects = [one for module in modules for one in _constant_objects(module)]

    def verifier(self) -> Callable[[], bool]:
        """A function that tells whether all of it still stands; its loops are C's, for speed."""
        every, same, each, error = all, is_, map, (AttributeError, KeyError)
        objects, kind, space_of = tuple(self._objects), type, _space_of
        kinds, held = tuple(each(kind, objects)), tuple(each(space_of, objects))
        versions = _versions(space for space, _ in self._fixed)
        words = [*versions, *map(_content_address, self._cells)]
        growing = _versions(space for space, _ in self._some)
        alive = self._fixed, self._some, self._cells, tuple(each(_content, self._cells))
        look = _reader([*words, *growing], alive)
        # No number comes twice: what was changed and put back is seen, too.
        compared = _comparison([] if versions else self._fixed, self._some)
        first = look()[: _WORD_NBYTES * len(words)]
        numbered, seen = bool(growing), [b""]  # what was read when names were last compared

        def intact() -> bool:
            try:
                now = look()
                if now != seen[0] or not numbered:
                    if not (now.startswith(first) and compared()):
                        return False
                    seen[0] = now
                return every(each(same, each(kind, objects), kinds)) and every(
                    each(same, each(space_of, objects), held)
                )
            except error:
                return False

        return intact


_Spaces = list[tuple[Any, tuple[str, ...]]]  # dictionaries, and the names that are looked at


def _comparison(fixed: _Spaces, some: _Spaces) -> Callable[[], bool]:
    """A function that tells whether the names of these spaces stand for what they do now.

    To a `fixed` space no name may come either.
    """
    every, same, each, size = all, is_, map, len
    counts = [(space, len(space)) for space, _ in fixed]
    remembered = [
        (space.__getitem__, names, tuple(map(space.__getitem__, names)))
        for space, names in (*fixed, *some)
    ]

    def compared() -> bool:
        return every([size(space) == count for space, count in counts]) and every(
            [every(each(same, each(look, names), was)) for look, names, was in remembered]
        )

    return compared


_content, _space_of = attrgetter("cell_contents"), attrgetter("__dict__")


def _spaces(modules: list[types.ModuleType]) -> list[tuple[Any, bool]]:
    """What holds the names and constants of modules, and whether names may come to it later."""
    spaces: list[tuple[Any, bool]] = []
    for module in modules:
        space = vars(module)
        _fill_caches(module)
        space.setdefault("__warningregistry__", {})  # Python adds it with the first warning
        spaces.append((space, "__getattr__" in space))  # a lazy package keeps what it imported
        for name, value in space.items():
            if getattr(value, "__module__", None) == module.__name__ and isinstance(value, type):
                _fill_caches(value)
                spaces.append((vars(value), False))
            elif type(value) is dict and name.isupper():
                spaces.append((value, False))
    spaces += [(vars(one), False) for module in modules for one in _constant_objects(module)]
    return spaces


def _fill_caches(one: Any) -> None:
    """Let Python keep in a module or class what it keeps there once it is looked at.

    With the first copy of an object, its class gets the names of its slots; and who asks for
    annotations where there are none leaves an empty dictionary.
    """
    with contextlib.suppress(Exception):  # annotations may name what is not there any more
        one.__annotations__  # noqa: B018
    if isinstance(one, type):
        _slot_names(one)


def _constant_objects(module: types.ModuleType) -> list[Any]:
    """The module's constants that are instances of its own classes, with attributes."""
    return [
        value
        for name, value in vars(module).items()
        if name.isupper()
        and type(value).__module__ == module.__name__
        and isinstance(getattr(value, "__dict__", None), dict)
    ]


def _reader(addresses: Iterable[int], *alive: object) -> Callable[[], bytes]:
    """A function that reads the words of memory at these addresses; nothing where there are none.

    It keeps `alive` what lies there, and what is found there: nothing else can come to its place.
    """
    addresses = list(addresses)
    if not addresses:
        return bytes
    low, high = min(addresses), max(addresses)
    span = (ctypes.c_uint64 * ((high - low) // _WORD_NBYTES + 1)).from_address(low)
    take = np.frombuffer(memoryview(span), dtype=np.uint64).take  # of all between, only these
    places = np.array([(one - low) // _WORD_NBYTES for one in addresses])

    def read(_: object = alive) -> bytes:
        return take(places).tobytes()

    return read


def _versions(spaces: Iterable[Any]) -> tuple[int, ...]:
    """The addresses of the version numbers of these dictionaries.

    None where this Python keeps no such numbers.
    """
    sample = {"a": 0}
    look = _reader([_version_address(sample)], sample)
    numbers = [look()]
    for change in (lambda: sample.update(a=1), lambda: sample.update(b=1), sample.clear):
        change()
        numbers.append(look())
    if len(set(numbers)) < len(numbers):
        return ()
    return tuple(_version_address(_dict_of(space)) for space in spaces)


def _version_address(space: dict[Any, Any]) -> int:
    # A dict in C: what every object has, the number of its items, its version, …
    return id(space) + object.__basicsize__ + ctypes.sizeof(ctypes.c_ssize_t)


def _content_address(cell: Any) -> int:
    # A cell in C: what every object has, and where its content lies.
    return id(cell) + object.__basicsize__


def _dict_of(space: Any) -> dict[Any, Any]:
    """The dictionary itself; `vars` of a class gives a proxy."""
    return space if isinstance(space, dict) else gc.get_referents(space)[0]


def _cells(value: Any) -> list[Any]:
    """What the function closes over that `value` is or wraps."""
    for name in ("fget", "__func__", "__wrapped__"):
        value = getattr(value, name, None) or value
    cells = value.__closure__ or () if isinstance(value, _FUNCTION) else ()
    return [cell for cell in cells if _is_full(cell)]


def _is_full(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:  # nothing was put into it yet
        return False
