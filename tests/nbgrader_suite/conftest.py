"""What nbgrader leaves behind in this process is gone before a test of another folder begins."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _nothing_stays() -> Iterator[None]:
    """Put `os.environ` back, for which `run_nbgrader` leaves a plain dictionary.

    The sockets of nbgrader's kernels stay open until they are collected, and Python warns of them
    then: here, where the tests let it, instead of in whatever test comes next.
    """
    environment, variables = os.environ, dict(os.environ)
    yield
    os.environ = environment  # noqa: B003 — this is its own mapping, not a copy
    os.environ.clear()
    os.environ.update(variables)
    gc.collect()
