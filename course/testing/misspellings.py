"""Whether texts of a probe tell of a misspelt name: that shows nothing of what one believes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from course.inspection.error_origin import is_misspelt
from course.serialization.received import as_node

__all__ = ["tells_of_misspelling", "texts_in"]

_MOST_LOOKED_AT = 5_000
_TOLD = re.compile(r"\s*(?:(\w+Error)\b[:(]*\s*)?(.*)", re.DOTALL)
_NO_NAME = re.compile(r"(free variable|name|cannot access local variable|local variable) '\w+' ")


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
