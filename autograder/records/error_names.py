"""The names of exceptions, as a page may tell them where a learner's own classes live."""

from __future__ import annotations

import builtins

__all__ = ["error_name"]

_KNOWN = frozenset(
    name
    for name, one in vars(builtins).items()
    if isinstance(one, type) and issubclass(one, BaseException)
) | {"LinAlgError", "NotDefinedError", "OutOfMemoryError", "CellTimeoutError"}


def error_name(name: str) -> str:
    """The name of a known exception; of others, that it is one.

    A learner's code may name a class after what a hidden test gave it.
    """
    return name if name in _KNOWN else "an exception of its own class"
