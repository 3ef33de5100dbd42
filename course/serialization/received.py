"""The plain form of what an answer returns: values that outlive the run and fit into a frame.

A tensor becomes a `SeenTensor` (its facts and, where they fit, its elements). What has no
plain form (a module, a loader, an optimizer, a function) becomes a `Handle`. What is not there
becomes `Absent`, with the reason. `Value` lets a test cell walk through all of them without
ever raising.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from course.inspection.facts import TensorFacts

__all__ = [
    "Absent",
    "Deferred",
    "Handle",
    "Probed",
    "SeenTensor",
    "Value",
    "as_node",
    "looking",
    "note_missed",
    "read_in_vain",
    "take_missed",
]


@dataclass(frozen=True)
class Absent:
    """Something a test asked for that is not there, and why.

    Whatever a condition does with it raises `AbsentError`, so that a check can say the reason.
    `fault` is True where the course could not look, on this version of PyTorch.
    """

    reason: str
    attempted: bool = True
    fault: bool = False

    def __eq__(self, other: object) -> bool:
        note_missed(self)
        return isinstance(other, Absent) and vars(self) == vars(other)

    def _refuse(self, *others: object) -> Any:
        raise AbsentError(self)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # Python and torch look for these on any object
            raise AttributeError(name)
        raise AbsentError(self)

    # `__ne__`, too: of what is not there it would hold that it differs from anything.
    __ne__ = __getitem__ = __iter__ = __contains__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refuse
    __truediv__ = __rtruediv__ = __abs__ = __len__ = __int__ = __float__ = _refuse


class AbsentError(AttributeError):
    """Something was done with what is not there; `absent` says why it is not."""

    def __init__(self, absent: Absent) -> None:
        super().__init__(absent.reason)
        self.absent = absent


@dataclass
class _Missed:
    """What was first looked at in vain; `read` where somebody did more than ask whether it is."""

    absent: Absent | None = None
    read: Absent | None = None


_missed = _Missed()


def note_missed(absent: Absent, read: bool = True) -> None:
    """Remember that somebody looked at this in vain; not `read` where he asked if it is there.

    A condition such as `seen.ok and seen.result.plain == 3` is a bare False by the time a check
    gets it; this is how the check knows that nothing came back.
    """
    if _missed.absent is None:
        _missed.absent = absent
    if read and _missed.read is None:
        _missed.read = absent


def read_in_vain() -> Absent | None:
    """The first thing that was read and is not there, since `take_missed` was last called."""
    return _missed.read


def take_missed() -> Absent | None:
    """The first thing that was looked at in vain since this was last asked; None where all was."""
    found, _missed.absent, _missed.read = _missed.absent, None, None
    return found


@dataclass(frozen=True)
class Handle:
    """A live object that stays beside the answer; `number` lets a later call or probe take it.

    `kind` is one of module, loader, dataset, sampler, optimizer, function, class, iterator,
    tensor subclass or object; `about` holds what the object has that is plain.
    """

    kind: str
    type_name: str
    number: int = 0
    about: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class SeenTensor:
    """The facts of a tensor, and a tensor with the same elements and strides.

    `tensor` is None when the elements were too many to carry, or have no bytes to read.
    """

    facts: TensorFacts
    tensor: torch.Tensor | None


Call = Callable[[], str]


@dataclass
class _Looking:
    """The values that somebody has looked at, while anybody wants to know."""

    at: list[Value] | None = None


_looking = _Looking()


@contextmanager
def looking(at: list[Value]) -> Iterator[None]:
    """Keeps the values that are looked at within: of a condition, what it is about."""
    before, _looking.at = _looking.at, at
    try:
        yield
    finally:
        _looking.at = before


class Value:
    """A walk through a plain form. A wrong step leads to an absent value and never raises.

    A loop over what is no sequence meets one absent value: whatever is asserted within would hold
    of none. `==`, `in` and `not` mean of a value what they mean of what is `plain` there, and
    always are True or False: arrays are equal where their shapes and all elements are, and one of
    several elements is equal to no number.

    `idle` is what would stand here had nothing been done: for a result each of the arguments, for
    an argument afterwards the same one before. It is empty where nobody can say. `call` writes the
    call that led to it, as code; it is None where there was none.
    """

    __slots__ = ("_call", "_idle", "_node", "_where")

    def __init__(
        self,
        node: Any,
        where: str = "the result",
        idle: tuple[Value, ...] = (),
        call: Call | None = None,
    ) -> None:
        self._node = node
        self._where = where
        self._idle = idle
        self._call = call

    @property
    def node(self) -> Any:
        """The plain form itself: plain data with `SeenTensor`, `Handle` or `Absent` inside."""
        return self._looked_at()

    def _looked_at(self, read: bool = True) -> Any:
        node = self._node
        if isinstance(node, Absent):
            note_missed(node, read)
        if _looking.at is not None:
            _looking.at.append(self)
        return node

    @property
    def where(self) -> str:
        """How a message names this value, for example `the result[0]`."""
        return self._where

    @property
    def idle(self) -> tuple[Value, ...]:
        """What would stand here had nothing been done; empty where nobody can say."""
        return self._idle

    @property
    def call(self) -> Call | None:
        """Writes the call that led to it, as code; None where there was none."""
        return self._call

    @property
    def facts(self) -> TensorFacts | Absent:
        """The facts of the tensor here, or why there are none."""
        if _looking.at is not None:
            _looking.at.append(self)
        if isinstance(self._node, SeenTensor):
            return self._node.facts
        found = self._missing(f"{self.where} is {describe(self._node)}, not a tensor")
        note_missed(found)
        return found

    @property
    def plain(self) -> Any:
        """Plain data with tensors in place; `Absent` where there is nothing to compare."""
        return _to_plain(self._looked_at())

    @property
    def present(self) -> bool:
        """Whether there is anything here at all."""
        return not isinstance(self._looked_at(read=False), Absent)

    def __getitem__(self, key: Any) -> Value:
        where = f"{self._where}[{_as_typed(key)}]"
        idle = tuple(one[key] for one in self._idle)
        return Value(self._item(key), where, idle, self._call)

    def _item(self, key: Any) -> Any:
        """What stands under a key; `Absent` where nothing does."""
        node = self._node
        if isinstance(node, Absent):
            return node
        try:
            if not isinstance(node, SeenTensor):
                return _children(node)[key]
            if node.tensor is None:
                return Absent(f"{self.where} was too large to carry")
            return node.tensor[key].tolist()
        except (KeyError, IndexError, TypeError):
            return Absent(f"{self.where} is {describe(node)}; it has no item {_as_typed(key)}")

    def attribute(self, name: str) -> Value:
        """What a handle's `about` says under a name (a module's `training`, for example)."""
        where = f"{self.where}.{name}"
        found = self._missing(f"{self.where} is {describe(self._node)}; it has no {name!r}")
        if isinstance(self._node, Handle) and name in self._node.about:
            found = self._node.about[name]
        return Value(found, where, (), self._call)

    def __len__(self) -> int:
        count = self._length()
        if count is None:
            note_missed(self._missing(f"{self.where} is {describe(self._node)}; it has no length"))
        return count or 0

    def _length(self) -> int | None:
        """How many items it has; None where it is nothing that has any."""
        node = self._looked_at()
        if isinstance(node, SeenTensor):
            return node.facts.shape[0] if node.facts.shape else None
        return len(node) if isinstance(node, _SEQUENCES) else None

    def __iter__(self) -> Iterator[Value]:
        node, count = self._node, self._length()
        if isinstance(node, set | frozenset):
            return iter([Value(one, f"an item of {self.where}", (), self._call) for one in node])
        # Where there are no items, not even the first is there; its reason says so.
        keys = node if isinstance(node, dict) else range(1 if count is None else count)
        return iter([self[key] for key in keys])

    def __contains__(self, item: object) -> bool:
        plain, sought = self.plain, item.plain if isinstance(item, Value) else item
        if not isinstance(plain, Absent) and not hasattr(type(plain), "__contains__"):
            # False would do for `not in`.
            raise AbsentError(Absent(f"{self.where} is {describe(self._node)}; it has no items"))
        return _is_among(sought, plain)

    def __bool__(self) -> bool:
        node = self._looked_at()
        if isinstance(node, bool | int | float | complex):
            return bool(node)
        if isinstance(node, SeenTensor) and node.facts.numel == 1:
            return bool(self.plain)
        return isinstance(node, Handle) or bool(self._length())

    def __eq__(self, other: object) -> bool:
        return _are_equal(self.plain, other.plain if isinstance(other, Value) else other)

    def __ne__(self, other: object) -> bool:
        plain = self.plain
        return bool(plain != other) if isinstance(plain, Absent) else not self == other

    def _missing(self, reason: str) -> Absent:
        return self._node if isinstance(self._node, Absent) else Absent(reason)

    def of_call(self, call: Call | None, idle: tuple[Value, ...]) -> Value:
        """The same value, which knows its call, and what would stand here had it done nothing."""
        return Value(self._node, self._where, idle, call)

    def __repr__(self) -> str:
        return f"<{self.where}: {describe(self._node)}>"


class Probed(Value):
    """What a probe saw of the learner's function `about`.

    The fields of its result have names that no learner has read, so messages say whom they are
    about: "losses[0] (with `fit`)". What stands under "result" is the function's own.
    """

    __slots__ = ("_about",)

    def __init__(
        self, node: Any, about: str, path: str = "", idle: tuple[Value, ...] = (), call: Any = None
    ) -> None:
        self._about = about
        super().__init__(node, path, idle, call)

    @property
    def where(self) -> str:
        """How a message names this value."""
        return f"{self._where or 'what was seen'} (with `{self._about}`)"

    def __getitem__(self, key: Any) -> Value:
        item = self._item(key)
        if self._where or not isinstance(key, str):
            path = f"{self._where or 'what was seen'}[{_as_typed(key)}]"
        elif key == "result":
            return Value(item, f"the result of `{self._about}`", (), self._call)
        else:
            path = key.replace("_", " ")
        return Probed(item, self._about, path, (), self._call)

    def of_call(self, call: Call | None, idle: tuple[Value, ...]) -> Value:
        """The same value, which knows its call."""
        return Probed(self._node, self._about, self._where, idle, call)


class Deferred(Value):
    """A value whose plain form is made when somebody looks at it; most checks never do."""

    __slots__ = ("_made", "_make")

    def __init__(
        self,
        make: Callable[[], Any],
        where: str,
        idle: tuple[Value, ...] = (),
        call: Call | None = None,
    ) -> None:
        self._make: Callable[[], Any] | None = make
        super().__init__(None, where, idle, call)

    @property
    def _node(self) -> Any:
        if self._make is not None:
            self._made, self._make = self._make(), None
        return self._made

    @_node.setter
    def _node(self, node: Any) -> None:
        self._made = node

    def of_call(self, call: Call | None, idle: tuple[Value, ...]) -> Value:
        """The same value, still not made; see `Value.of_call`."""
        return Deferred(lambda: self._node, self._where, idle, call)


def as_node(subject: Any) -> Any:
    """The plain form inside a `Value`, or the subject itself."""
    return subject._node if isinstance(subject, Value) else subject


def _as_typed(key: Any) -> str:
    """A key as it stands between brackets: a slice as `:4`, not as `slice(None, 4, None)`."""
    if isinstance(key, tuple) and key:
        return ", ".join(map(_as_typed, key)) + ("," if len(key) == 1 else "")
    if not isinstance(key, slice):
        return "..." if key is ... else repr(key)
    ends = ["" if end is None else repr(end) for end in (key.start, key.stop, key.step)]
    return ":".join(ends if ends[2] else ends[:2])


def describe(node: Any) -> str:
    """A few words that name a plain form in a message, at most some 120 characters long."""
    if isinstance(node, Absent):
        return "absent"
    if isinstance(node, SeenTensor):
        return f"a tensor of shape {node.facts.shape}"
    if isinstance(node, torch.Tensor):
        return f"a tensor of shape {tuple(node.shape)}"
    if isinstance(node, Handle):
        return f"an object of class {node.type_name}"
    if node is None:
        return "None"
    if isinstance(node, list | tuple | dict | set | frozenset):
        return f"a {type(node).__name__} of {len(node)}"
    text = repr(node)
    shown = text if len(text) <= 80 else text[:77] + "..."
    return f"the {type(node).__name__} {shown}"


_SEQUENCES = (list, tuple, dict, str, set, frozenset)


def _are_equal(one: Any, other: Any) -> bool:
    """Whether two plain values are the same as a whole; arrays would say so of each element.

    Where two dtypes meet, or a dtype and a number, the elements are compared as Python's numbers:
    arrays round or wrap one of the two to the other's dtype.
    """
    if isinstance(other, _ARRAYS) and not isinstance(one, _ARRAYS):
        one, other = other, one
    if isinstance(one, _ARRAYS):
        if isinstance(other, _ARRAYS):
            return one.shape == other.shape and _has_equal_elements(one, other)
        number = other.item() if isinstance(other, np.generic) else other
        is_one = isinstance(number, _NUMBERS) and math.prod(one.shape) == 1
        return is_one and bool(_elements(one.reshape(())) == _as_written(number, one))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_are_equal(v, other[k]) for k, v in one.items())
    if any(isinstance(one, kind) and isinstance(other, kind) for kind in (list, tuple)):
        return len(one) == len(other) and all(map(_are_equal, one, other))
    return bool(one == other)


_ARRAYS, _NUMBERS = (torch.Tensor, np.ndarray), (bool, int, float, complex)


def _as_written(number: Any, array: Any) -> Any:
    """A number that somebody writes for an element of an array: 0.1 for the float32 next to it."""
    is_wide = array.dtype.itemsize >= torch.float32.itemsize
    if isinstance(number, int) or not is_wide:
        return number
    if isinstance(array, np.ndarray):
        return array.dtype.type(number).item() if array.dtype.kind == "f" else number
    is_real = array.dtype.is_floating_point and not isinstance(number, complex)
    return torch.tensor(number, dtype=array.dtype).item() if is_real else number


def _has_equal_elements(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor) and one.dtype == getattr(other, "dtype", None):
        return torch.equal(one, other)
    return bool(_elements(one) == _elements(other))


def _elements(array: Any) -> Any:
    """The elements as Python's numbers, in lists as deep as the array has dimensions."""
    is_narrow = isinstance(array, torch.Tensor) and array.dtype.itemsize == 1
    return (array.float() if is_narrow and array.is_floating_point() else array).tolist()


def _is_among(item: Any, plain: Any) -> bool:
    """Whether an item is in a plain value, for an array: one of its elements or rows."""
    if isinstance(plain, _ARRAYS):
        number = item.item() if isinstance(item, np.generic) else item
        if isinstance(number, _NUMBERS):
            return _as_written(number, plain) in _elements(plain.reshape(-1))
        return any(_are_equal(row, item) for row in plain) if plain.shape else False
    if isinstance(plain, list | tuple):
        return any(_are_equal(one, item) for one in plain)
    return item in plain


def _children(node: Any) -> Any:
    if isinstance(node, list | tuple | dict | str):
        return node
    raise TypeError(describe(node))


def _to_plain(node: Any) -> Any:
    if isinstance(node, SeenTensor):
        if node.tensor is None:
            return Absent("the tensor was too large to carry, or has no elements to read")
        return node.tensor
    if type(node) is list:
        return [_to_plain(item) for item in node]
    if type(node) is tuple:
        return tuple(_to_plain(item) for item in node)
    if type(node) is dict:
        return {key: _to_plain(item) for key, item in node.items()}
    return node
