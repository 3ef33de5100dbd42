"""What the tests of checkpoints' contents need: storages counted, and objects made from words.

What `slimmed` returns, among others:

    bytes   the sizes of the storages
    ties    the numbers of the storages from 1 on, in their order; -1 for one of the argument, and
            for one of the first call's; tensors without elements have none
    kept    for each entry of the argument whether it's the same object afterwards
    passed  for each that isn't a tensor whether that very object is in the result
    first   with `again`, what the first call's copies hold then
"""

from __future__ import annotations

import io
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from enum import Enum, IntEnum, StrEnum
from fractions import Fraction
from pathlib import Path, PurePosixPath, PureWindowsPath
from types import MappingProxyType, SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import torch

from course.probes.decorator import probe

__all__ = ["made_plain", "migrated", "slimmed"]


@probe
def slimmed(
    slim: Callable[..., Any], state: dict[str, Any], *, again: bool = False
) -> dict[str, Any]:
    """What `slim(state)` returns, and in which storages its tensors lie.

    The keys of what it returns stand at the head of this module.

    Args:
        slim: The answer.
        state: A state dict.
        again: Whether all elements become 0 after a first call, and the rest is told of a second
            one.
    """
    held = deepcopy(state) if again else state
    entries, first = list(held.values()), dict[str, Any]()
    if again:
        first = slim(held)
        for one in _in(held):
            one.detach().zero_()
    numbers = {one.untyped_storage().data_ptr(): -1 for one in [*_in(held), *_in(first)]}
    new = {0: 0}
    found = slim(held)
    tensors = _in(found)
    places = [one.untyped_storage().data_ptr() for one in tensors if one.numel()]
    return {
        "keys": list(found),
        "values": list(found.values()),
        "bytes": [one.untyped_storage().nbytes() for one in tensors],
        "ties": [numbers.get(one) or new.setdefault(one, len(new)) for one in places],
        "graph": [one.requires_grad for one in tensors],
        "classes": [type(one).__name__ for one in tensors],
        "kept": [a is b for a, b in zip(entries, held.values(), strict=False)],
        "passed": [
            found.get(name) is one
            for name, one in zip(held, entries, strict=False)
            if not isinstance(one, torch.Tensor)
        ],
        "first": list(first.values()),
    }


def _in(state: dict[str, Any]) -> list[torch.Tensor]:
    return [one for one in state.values() if isinstance(one, torch.Tensor)]


@probe
def migrated(
    migrate: Callable[..., Any], checkpoint: dict[str, Any], *, ordered: bool = False
) -> dict[str, Any]:
    """What `migrate(checkpoint)` returns, and how many of its tensors aren't the argument's.

    Args:
        migrate: The answer.
        checkpoint: A dict, which may have more of them in it.
        ordered: Whether it and the dicts in it are of the class that modules give.

    Returns:
        "result"; "others" counts the tensors that are other objects, copies and views; "keys" are
        those of the argument and of the dicts in it, after the call.
    """
    if ordered:
        checkpoint = _ordered(checkpoint)
    given: dict[int, int] = {}
    _tensors(checkpoint, given)
    found = migrate(checkpoint)
    return {
        "result": _unordered(found) if ordered else found,
        "others": _others(found, given),
        "keys": [list(one) for one in _leaves(checkpoint) if isinstance(one, dict)],
    }


def _others(found: Any, given: dict[int, int]) -> int:
    """How many tensors in what was found aren't those that were given."""
    return len([number for number in _numbered(found, given) if number < 0])


def _ordered(value: Any) -> Any:
    """The same with an OrderedDict for each dict."""
    if not isinstance(value, dict):
        return value
    return OrderedDict((key, _ordered(one)) for key, one in value.items())


def _unordered(value: Any) -> Any:
    """The same with a dict for each OrderedDict: which of them it is, is up to the learner."""
    if not isinstance(value, dict):
        return value
    return {key: _unordered(one) for key, one in value.items()}


_TENSORS = (torch.ones(2, 2), torch.ones(2), torch.nn.Parameter(torch.ones(3)))
_Pair = namedtuple("_Pair", ["low", "high"])


@dataclass
class _Settings:
    """The settings of a run, as a dataclass."""

    rate: Any
    note: Any = None


@dataclass
class _Filled:
    """A dataclass whose fields have defaults, so the class has them as attributes, too."""

    rate: Any = 0.1
    held: ClassVar[int] = 3
    note: Any = field(default=None, init=False)


@dataclass(slots=True, frozen=True)
class _Slotted:
    """A dataclass without a __dict__."""

    rate: Any
    note: Any = None


class _Name(StrEnum):
    """A member is a text."""

    ADAM = "adam"


class _Level(IntEnum):
    """A member is a number."""

    HIGH = 3


class _Span(tuple[int, int], Enum):
    """A member is a tuple."""

    NARROW = (1, 2)


class _Chosen(_Settings, Enum):
    """A member is an object of a dataclass."""

    FAST = (0.1, None)


class _Whole(int):
    """A number of one's own."""


class _Real(float):
    """A number of one's own."""


class _Text(str):
    """A text of one's own."""


class _Other:
    """Something that no rule speaks of."""

    def __repr__(self) -> str:
        return "<something else>"


# torch.save looks a class up by the name of its module, and importing that here would count as a
# change of what measures. In `__main__` it finds none of them and refuses.
for _class in (
    *(_Pair, _Settings, _Filled, _Slotted, _Name, _Level, _Span, _Chosen, _Whole, _Real, _Text),
    _Other,
):
    _class.__module__ = "__main__"


def _array(tensor: torch.Tensor, how: str = "plain") -> np.ndarray[Any, Any]:
    array = tensor.numpy().copy()
    if how == "reversed":
        return array[::-1]
    if how == "transposed":
        return array.T
    array.setflags(write=how != "read-only")
    return array


def _marked(settings: _Settings) -> _Settings:
    """One with an attribute that isn't a field."""
    settings.started = "today"  # type: ignore[attr-defined]
    return settings


_OWN: dict[type, Callable[..., Any]] = {int: _Whole, float: _Real, str: _Text}
_ODD: dict[str, Any] = {
    "bytes": b"adam",
    "bytearray": bytearray(b"adam"),
    "range": range(2),
    "slice": slice(2),
    "fraction": Fraction(1, 2),
    "deque": deque([1]),
    "mapping": MappingProxyType({"a": 1}),
    "keys": {"a": 1}.keys(),
    "iterator": iter([1]),
    "namespace": SimpleNamespace(a=1),
    "ellipsis": ...,
}

_OBJECTS: dict[str, Callable[..., Any]] = {
    "numpy": lambda name, value: getattr(np, name)(value),
    "array": _array,
    "tensor": lambda number: _TENSORS[number],
    "path": lambda text: Path(text),
    "pure path": lambda text: PurePosixPath(text),
    "pair": lambda low, high: _Pair(_object(low), _object(high)),
    "settings": lambda rate, note: _Settings(_object(rate), _object(note)),
    "dict": lambda pairs: {_object(k): _object(v) for k, v in pairs},
    "ordered": lambda pairs: OrderedDict((_object(k), _object(v)) for k, v in pairs),
    "default": lambda pairs: defaultdict(list, {_object(k): _object(v) for k, v in pairs}),
    "counter": lambda text: Counter(text),
    "list": lambda items: [_object(one) for one in items],
    "tuple": lambda items: tuple(_object(one) for one in items),
    "set": lambda items: {_object(one) for one in items},
    "frozen set": lambda items: frozenset(_object(one) for one in items),
    "marked": lambda rate: _marked(_Settings(_object(rate))),
    "filled": lambda rate: _Filled(_object(rate)),
    "slotted": lambda rate, note: _Slotted(_object(rate), _object(note)),
    "span": lambda: _Span.NARROW,
    "chosen": lambda: _Chosen.FAST,
    "own": lambda value: _OWN[type(value)](value),
    "windows path": lambda text: PureWindowsPath(text),
    "odd": lambda name: _ODD[name],
    "class of defaults": lambda: _Filled,
    "member": lambda value: (_Name if isinstance(value, str) else _Level)(value),
    "other": lambda: _Other(),
    "class": lambda: _Settings,
    "function": lambda: len,
}


def _object(said: Any) -> Any:
    """What a tuple of a word and its arguments stands for; anything else stands for itself."""
    return _OBJECTS[said[0]](*said[1:]) if isinstance(said, tuple) else said


@probe
def made_plain(plain: Callable[..., Any], said: Any) -> dict[str, Any]:
    """What `plain` makes of an object, and whether it can be loaded.

    Args:
        plain: Called with the object.
        said: Stands for it: plain data, or a tuple of a word and its arguments, such as ("numpy",
            "float64", 0.5), ("path", "runs") or ("dict", [(key, value)]).
    """
    made = _object(said)
    before = _classes(made)
    found = plain(made)
    given: dict[int, int] = {}
    _tensors(made, given)
    return {
        "result": found,
        "classes": _classes(found),
        "given": before,
        "afterwards": _classes(made),
        "tensors": _numbered(found, given),
        "opens": _opens(found),
        "memory": _memory(made, found),
    }


def _parts(value: Any) -> list[Any]:
    """What a container or a dataclass of ours holds."""
    if isinstance(value, dict):
        return [*value.keys(), *value.values()]
    if isinstance(value, _Settings | _Filled | _Slotted):
        return [value.rate, value.note]
    if isinstance(value, set | frozenset):
        return sorted(value, key=repr)
    return list(value) if isinstance(value, list | tuple) else []


def _classes(value: Any) -> Any:
    """The class of a value and of all that's in it."""
    inner = [_classes(one) for one in _parts(value)]
    return [type(value).__name__, inner] if inner else type(value).__name__


def _tensors(value: Any, found: dict[int, int]) -> None:
    """Number the tensors in it, by their identity."""
    if isinstance(value, torch.Tensor):
        found.setdefault(id(value), len(found))
    for one in _parts(value):
        _tensors(one, found)


def _numbered(value: Any, given: dict[int, int]) -> list[int]:
    """The numbers of the tensors in it, in their order; -1 for one that wasn't given."""
    own = [given.get(id(value), -1)] if isinstance(value, torch.Tensor) else []
    return own + [number for one in _parts(value) for number in _numbered(one, given)]


def _memory(made: Any, found: Any) -> list[bool]:
    """For each tensor in the result, whether it starts where an array of the argument lies."""
    arrays = {one.ctypes.data for one in _leaves(made) if isinstance(one, np.ndarray)}
    tensors = [one for one in _leaves(found) if isinstance(one, torch.Tensor) and one.numel()]
    return [bool(arrays & {one.data_ptr()}) for one in tensors]


def _leaves(value: Any) -> list[Any]:
    return [value] + [leaf for one in _parts(value) for leaf in _leaves(one)]


def _opens(value: Any) -> str:
    """Whether `torch.load` takes it with weights_only=True: "yes", or why not."""
    held = io.BytesIO()
    try:
        torch.save(value, held)
        held.seek(0)
        torch.load(held, weights_only=True)
    except Exception as error:
        return type(error).__name__
    return "yes"
