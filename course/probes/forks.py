"""Work in a process of its own, of whose memory nothing is left."""

from __future__ import annotations

import os
import pickle
import warnings
from collections.abc import Callable
from typing import Any, NoReturn

__all__ = ["in_a_fork"]


def in_a_fork(work: Callable[[], Any]) -> Any:
    """What `work` returns in a fork of this process, which then ends; here, where nothing forks.

    Args:
        work: Called without arguments. What it returns has to be picklable.

    Returns:
        A copy of what it returned.

    Raises:
        Exception: What it raised, or a RuntimeError with its text where that can't be sent.
    """
    if not hasattr(os, "fork"):
        return work()
    read, write = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside other threads
        pid = os.fork()
    if pid == 0:
        _told(work, write)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        content = pipe.read()
    os.waitpid(pid, 0)
    if not content:
        raise RuntimeError("the process that saves ended without a word")
    result, error = pickle.loads(content)
    if error is not None:
        raise error
    return result


def _told(work: Callable[[], Any], write: int) -> NoReturn:
    """Write down what the work returns or raises, and end the process."""
    try:
        said: tuple[Any, BaseException | None]
        try:
            said = work(), None
        except BaseException as error:
            said = None, error
        try:
            content = pickle.dumps(said)
            pickle.loads(content)
        except Exception:
            content = pickle.dumps((None, RuntimeError(f"{type(said[1]).__name__}: {said[1]}")))
        with os.fdopen(write, "wb") as pipe:
            pipe.write(content)
    finally:
        os._exit(0)
