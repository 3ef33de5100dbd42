"""A device that every test finds as a new process would: empty, whole, without a limit."""

from __future__ import annotations

import gc
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch

from course import gpu


@pytest.fixture(autouse=True, scope="module")
def _little_to_search() -> Iterator[None]:
    """Leave what was there before, torch above all, out of the collections around every test."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture
def device() -> Iterator[torch.device]:
    found = gpu.device()
    _clean()
    yield found
    _clean()


def _clean() -> None:
    gc.collect()
    if gpu.is_simulated():
        gpu.restart()
        gpu.set_device_count(1)
        gpu.set_launch_blocking(False)
        gpu.record_memory_history(False)
    else:
        gpu.set_capacity(None)
    gpu.empty_cache()
    gpu.reset_peak_memory_stats()


@pytest.fixture
def two(device: torch.device) -> tuple[torch.device, torch.device]:
    """Two devices; where there is a single real one the test is skipped."""
    if not gpu.is_simulated() and gpu.device_count() < 2:
        pytest.skip("one real device, and the simulation is off")
    gpu.set_device_count(2)
    return torch.device(device.type, 0), torch.device(device.type, 1)


@pytest.fixture
def used(device: torch.device) -> Callable[[], int]:
    """Says the bytes in use beyond what cuBLAS keeps for itself since its first product."""
    x = torch.ones(2, 2, device=device, requires_grad=True)
    (x @ x).sum().backward()
    del x
    before = gpu.memory_allocated()
    return lambda: gpu.memory_allocated() - before


@pytest.fixture
def run() -> Callable[..., str]:
    """Runs a script in a process of its own, for what a process can do only once."""
    return _run


def _run(script: str, **environment: str) -> str:
    """Return what the script printed; its failure is the test's, with its error text."""
    root = str(Path(__file__).parents[3])
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=root,
        env={"PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1", "PYTHONPATH": root, **environment},
    )
    assert done.returncode == 0, f"exit {done.returncode}\n{done.stderr[-2000:]}"
    return done.stdout
