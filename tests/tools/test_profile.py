"""`bench --profile`: every CPU second belongs to a part, and the table says which take most."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.cli import main
from tests.autograder import tiny
from tests.machine import require
from tools.profile import Profile
from tools.task_clock import TaskClock

PARTS = {
    *("starting the student process", "forking snapshots", "ending the student process"),
    *("starting the checker", "ending the checker", "test cells, in the checker"),
    "requests, beside the answer",
    *("the lesson's own cells", "the learner's cells"),
    "the worker: reading, repairing, listening, recording",
}


def test_the_table_names_the_most_expensive_parts_and_cells_first() -> None:
    cells = {f"cell {number}": number / 1000 for number in range(10)}
    lines = Profile("01-tiny", 3, {"little": 0.05, "much": 0.15}, cells).lines()
    assert lines[:3] == [
        "01-tiny: 0.200 s of CPU a submission, of 3",
        "     150.0 ms   75.0 %  much",
        "      50.0 ms   25.0 %  little",
    ]
    assert lines[4:] == [f"       {number}.0 ms  cell {number}" for number in range(9, 1, -1)]


@pytest.mark.exhaustive("a developer's tools")
def test_a_class_is_profiled_part_by_part(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    require("sandbox")
    try:
        TaskClock().close()
    except OSError as error:
        pytest.skip(f"this kernel offers no clock: {error}")
    course = tiny.build(tmp_path)
    (course / "nbgrader_config.py").write_text("c = get_config()\n")
    words = ["bench", "1", "--profile", "--students", "4", "--course", str(course)]
    assert main.main(words) == 0
    head, *table = capfd.readouterr().out.splitlines()
    total = float(head.removeprefix("01-tiny: ").partition(" ")[0])
    split = table.index("  the most expensive cells:")
    costs = {line[24:]: float(line.split()[0]) for line in table[:split]}
    assert costs.keys() == PARTS
    assert min(costs.values()) >= 0
    assert sum(costs.values()) / 1000 == pytest.approx(total, abs=0.002)
    assert any("test: " in line for line in table[split + 1 :])
