"""Whether an exception tells of a misspelt name: that shows nothing of what somebody believes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from course.serialization.received import as_node

__all__ = ["is_misspelt", "tells_of_misspelling", "texts_in"]

_MOST_LOOKED_AT = 5_000
_UNKNOWN_NAME = ("NameError", "UnboundLocalError")
_LACKING = re.compile(
    r"module '(torch|numpy)[\w.]*' has no attribute|'(Tensor|Parameter)' object has no attribute"
)
_TOLD = re.compile(r"\s*(?:(\w+Error)\b[:(]*\s*)?(.*)", re.DOTALL)
_NO_NAME = re.compile(r"(free variable|name|cannot access local variable|local variable) '\w+' ")


def is_misspelt(kind: str, message: str) -> bool:
    """Whether an exception of this class, with this text, speaks of a name that does not exist.

    That is a slip of the pen, whatever the learner believes. An attribute that an int, `None`, a
    layer or a module of one's own lacks is none: there the object is another one than was thought.
    """
    lacks = kind == "AttributeError" and _LACKING.match(message) is not None
    return kind in _UNKNOWN_NAME or lacks


def texts_in(value: Any) -> Iterator[str]:
    """The texts in a plain form, up to a number of items."""
    stack, left = [as_node(value)], _MOST_LOOKED_AT
    while stack and left:
        node, left = stack.pop(), left - 1
        if isinstance(node, str):
            yield node
        elif isinstance(node, list | tuple):
            stack.extend(node[:left])
        elif isinstance(node, dict):
            stack.extend(node.values())


def tells_of_misspelling(text: str) -> bool:
    """Whether a text in a probe's result is that of an exception about a name that is not there.

    >>> tells_of_misspelling("AttributeError: module 'torch' has no attribute 'zeroes'")
    True
    >>> tells_of_misspelling("KeyError: 'zeroes'")
    False
    """
    found = _TOLD.match(text)
    kind, message = (found[1], found[2]) if found is not None else (None, text)
    if not message:  # a class alone may be what somebody's belief leads to
        return False
    unquoted = message[1:] if message[:1] in ("'", '"') else message  # as repr() shows an exception
    if _NO_NAME.match(unquoted) and "not" in message:
        return True
    return any(is_misspelt(kind or "AttributeError", one) for one in (message, unquoted))
