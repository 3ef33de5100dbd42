"""Arguments as the difference to what was sent: what comes back as it was need not travel again.

The process beside an answer observes the arguments before the call and after it. Nearly always
they are what was sent, in storages that have other numbers there, and nearly always the call leaves
them alone. Then those numbers travel instead of the tensors.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable
from functools import cache
from typing import Any

from course.serialization.decoding import AS_IT_IS, decode
from course.serialization.encoding import Buffers, WireError
from course.serialization.sent_arguments import MARKED, as_sent

__all__ = ["Arguments", "ArgumentsBefore", "Sent", "arguments_before", "arguments_in"]

Document = dict[str, Any]
Sent = tuple[Document, Buffers]
# What tells the node of a value from the one that it was made of.
Marks = list[Any]
# Makes arguments, by position and by name, when they are first asked for.
Arguments = Callable[[], tuple[list[Any], Any]]

_dumps = marshal.dumps
_STAND_INS = frozenset({"answer", "handle"})  # whose objects live where the document is read
_CONTAINERS = frozenset({"tuple", "set", "frozenset", "dict", "slice"})


class ArgumentsBefore:
    """The arguments as a call finds them, to be held against what it leaves.

    Attributes:
        plain: What a reply says of them: a document, or the marks that tell them from what was
            sent.
        buffers: The buffers of the document.
    """

    def __init__(
        self, given: dict[str, Any], write: Callable[[Any], Sent], sent: Sent | None
    ) -> None:
        """Look at the arguments.

        Args:
            given: The arguments.
            write: Encodes them.
            sent: The document that they were made of, with its buffers; None where nobody knows.
        """
        self._given, self._write = given, write
        self._as_sent = None if sent is None else as_sent(given, sent)
        if self._as_sent is not None:
            self.plain, self.buffers = {"marks": self._as_sent.marks()}, list[bytes]()
            return
        self._document, self._found = write(given)
        self.plain, self.buffers = self._document, self._found
        if sent is not None:
            marks = marks_of(sent[0], self._document, (sent[1], self._found))
            if marks is not None:
                self.plain, self.buffers = {"marks": marks}, []

    def are_unchanged(self) -> bool:
        """Whether a second look finds nothing different."""
        if self._as_sent is not None:
            return self._as_sent.is_unchanged(self._given)
        document, buffers = self._write(self._given)
        return is_same(self._document, document, (self._found, buffers))


def arguments_before(
    plain: Document, buffers: Buffers, sent: Sent | None
) -> tuple[Arguments, bool]:
    """What makes the arguments as a call found them, and whether they are as they were sent.

    Args:
        plain: What `ArgumentsBefore` says of them.
        buffers: Its buffers.
        sent: The document that was sent, with its buffers.

    Raises:
        WireError: Anything else.
    """
    if "marks" not in plain:
        return arguments_in(decode(plain, buffers)), False
    if sent is None:
        raise WireError("the arguments are said to be what was sent, and nothing was")
    document = marked(sent[0], plain["marks"])
    return cache(lambda: arguments_in(decode(document, sent[1]))()), True


def arguments_in(decoded: Any) -> Arguments:
    """The arguments of a decoded document."""
    found = list(decoded["args"]), decoded["kwargs"]
    return lambda: found


def marks_of(sent: Document, seen: Document, buffers: tuple[Buffers, Buffers]) -> Marks | None:
    """What tells `seen` from `sent`; None where more does than where its tensors live.

    Args:
        sent: The document of the arguments as it arrived.
        seen: The document of the values that were made of it.
        buffers: The buffers of the two.
    """
    if sent["storages"] != seen["storages"] or buffers[0] != buffers[1]:
        return None
    marks: Marks = []
    return marks if _compare(sent["value"], seen["value"], marks) else None


def is_same(before: Document, after: Document, buffers: tuple[Buffers, Buffers]) -> bool:
    """Whether two documents say the same, also of where each tensor lives."""
    # To the byte: in a list True is not 1, and 0.0 not -0.0.
    return buffers[0] == buffers[1] and _dumps(before, 2) == _dumps(after, 2)


def _compare(one: Any, other: Any, marks: Marks) -> bool:  # noqa: C901 - a branch a kind of node
    """Whether a node and the one that was made of it are alike, up to what is added to `marks`."""
    if type(one) is not type(other):
        return False
    if type(one) is dict:
        tag = one["t"]
        if tag == "tensor":
            return other["t"] == "tensor" and _compare_tensors(one, other, marks)
        if tag in _STAND_INS:
            marks.append(other)
            return _is_plain(other)
        if tag not in _CONTAINERS or other["t"] != tag:
            return bool(one == other)
        one, other = one["v"], other["v"]
    elif type(one) is not list:
        return bool(one == other)
    if len(one) != len(other):
        return False
    for mine, theirs in zip(one, other, strict=True):
        if type(mine) is list or type(mine) is dict:
            if not _compare(mine, theirs, marks):
                return False
        elif mine != theirs or type(mine) is not type(theirs):
            return False
    return True


def _compare_tensors(sent: dict[str, Any], seen: dict[str, Any], marks: Marks) -> bool:
    facts, theirs = sent["facts"], seen["facts"]
    for name in MARKED:
        marks.append(theirs[name])
    alike = {**facts, **{name: theirs[name] for name in MARKED}} == theirs
    return alike and (sent["storage"], sent["lazy"]) == (seen["storage"], seen["lazy"])


def _is_plain(node: Any) -> bool:
    """Whether a node stands for itself, without a storage or a buffer of its document."""
    if type(node) is list:
        return all(map(_is_plain, node))
    if type(node) is not dict:
        return True
    return node.get("t") not in ("tensor", "array") and all(map(_is_plain, node.values()))


def marked(sent: Document, marks: Any) -> Document:
    """The document of the values that these marks tell from `sent`. Raises WireError for others."""
    if type(marks) is not list:
        raise WireError("marks of what was sent were expected")
    left = iter(marks)
    try:
        found = {"value": _mark(sent["value"], left), "storages": sent["storages"]}
    except StopIteration:
        raise WireError("fewer marks than tensors were sent") from None
    if next(left, left) is not left:
        raise WireError("more marks than tensors were sent")
    return found


def _mark(node: Any, marks: Any) -> Any:
    if type(node) is list:
        if AS_IT_IS.issuperset(map(type, node)):
            return node
        return [_mark(one, marks) for one in node]
    if type(node) is not dict:
        return node
    tag = node["t"]
    if tag in _STAND_INS:
        return _checked_node(next(marks))
    if tag in _CONTAINERS:
        return {**node, "v": _mark(node["v"], marks)}
    if tag != "tensor":
        return node
    found = {name: next(marks) for name in MARKED}
    for name, number in found.items():
        if not ((type(number) is int and number >= 0) or (name == "version" and number is None)):
            raise WireError(f"a mark that is no {name} of a tensor")
    return {**node, "facts": {**node["facts"], **found}}


def _checked_node(node: Any) -> Any:
    decode({"value": node, "storages": []}, [])
    return node
