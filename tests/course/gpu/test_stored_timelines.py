"""The recorded timelines are those of lesson 14, and are shown where no device can be had."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from course import gpu
from course.gpu.stored_timelines import from_plain, recorded_timelines, to_plain
from course.gpu.timeline import Timeline
from course.lessons import gpu_memory

ROOT = Path(__file__).parents[3]
FILE = ROOT / "course" / "gpu" / "recorded.json"
LESSON = ROOT / "source" / "14-gpu-memory" / "14-gpu-memory.ipynb"


def timelines_of_the_lesson() -> dict[str, Timeline]:
    """What the lesson's figure cells draw, all cells before them run as well."""
    found: dict[str, Timeline] = {}
    names: dict[str, Any] = {}
    shown = gpu_memory.show_timeline
    cells = json.loads(LESSON.read_text())["cells"]

    def keep(timeline: Timeline, *, title: str, **how: Any) -> None:
        found.setdefault(title, timeline)

    gpu_memory.show_timeline = keep  # type: ignore[assignment]
    try:
        for cell in cells:
            role = cell["metadata"].get("course", {}).get("role")
            runs = cell["id"] == "setup" or role in ("scene", "measure", "figure")
            if runs and cell["cell_type"] == "code":
                exec("".join(cell["source"]), names)
    finally:
        gpu_memory.show_timeline = shown
    return found


def plan(timeline: Timeline) -> Any:
    """What a timeline draws, without addresses: those depend on what was there before."""
    plain = to_plain(timeline)
    return {
        "held": sorted(row[1:] for row in plain["held"]),
        "moments": plain["moments"],
        "marks": plain["marks"],
        "shortages": plain["shortages"],
    }


@pytest.mark.skipif(not gpu.is_simulated(), reason="a real device has other sizes")
def test_the_recording_is_what_the_lesson_shows(device: torch.device) -> None:
    now = timelines_of_the_lesson()
    then = recorded_timelines()
    assert list(now) == list(then)
    assert {title: one.marks for title, one in now.items()} == {
        title: one.marks for title, one in then.items()
    }
    assert {title: plan(one) for title, one in now.items()} == {
        title: plan(one) for title, one in then.items()
    }


def test_a_timeline_comes_back_from_its_plain_form() -> None:
    for timeline in recorded_timelines().values():
        assert from_plain(json.loads(json.dumps(to_plain(timeline)))) == timeline


WITHOUT = """
    from torch.utils import backend_registration

    def gone(*args, **kwargs):
        raise TypeError("_setup() got an unexpected keyword argument 'hook'")

    backend_registration._setup_privateuseone_for_python_backend = gone
    import torch
    from course import gpu
"""


@pytest.mark.exhaustive("programs on the simulated GPU")
def test_a_pytorch_that_cannot_have_the_device_is_told_so_each_time(
    run: Callable[..., str],
) -> None:
    told = run(
        WITHOUT
        + """
    for _ in range(2):
        try:
            gpu.device()
        except gpu.NoSimulationError as error:
            print(error)
            assert error._render_traceback_() == [str(error)]
    """
    ).splitlines()
    assert told[:4] == told[4:]
    assert told[0] == (
        f"The simulated device cannot be had with torch {torch.__version__}: it uses parts of "
        "PyTorch that change between versions "
        "(TypeError: _setup() got an unexpected keyword argument 'hook')."
    )
    assert told[1].startswith("It runs with torch 2.11 to 2.15: install one of these")
    assert told[3] == "from course.lessons.gpu_memory import show_recorded; show_recorded()"


@pytest.mark.exhaustive("programs on the simulated GPU")
def test_names_that_are_gone_are_told_as_well(run: Callable[..., str]) -> None:
    script = """
    import torch
    del torch._C._acc.DeviceGuard
    from course import gpu
    try:
        gpu.device()
    except gpu.NoSimulationError as error:
        print(error)
    """
    assert "AttributeError: module 'torch._C._acc' has no attribute 'DeviceGuard'" in run(script)


@pytest.mark.exhaustive("programs on the simulated GPU")
def test_the_recorded_pictures_need_no_device(run: Callable[..., str]) -> None:
    shown = run(
        WITHOUT + "    from course.lessons.gpu_memory import show_recorded\n    show_recorded()"
    )
    titles = list(recorded_timelines())
    assert len(titles) >= 5
    assert all(title in shown for title in titles)


if __name__ == "__main__":
    plain = {title: to_plain(one) for title, one in timelines_of_the_lesson().items()}
    rows = ",\n".join(
        f"{json.dumps(title, ensure_ascii=False)}: "
        + json.dumps(one, ensure_ascii=False, separators=(",", ":"))
        for title, one in plain.items()
    )
    FILE.write_text(f"{{\n{rows}\n}}\n", encoding="utf-8")
    print(f"{FILE}: {len(plain)} timelines", file=sys.stderr)
