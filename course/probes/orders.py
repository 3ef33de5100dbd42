"""What the tests of random orders need: orders drawn by a caller who changes what it gets."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import torch

from course.inspection.class_names import class_name
from course.probes.decorator import probe
from course.probes.forks import in_a_fork

__all__ = ["hashes_of_another_process", "orders_drawn"]


@probe
def orders_drawn(
    order: Callable[..., Any],
    rows: Sequence[Sequence[int]],
    between: int = 0,
    *,
    salt: int | None = None,
) -> dict[str, Any]:
    """The batches for each row of arguments, and what's in them; numbers are drawn before each.

    All lists are emptied once they're copied: they are the caller's.

    Args:
        order: Called with `*row`; returns lists of indices.
        rows: What it is called with, once for each row.
        between: Random numbers that are drawn from torch before each call.
        salt: With it all is drawn in a fork, where `hash` gives for texts what it might elsewhere.
    """

    def drawn() -> list[Any]:
        found = []
        for row in rows:
            with torch.random.fork_rng(devices=[]), hashes_of_another_process(salt):
                torch.rand(between)
                batches = order(*row)
            found.append(deepcopy(batches))
            for one in (*batches, batches):
                getattr(one, "clear", list)()
        return found

    found = drawn() if salt is None else in_a_fork(drawn)
    return {
        "batches": found,
        "sizes": [[len(batch) for batch in one] for one in found],
        "numbers": [sorted(int(index) for batch in one for index in batch) for one in found],
        "types": sorted({class_name(index) for one in found for part in one for index in part}),
    }


@contextmanager
def hashes_of_another_process(salt: int | None) -> Iterator[None]:
    """The function `hash` of a process with another PYTHONHASHSEED, or the one that's there.

    Args:
        salt: Another one gives texts another hash; None leaves `hash` alone.
    """
    usual = builtins.hash
    if salt is not None:
        builtins.hash = lambda value: usual((salt, value) if _holds_text(value) else value)
    try:
        yield
    finally:
        builtins.hash = usual


def _holds_text(value: Any) -> bool:
    if isinstance(value, tuple | frozenset):
        return any(map(_holds_text, value))
    return isinstance(value, str | bytes)
