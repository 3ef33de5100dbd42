"""Work in a process of its own, of whose memory nothing is left."""

from __future__ import annotations

import os
import pickle
import selectors
import signal
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, NoReturn

__all__ = ["forked", "in_a_fork"]

_LIMIT_S = 60.0
_PART_NBYTES = 1 << 16


def in_a_fork(work: Callable[[], Any], limit_s: float = _LIMIT_S) -> Any:
    """What `work` returns in a fork of this process, which then ends; here, where nothing forks.

    Args:
        work: Called without arguments. What it returns has to be picklable.
        limit_s: Seconds until the fork is ended.

    Returns:
        A copy of what it returned.

    Raises:
        TimeoutError: It took longer than `limit_s`.
        Exception: What it raised, or a RuntimeError with its text where that can't be sent.
    """
    if not hasattr(os, "fork"):
        return work()
    read, write = os.pipe()
    try:
        pid = forked(partial(_told, work, write))
    finally:
        os.close(write)
    try:
        content = _all_of(read, limit_s)
    finally:
        os.close(read)
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    if not content:
        raise RuntimeError("the process that saves ended without a word")
    result, error = pickle.loads(content)
    if error is not None:
        raise error
    return result


def forked(child: Callable[[], NoReturn]) -> int:
    """The number of a process that runs `child`, which ends it.

    A new thread forks it. OpenMP keeps a pool for each thread that computes, and a fork inherits
    the forking thread's without the pool's threads: the first large operator would wait for them
    for ever. A new thread has no pool yet.

    Raises:
        TimeoutError: This machine started none within a minute.
    """
    pids: list[int] = []

    def fork() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside other threads
            pid = os.fork()
        if pid == 0:
            child()
        pids.append(pid)

    thread = threading.Thread(target=fork)
    thread.start()
    thread.join(_LIMIT_S)
    if not pids:
        raise TimeoutError(
            "this machine did not start a process in time; this is no fault of yours"
        )
    return pids[0]


def _all_of(pipe: int, limit_s: float) -> bytes:
    """What comes through a pipe until its other end is closed."""
    content, until = bytearray(), time.monotonic() + limit_s
    with selectors.DefaultSelector() as selector:
        selector.register(pipe, selectors.EVENT_READ)
        while selector.select(max(0.0, until - time.monotonic())):
            part = os.read(pipe, _PART_NBYTES)
            if not part:
                return bytes(content)
            content += part
    raise TimeoutError(f"work in a process of its own took more than {limit_s:g} s")


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
