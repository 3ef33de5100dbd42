"""What the lessons' tests share."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator

import pytest

from course import gpu


@pytest.fixture(autouse=True, scope="module")
def _one_device() -> Iterator[None]:
    """Leave one device to the next lesson: with two, torch's `fork_rng()` warns."""
    yield
    if "course.gpu.simulator.devices" in sys.modules and gpu.device_count() > 1:
        gc.collect()
        gpu.restart()
        gpu.set_device_count(1)
