"""The simulation against recordings made on real GPUs: the same bytes after every step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from course import gpu
from course.gpu.fixture_programs import PROGRAMS
from course.gpu.record import main, recreate, steps_of

RECORDINGS = sorted((Path(__file__).parent / "recordings").glob("*.json"))
simulated = pytest.mark.skipif(torch.cuda.is_available(), reason="the device here is a real one")


def recordings() -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in RECORDINGS]


@simulated
@pytest.mark.needs_recording("course/gpu/recordings")
@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("what", ["allocated", "reserved"])
def test_every_step_takes_what_it_took_on_a_gpu(name: str, what: str, device: torch.device) -> None:
    for recording in recordings():
        kept = recreate(recording["workspaces"], device)
        taken = {step["step"]: step[what] for step in steps_of(PROGRAMS[name], device)}
        assert taken == {step["step"]: step[what] for step in recording["programs"][name]}
        del kept


@pytest.mark.cuda
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_runs_on_a_gpu_and_returns_its_memory(name: str) -> None:
    steps = steps_of(PROGRAMS[name], gpu.device())
    assert steps
    assert all(step["peak"] >= step["allocated"] for step in steps)


@simulated
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_gives_the_same_recording_twice(name: str, device: torch.device) -> None:
    once, again = (steps_of(PROGRAMS[name], device) for _ in range(2))
    assert once == again
    assert all(step["reserved"] >= step["allocated"] >= 0 for step in once)


@simulated
def test_a_workspace_is_part_of_what_surrounds_the_programs(device: torch.device) -> None:
    kept = recreate({"cuBLAS": [8_519_680], "cuDNN": []}, device)
    assert [len(tensor) for tensor in kept] == [8_519_680]
    assert gpu.memory_allocated() == 8_519_680
    del kept


@simulated
def test_checkpointing_saves_activations_and_costs_no_gradient(device: torch.device) -> None:
    steps = {step["step"]: step for step in steps_of(PROGRAMS["checkpointing"], device)}
    plain, saving = (steps[f"{name}: forward"]["allocated"] for name in ("plain", "checkpointed"))
    assert plain - saving == 4 * 1024 * 512 * 4  # one of two results in each of four blocks
    ends = {steps[f"{name}: backward"]["allocated"] for name in ("plain", "checkpointed")}
    assert len(ends) == 1


def test_a_recording_is_written_as_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("course.gpu.record.PROGRAMS", {"patterns": PROGRAMS["patterns"]})
    monkeypatch.setattr("course.gpu.record.record.__defaults__", (("patterns",),))
    assert main([str(tmp_path / "gpu.json")]) == 0
    found = json.loads((tmp_path / "gpu.json").read_text())
    assert set(found) == {"machine", "workspaces", "programs"}
    assert "1 programs" in capsys.readouterr().out
