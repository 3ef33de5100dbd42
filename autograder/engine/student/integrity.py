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
import ctypes
import gc
import types
import warnings
from collections.abc import Callable, Iterable
from itertools import chain
from operator import attrgetter, eq, is_
from typing import Any

import numpy as np
import torch
import torch.overrides
import torch.utils._python_dispatch
import torch.utils._pytree
from torch.multiprocessing import reductions

_FUNCTION = types.FunctionType
_WORD_NBYTES = 8
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
        fixed = [space for space, grows in spaces if not grows] + [vars(one) for one in copies]
        some = [(space, tuple(space)) for space, grows in spaces if grows]
        some += [(vars(one), tuple(n for n in names if n in vars(one))) for one, names in _ALSO]
        values = [value for space, _ in spaces for value in space.values()]
        values += [space[name] for space, names in some for name in names]
        cells = {id(cell): cell for value in values for cell in _cells(value)}
        self._fixed = tuple(fixed)
        self._some = tuple((space.__getitem__, names) for space, names in some)
        self._cells = tuple(cells.values())
        self._objects = tuple(one for module in modules for one in _constant_objects(module))
        self._versions = _versions(fixed)
        self._versions_of_some = _versions(space for space, _ in some)

    def verifier(self) -> Callable[[], bool]:
        """A function that tells whether all of it still stands; its loops are C's, for speed."""
        every, same, each, error = all, is_, map, (AttributeError, KeyError)
        compare, compare_some = self._comparison(), _comparison_of(self._some)
        objects, kind, space_of = self._objects, type, _space_of
        kinds = tuple(each(kind, objects))
        held, has_versions = tuple(each(space_of, objects)), bool(self._versions)
        words = [*self._versions, *map(_content_address, self._cells)]
        contents = tuple(each(_content, self._cells))
        look = _reader(words, self._fixed, self._cells, contents)
        look_at_some = _reader(self._versions_of_some, self._some)
        first, latest = look(), [b""]

        def intact() -> bool:
            try:
                # No number comes twice: what was changed and put back is seen, too.
                if look() != first or not (has_versions or compare()):
                    return False
                some = look_at_some()
                if not some or some != latest[0]:  # a name came to one, or nobody can say
                    if not compare_some(some, latest[0]):
                        return False
                    latest[0] = some
                return every(each(same, each(kind, objects), kinds)) and every(
                    each(same, each(space_of, objects), held)
                )
            except error:
                return False

        return intact

    def _comparison(self) -> Callable[[], bool]:
        """A function that tells whether the dictionaries that do not grow hold what they do now."""
        every, same, each, chained, equal = all, is_, map, chain.from_iterable, eq
        fixed, size = self._fixed, len
        values = tuple(space.values() for space in fixed)  # views: they show what is there
        sizes = tuple(each(size, fixed))
        # In their order: who takes a name out and puts another one in puts it at the end.
        held = tuple(chained(values))

        def compare() -> bool:
            try:
                return every(each(equal, each(size, fixed), sizes)) and every(
                    each(same, chained(values), held)
                )
            except RuntimeError:  # one of them grew meanwhile
                return False

        return compare


_Look = Callable[[str], Any]


def _comparison_of(some: Iterable[tuple[_Look, tuple[str, ...]]]) -> Callable[[bytes, bytes], bool]:
    """A function that tells whether these names stand for what they do now.

    It is given the version numbers of the spaces now and when they were last compared; where these
    are the same, nobody has to look.
    """
    every, same, each, size = all, is_, map, _WORD_NBYTES
    others = tuple(
        (slice(at * size, (at + 1) * size), look, of, tuple(each(look, of)))
        for at, (look, of) in enumerate(some)
    )

    def compare(now: bytes, then: bytes) -> bool:
        return every(
            [
                every(each(same, each(look, of), was))
                for at, look, of, was in others
                if not now or now[at] != then[at]
            ]
        )

    return compare


_content, _space_of = attrgetter("cell_contents"), attrgetter("__dict__")


def _spaces(modules: list[types.ModuleType]) -> list[tuple[Any, bool]]:
    """What holds the names and constants of modules, and whether names may come to it later."""
    spaces: list[tuple[Any, bool]] = []
    for module in modules:
        space = vars(module)
        space.setdefault("__warningregistry__", {})  # Python adds it with the first warning
        spaces.append((space, "__getattr__" in space))  # a lazy package keeps what it imported
        for name, value in space.items():
            if getattr(value, "__module__", None) == module.__name__ and isinstance(value, type):
                spaces.append((vars(value), False))
            elif type(value) is dict and name.isupper():
                spaces.append((value, False))
    spaces += [(vars(one), False) for module in modules for one in _constant_objects(module)]
    return spaces


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
