"""Functions that an answer may call and not look into.

A function of Python shows what it closes over, and so what a probe counts and what a test expects.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["sealed"]

Called = TypeVar("Called", bound=Callable[..., Any])

# Written in C: it calls what it was made of and has no attribute that leads there. With room for no
# result it caches none.
_Uncached: Any = type(functools.lru_cache(maxsize=0)(len))


def sealed(function: Called) -> Called:
    """The function, for an answer to call: nothing leads from it to what the function closes over.

    Args:
        function: What is called, with the same arguments.

    >>> counted = []
    >>> step = sealed(lambda: counted.append(1))
    >>> step(), counted, hasattr(step, "__closure__")
    (None, [1], False)
    """
    result: Called = _Uncached(function, 0, False, tuple)
    return result
