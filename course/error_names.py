"""The names of exceptions that may be told where a learner's own classes live.

Without torch, which the grader's main process does not load.
"""

from __future__ import annotations

import builtins

__all__ = ["error_name"]

_KNOWN = frozenset(
    name
    for name, one in vars(builtins).items()
    if isinstance(one, type) and issubclass(one, BaseException)
) | {
    *("OutOfMemoryError", "AcceleratorError", "JITException", "LinAlgError", "FatalError"),  # torch
    *("NotDefinedError", "CellTimeoutError"),  # ours, and nbclient's
}


def error_name(name: str) -> str:
    """The name of an exception of Python's or torch's; of others, that it is one.

    A learner's code may name a class after what a hidden test gave it.
    """
    return name if name in _KNOWN else "an exception of its own class"
