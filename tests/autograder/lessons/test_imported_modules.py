"""What a lesson imports is loaded once, before the processes of its submissions are forked."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from autograder.engine import EngineRunner
from autograder.lessons.imported_modules import modules_needed
from tests.autograder.engine.exam import (
    LIMITS,
    code,
    engine,
    exam_cells,
    grade,
    hand_in,
    printed,
    write_lesson,
)


@pytest.mark.parametrize(
    ("source", "modules"),
    [
        ("import torch.nn as nn, math", {"torch.nn", "math"}),
        ("def f():\n    from collections import Counter", {"collections"}),
        ("from course import gpu", {"course", "course.gpu"}),
        ("!pip list", set()),
        ("%matplotlib inline\n!ls\nimport math", {"math"}),
        ("%%bash\nimport math", set()),
        ("from . import neighbour", set()),
        ("torch.optim.SGD(p)", {"torch._dynamo"}),
        ("torch._check(n > 0)", {"torch.fx.experimental.symbolic_shapes"}),
        ("torch.unravel_index(i, (2, 3))", {"torch.fx.experimental.symbolic_shapes"}),
        ("print('optimal')", set()),
    ],
)
def test_the_modules_of_a_cell_are_found_without_running_it(source: str, modules: set[str]) -> None:
    assert set(modules_needed([source])) == modules


def test_a_lessons_modules_are_there_before_its_cells_run(tmp_path: Path) -> None:
    source = [*exam_cells(), code("import colorsys, no_such_module", "uses")]
    look = "import sys\nprint('colorsys' in sys.modules, 'torch' in sys.modules)"
    outcome = grade(tmp_path, [*exam_cells(), code(look, "look")], source)
    assert printed(outcome, "look") == "True True\n"


@pytest.mark.exhaustive("modules that start threads")
def test_a_module_that_starts_a_thread_is_left_to_the_submissions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packages = tmp_path / "packages"
    packages.mkdir()
    (packages / "threaded.py").write_text(
        "import threading, time\nthreading.Thread(target=time.sleep, args=(9,)).start()\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(packages))
    uses = [*exam_cells(), code("import colorsys, threaded", "uses")]
    look = code("import sys\nprint([m in sys.modules for m in ('threaded', 'colorsys')])", "look")
    lesson = write_lesson(tmp_path, uses)
    job = hand_in(tmp_path, lesson, [*exam_cells(), look, code("import threaded", "uses")])
    with EngineRunner(1, limits=LIMITS, sandbox=False) as runner:
        (outcome,) = runner.run_many([job])
    assert printed(outcome, "look") == "[False, False]\n"
    assert (outcome.record.status, outcome.record.score) == ("graded", 5.0)


@pytest.mark.exhaustive("whole assignments")
def test_training_works_where_the_fork_server_could_not_write(tmp_path: Path) -> None:
    train = """\
model = torch.nn.Linear(2, 1)
optimizer = torch.optim.Adam(model.parameters())
model(torch.ones(3, 2)).sum().backward()
optimizer.step()
print("trained")"""
    source = [*exam_cells(), code(train, "train")]
    assert printed(grade(tmp_path, source, source), "train") == "trained\n"


@pytest.mark.exhaustive("memory over many submissions")
def test_memory_does_not_grow_with_the_number_of_submissions(tmp_path: Path) -> None:
    lesson = write_lesson(tmp_path, exam_cells())
    jobs = [hand_in(tmp_path, lesson, exam_cells(), f"student-{n}") for n in range(24)]
    sizes = []
    for outcome in engine().run_many(jobs):
        assert outcome.record.score == 5.0
        fields = Path(f"/proc/{engine().workers[0]}/statm").read_text().split()
        sizes.append(int(fields[1]) * os.sysconf("SC_PAGESIZE") / 2**20)
    assert sizes[-1] - sizes[3] < 10
