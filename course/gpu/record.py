"""Records allocated and reserved bytes of fixed programs.

    python -m course.gpu.record FILE

On a machine with a GPU the file is a fixture: the simulation is compared with it. cuBLAS and cuDNN
take workspaces for themselves through the same allocator; what a first matrix product and a first
convolution leave behind is taken once, before the programs, and named in the file. Every number of
a step is what is beyond that.
"""

from __future__ import annotations

import argparse
import gc
import json
import platform
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from course.gpu import api
from course.gpu.fixture_programs import PROGRAMS, Program


def record(names: Sequence[str] = tuple(PROGRAMS)) -> dict[str, Any]:
    """Run programs on this machine's device and return what they took, as plain data."""
    device = api.device()
    workspaces = workspaces_of(device)
    programs = {name: steps_of(PROGRAMS[name], device) for name in names}
    return {"machine": machine(), "workspaces": workspaces, "programs": programs}


def steps_of(program: Program, device: torch.device) -> list[dict[str, Any]]:
    """Return, for each step, the bytes allocated, reserved, and at the peak since the last step."""
    torch.manual_seed(0)
    _settle()
    allocated, reserved = api.memory_allocated(), api.memory_reserved()
    steps: list[dict[str, Any]] = []

    def step(name: str) -> None:
        api.synchronize()
        steps.append(
            {
                "step": name,
                "allocated": api.memory_allocated() - allocated,
                "reserved": api.memory_reserved() - reserved,
                "peak": api.max_memory_allocated() - allocated,
            }
        )
        api.reset_peak_memory_stats()

    program(device, step)
    return steps


def workspaces_of(device: torch.device) -> dict[str, list[int]]:
    """Return the sizes of the blocks that the first product and convolution leave in use."""
    found = {}
    for name, use in (("cuBLAS", _multiply), ("cuDNN", _convolve)):
        _settle()
        before = _in_use()
        use(device)
        _settle()
        found[name] = [nbytes for address, nbytes in _in_use().items() if address not in before]
    return found


def recreate(workspaces: dict[str, list[int]], device: torch.device) -> list[torch.Tensor]:
    """Return tensors that take the place of a recording's workspaces; keep them to keep it."""
    sizes = [nbytes for blocks in workspaces.values() for nbytes in blocks]
    return [torch.empty(nbytes, dtype=torch.uint8, device=device) for nbytes in sizes]


def _in_use() -> dict[int, int]:
    blocks = [block for segment in api.memory_snapshot() for block in segment["blocks"]]
    return {b["address"]: b["requested_size"] for b in blocks if b["state"] != "inactive"}


def _multiply(device: torch.device) -> None:
    x = torch.ones(64, 64, device=device, requires_grad=True)
    nn.functional.linear(x, x, x[0]).sum().backward()


def _convolve(device: torch.device) -> None:
    layer = nn.Conv2d(3, 8, 3).to(device)
    layer(torch.ones(4, 3, 16, 16, device=device)).sum().backward()


def _settle() -> None:
    gc.collect()
    api.synchronize()
    api.empty_cache()
    api.reset_peak_memory_stats()


def machine() -> dict[str, str]:
    """Return what the recording was made with."""
    found = {"torch": torch.__version__, "python": platform.python_version()}
    if api.is_simulated():
        return found | {"device": "simulated"}
    return found | {
        "device": torch.cuda.get_device_name(),
        "cuda": str(torch.version.cuda),
        "cudnn": str(torch.backends.cudnn.version()),
        "driver": _driver(),
    }


def _driver() -> str:
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        return subprocess.run(query, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write a recording of all programs to a file."""
    parser = argparse.ArgumentParser(prog="python -m course.gpu.record", description=__doc__)
    parser.add_argument("file", type=Path, help="where to write the recording, as JSON")
    chosen = parser.parse_args(arguments)
    found = record()
    chosen.file.write_text(json.dumps(found, indent=1) + "\n")
    count = sum(len(steps) for steps in found["programs"].values())
    device = found["machine"]["device"]
    print(f"{chosen.file}: {len(found['programs'])} programs, {count} steps on {device}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
