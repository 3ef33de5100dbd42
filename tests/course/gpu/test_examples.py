"""The examples in the docstrings of the simulation, and a training script of twenty lines, run."""

from __future__ import annotations

import ast
import doctest
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
import torch

HERE = Path(__file__).parent
SCRIPT = HERE / "training_script.py"


@pytest.mark.parametrize(
    "module", ["allocator.sizes", "allocator.caching", "autocast", "memory_functions"]
)
def test_examples_show_what_they_return(module: str) -> None:
    seen = doctest.testmod(import_module(f"course.gpu.simulator.{module}"))
    assert seen.failed == 0
    assert seen.attempted > 0


def on_the_cpu(n: int) -> list[float]:
    """The losses of the script's three steps on the CPU, with batches of n."""
    torch.manual_seed(0)
    layers = torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 1)
    model, losses = torch.nn.Sequential(*layers), []
    optimizer = torch.optim.Adam(model.parameters())
    batch = torch.linspace(-1, 1, n * 64).view(n, 64)
    for _ in range(3):
        loss = (model(batch) - batch.sum(1, keepdim=True)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return losses


@pytest.mark.exhaustive("programs on the simulated GPU")
def test_a_training_script_runs_out_of_memory_recovers_and_draws_its_timeline(
    tmp_path: Path,
) -> None:
    """The same file on the simulated device and on CUDA; on the former with the CPU's losses."""
    threads = str(torch.get_num_threads())  # a sum is split among them
    root = str(HERE.parents[2])
    done = subprocess.run(
        [sys.executable, SCRIPT],
        capture_output=True,
        text=True,
        timeout=900,
        cwd=tmp_path,
        env={
            "PATH": "/usr/bin:/bin",
            "OMP_NUM_THREADS": threads,
            "PYTHONPATH": root,
            "MPLCONFIGDIR": str(tmp_path / "matplotlib"),  # a user may have no home
        },
    )
    assert (done.returncode, done.stderr) == (0, "")
    *refusals, last = done.stdout.splitlines()
    assert refusals
    assert all(line.startswith("CUDA out of memory. Tried to allocate ") for line in refusals)
    count, _, losses = last.partition(" ")
    assert int(count) < 2**17
    if torch.cuda.is_available():
        assert ast.literal_eval(losses) == pytest.approx(on_the_cpu(int(count)), rel=1e-3)
    else:
        assert ast.literal_eval(losses) == on_the_cpu(int(count))
    picture = (tmp_path / "timeline.svg").read_text()
    assert "<svg" in picture
    assert len(picture) > 10_000


def test_the_training_script_is_short_and_speaks_of_no_particular_device() -> None:
    body = ast.parse(SCRIPT.read_text()).body
    statements = [one for part in body for one in ast.walk(part) if isinstance(one, ast.stmt)]
    assert len(statements) <= 28
    assert "cuda" not in SCRIPT.read_text()
