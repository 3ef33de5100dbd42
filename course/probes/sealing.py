"""Functions that an answer may call and not look into.

A function of Python shows what it closes over, and so what a probe counts and what a test expects.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

__all__ = ["sealed"]

Called = TypeVar("Called", bound=Callable[..., Any])


def sealed(function: Called) -> Called:
    """The function, for an answer to call: nothing leads from it to what the function closes over.

    Args:
        function: What is called, with the same arguments.

    >>> counted = []
    >>> step = sealed(lambda: counted.append(1))
    >>> step(), counted, hasattr(step, "__closure__")
    (None, [1], False)
    """
    result = functools.lru_cache(maxsize=0)(function)  # written in C; with no room it keeps nothing
    vars(result).clear()  # __wrapped__ leads to the function
    return cast(Called, result)
