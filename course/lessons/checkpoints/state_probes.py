"""What the tests of checkpoints' contents need: storages counted, and objects made from words.

What `slimmed` returns, beside "keys" and "values":

    bytes   the sizes of the storages
    ties    the numbers of the storages from 1 on, in their order; -1 for one of the argument or of
            an earlier call; tensors without elements have none
    kept    for each entry of the argument whether it's the same object afterwards
"""

from __future__ import annotations

import io
from collections import OrderedDict, defaultdict, namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import torch

from course.inspection.class_names import class_name
from course.probes.decorator import probe

__all__ = ["made_plain", "migrated", "slimmed"]


@probe
def slimmed(
    slim: Callable[..., Any], state: dict[str, Any], then: float | None = None
) -> dict[str, Any]:
    """What `slim(state)` returns, and in which storages its tensors lie.

    The keys of what it returns stand at the head of this module.

    Args:
        slim: The answer.
        state: A state dict.
        then: What its tensors are filled with after a first call; what's returned is of a second.
    """
    entries = list(state.values())
    numbers = {one.untyped_storage().data_ptr(): -1 for one in _in(state)}
    new = {0: 0}
    if then is not None:
        earlier = _in(slim(state))
        numbers |= {one.untyped_storage().data_ptr(): -1 for one in earlier}
        for one in _in(state):
            one.fill_(then)
    found = slim(state)
    tensors = _in(found)
    places = [one.untyped_storage().data_ptr() for one in tensors if one.numel()]
    return {
        "keys": list(found),
        "values": list(found.values()),
        "bytes": [one.untyped_storage().nbytes() for one in tensors],
        "ties": [numbers.get(one) or new.setdefault(one, len(new)) for one in places],
        "kept": [a is b for a, b in zip(entries, state.values(), strict=False)],
    }


def _in(state: dict[str, Any]) -> list[torch.Tensor]:
    return [one for one in state.values() if isinstance(one, torch.Tensor)]


@probe
def migrated(migrate: Callable[..., Any], checkpoint: dict[str, Any]) -> dict[str, Any]:
    """What `migrate(checkpoint)` returns, and how many of its tensors aren't the argument's.

    Args:
        migrate: The answer.
        checkpoint: A dict, which may have more of them in it.

    Returns:
        "result"; "others" counts the tensors that are other objects, copies and views; "keys" are
        those of the argument and of the dicts in it, after the call.
    """
    given: dict[int, int] = {}
    _tensors(checkpoint, given)
    found = migrate(checkpoint)
    return {
        "result": found,
        "others": _others(found, given),
        "keys": [list(one) for one in _leaves(checkpoint) if isinstance(one, dict)],
    }


def _others(found: Any, given: dict[int, int]) -> int:
    """How many tensors in what was found aren't those that were given."""
    return len([number for number in _numbered(found, given) if number < 0])


_TENSORS = (torch.ones(2, 2), torch.ones(2), torch.nn.Parameter(torch.ones(3)))
_Pair = namedtuple("_Pair", ["low", "high"])


@dataclass
class _Settings:
    """The settings of a run, as a dataclass."""

    rate: Any
    note: Any = None


@dataclass(slots=True, frozen=True)
class _Slotted:
    """A dataclass without a __dict__."""

    rate: Any
    note: Any = None


class _Other:
    """Something that no rule speaks of."""

    def __repr__(self) -> str:
        return "<something else>"


class _Whole(int):
    """A number of a class of its own."""


class _Rate(float):
    """Another one."""


class _Word(str):
    """A text of a class of its own."""


# torch.save looks a class up by the name of its module, and importing that here would count as a
# change of what measures. In `__main__` it finds none of them and refuses.
for _class in (*(_Pair, _Settings, _Slotted, _Other), *(_Whole, _Rate, _Word)):
    _class.__module__ = "__main__"


_ODD: dict[str, Any] = {"range": range(2), "slice": slice(2), "fraction": Fraction(1, 2)}
_ODD |= {"int": _Whole(3), "float": _Rate(0.5), "str": _Word("adam")}

_OBJECTS: dict[str, Callable[..., Any]] = {
    "numpy": lambda name, value: getattr(np, name)(value),
    "array": lambda tensor: tensor.numpy().copy(),
    "tensor": lambda number: _TENSORS[number],
    "path": lambda text: Path(text),
    "pair": lambda low, high: _Pair(_object(low), _object(high)),
    "settings": lambda rate, note: _Settings(_object(rate), _object(note)),
    "dict": lambda pairs: {_object(k): _object(v) for k, v in pairs},
    "ordered": lambda pairs: OrderedDict((_object(k), _object(v)) for k, v in pairs),
    "default": lambda pairs: defaultdict(list, {_object(k): _object(v) for k, v in pairs}),
    "list": lambda items: [_object(one) for one in items],
    "tuple": lambda items: tuple(_object(one) for one in items),
    "slotted": lambda rate, note: _Slotted(_object(rate), _object(note)),
    "odd": lambda name: _ODD[name],
    "other": lambda: _Other(),
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
    }


def _parts(value: Any) -> list[Any]:
    """What a container or a dataclass of ours holds."""
    if isinstance(value, dict):
        return [*value.keys(), *value.values()]
    if isinstance(value, _Settings | _Slotted):
        return [value.rate, value.note]
    return list(value) if isinstance(value, list | tuple) else []


def _classes(value: Any) -> Any:
    """The class of a value and of all that's in it."""
    inner = [_classes(one) for one in _parts(value)]
    return [class_name(value), inner] if inner else class_name(value)


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
        return class_name(error)
    return "yes"
