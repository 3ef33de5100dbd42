"""Ranks on one machine: a process for each, forked from this one and joined by gloo."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import torch
from torch import distributed, multiprocessing

__all__ = ["by_rank"]

_POLL, _LATE = 0.01, 20.0  # s; how much later than another a rank may come
_LOOPBACK = {"linux": "lo", "darwin": "lo0"}  # the interface of 127.0.0.1, by system


def by_rank(
    work: Callable[[int, int], Any], ranks: int = 2, timeout: float = 20.0, limit: float = 120.0
) -> list[Any]:
    """Run `work(rank, ranks)` in a process for each rank, all in one gloo group.

    The processes are forked, so they know all that is defined here and import nothing again. None
    leaves the group before all are done: a rank that is missing from a call lets the others wait.

    ```python
    by_rank(lambda rank, ranks: 10 * rank)  # [0, 10]
    ```

    Args:
        work: What each process does; what it returns must be something that torch.save keeps.
        ranks: How many processes.
        timeout: How many seconds a call of the group may wait for another rank.
        limit: After how many seconds ranks that are still at work are ended.

    Returns:
        What each rank returned, in their order; of one that failed the error's class and the
        first line of its message, as text.

    Raises:
        TimeoutError: A rank was still at work after `limit` seconds.
        ValueError: This system has no fork (Windows).
    """
    with tempfile.TemporaryDirectory() as folder:
        given = work, ranks, timeout, folder
        started = multiprocessing.start_processes(
            _run, given, ranks, join=False, start_method="fork"
        )
        _await_all(started, limit)
        return [torch.load(_file(folder, rank), weights_only=False) for rank in range(ranks)]


def _await_all(started: multiprocessing.ProcessContext, limit: float) -> None:
    until = time.monotonic() + limit
    while not started.join(max(0.0, until - time.monotonic())):
        if time.monotonic() >= until:
            for process in started.processes:
                process.kill()
            raise TimeoutError(f"a rank was still at work after {limit:g} s, and was ended")


def _file(folder: str, rank: int) -> str:
    return f"{folder}/{rank}.pt"


def _run(
    rank: int, work: Callable[[int, int], Any], ranks: int, timeout: float, folder: str
) -> None:
    torch.set_num_threads(1)  # a forked process may wait for threads that it has not got
    if sys.platform in _LOOPBACK:  # otherwise gloo looks up the machine's name, and may complain
        os.environ["GLOO_SOCKET_IFNAME"] = _LOOPBACK[sys.platform]
    store = f"file://{folder}/store"
    patience = timedelta(seconds=timeout)
    distributed.init_process_group(
        "gloo", init_method=store, rank=rank, world_size=ranks, timeout=patience
    )
    try:
        told = work(rank, ranks)
    except Exception as error:
        told = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    torch.save(told, f"{folder}/part{rank}")
    os.replace(f"{folder}/part{rank}", _file(folder, rank))
    end = time.monotonic() + timeout + _LATE
    while time.monotonic() < end and not all(
        os.path.exists(_file(folder, other)) for other in range(ranks)
    ):
        time.sleep(_POLL)
    distributed.destroy_process_group()
