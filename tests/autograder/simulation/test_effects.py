"""A lesson is run cell by cell, and what a cell leaves behind is found; the rest is marked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from autograder.cli import main
from autograder.errors import LessonError
from autograder.lessons.authoring.tidy import tidied
from autograder.lessons.cell_dependencies.unneeded_cells import shows
from autograder.lessons.model import Lesson
from autograder.lessons.release import stable_bytes
from autograder.simulation.effects import Effects, effects_of, false_marks, mark
from tests.autograder import tiny
from tests.autograder.engine.exam import Cell, code, exam_cells, write_lesson

# What only shows, and next to each part of what cells share, a cell that changes it.
NOTHING = {
    "plain": "x = torch.ones(2)\nprint(x.sum(), [n for n, _ in enumerate(x)])",
    "restored": "with torch.no_grad():\n    print(x * 2)",
    "forked": "with torch.random.fork_rng():\n    torch.rand(1)",
    "gone": "import os\nwith open('b.txt', 'w'):\n    pass\nos.remove('b.txt')",
    "raises": "1 / 0",
    "seeds-apart": "with torch.random.fork_rng():\n    torch.manual_seed(3)\n    torch.rand(1)",
    "own-generator": "torch.rand(2, generator=torch.Generator().manual_seed(0))",
    "workers-end": "from torch.utils.data import DataLoader\n"
    "print(len(list(DataLoader(range(3), num_workers=1, generator=torch.Generator()))))",
    "answered": "print(total(x))",
}
FOUND = {
    "seeds": ("_ = torch.manual_seed(0)", "random states"),
    "seeds-alike": ("_ = torch.manual_seed(0)", "random states"),
    "half-a-pair": ("torch.randn(1)", "random states"),
    "draws-very-much": ("torch.rand(2**21)", "random states"),
    "numpy-draws": ("import numpy as np\nnp.random.rand()", "random states"),
    "python-draws": ("import random\nrandom.random()", "random states"),
    "grad-off": ("mode = torch.set_grad_enabled(False)", "modes"),
    "grad-on": ("mode = torch.set_grad_enabled(True)", "modes"),
    "threads": ("torch.set_num_threads(3)", "modes"),
    "hook": ("torch.nn.modules.module.register_module_forward_hook(lambda *a: None)", "modes"),
    "file": ("from pathlib import Path\nPath('a.txt').write_text('1')", "files"),
    "folder": ("import os\nos.mkdir('deep')\nos.chdir('deep')", "files"),
    "environment": ("os.environ['OF_A_CELL'] = '1'", "the process"),
    "warnings": ("import warnings\nwarnings.simplefilter('ignore')", "the process"),
    "thread": (
        "import threading\nend = threading.Event()\n"
        "threading.Thread(target=end.wait, daemon=True).start()",
        "the process",
    ),
    "logging": ("import logging\nlogging.getLogger().setLevel(10)", "libraries"),
    "patched": ("owner = torch\nowner.relu = print", "libraries"),
    "figures": ("import matplotlib\nmatplotlib.rcParams['lines.linewidth'] = 7", "libraries"),
    "device": ("from course import gpu\nprint(gpu.device())", "the simulated GPU"),
    "device-seed": ("gpu.manual_seed(0)", "random states"),
    "room": ("gpu.set_capacity(2**20)", "the simulated GPU"),
}
# What its names hold goes with them, also on a device that is there by now.
KEPT = {"tensor-there": "kept = torch.ones(256, device=gpu.device())"}


DRAWN = {
    "draws": ("first = torch.rand(1)", 1),
    "a-base-seed": ("len(list(DataLoader(range(3))))", 2),
    "a-layer": ("len(list(torch.nn.Linear(3, 4).parameters()))", 16),
    "many": ("torch.rand(1000, 20).shape", 20_000),
}


def lesson(root: Path, cells: dict[str, str]) -> Lesson:
    own = [code(source, id_) for id_, source in cells.items()]
    for cell in own:
        cell["metadata"]["course"] = {"role": "measure"}
    given = exam_cells()
    return write_lesson(root, [*given[:4], *own, *given[4:]])


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Effects]:
    cells = NOTHING | {id_: source for id_, (source, _) in [*DRAWN.items(), *FOUND.items()]}
    return effects_of(lesson(tmp_path_factory.mktemp("effects"), cells | KEPT))


@pytest.mark.parametrize("id_", [*NOTHING, *KEPT])
def test_what_only_shows_leaves_nothing(found: dict[str, Effects], id_: str) -> None:
    assert found[id_] == Effects(())


@pytest.mark.parametrize("id_", DRAWN)
def test_what_is_drawn_is_counted(found: dict[str, Effects], id_: str) -> None:
    assert found[id_] == Effects((), DRAWN[id_][1])


@pytest.mark.parametrize("id_", FOUND)
def test_what_a_cell_leaves_is_found(found: dict[str, Effects], id_: str) -> None:
    assert FOUND[id_][1] in found[id_].lasting


def test_cells_of_nbgraders_are_not_among_them(found: dict[str, Effects]) -> None:
    assert found.keys() == NOTHING.keys() | DRAWN.keys() | FOUND.keys() | KEPT.keys()


@pytest.mark.exhaustive("marks of cells that only show")
def test_marks_are_written_and_taken_back(tmp_path: Path) -> None:
    cells = {"plain": NOTHING["plain"], "seeds": FOUND["seeds"][0], "draws": DRAWN["draws"][0]}
    given = lesson(tmp_path, cells)
    marked = by_id(given)
    marked["seeds"]["metadata"]["course"]["shows"] = True  # it did once
    marked["draws"]["metadata"]["course"] |= {"shows": True, "draws": 2}
    given.source.write_text(json.dumps({**_read(given), "cells": list(marked.values())}))
    count, (seeds, drawn) = false_marks(given)
    assert count == 2
    assert "cell seeds says that it only shows, but: random states" in str(seeds)
    assert "Run `autograder tidy --shows 01`." in str(seeds)
    assert "cell draws says that it draws 2 random numbers, but it draws 1" in str(drawn)
    assert mark(given) == 2
    after = by_id(given)
    assert [shows(after[id_]) for id_ in cells] == [True, False, True]
    assert after["seeds"]["metadata"]["course"] == {"role": "measure"}
    assert after["draws"]["metadata"]["course"] == {"role": "measure", "shows": True, "draws": 1}
    assert mark(given) == 2
    assert by_id(given) == after
    assert false_marks(given) == (2, ())


@pytest.mark.exhaustive("marks of cells that only show")
def test_the_command_marks_and_says_what_it_has_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    course = tiny.build(tmp_path)
    notebook = tiny.notebook()
    notebook["cells"].insert(3, tiny.code("looks", "print(torch.ones(2))"))
    tiny.write(course, stable_bytes(tidied(notebook)).decode())
    assert main.main(["tidy", "1", "--shows", "--course", str(course)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "01-tiny: 1 cell marked, of 14",
        "source/01-tiny/01-tiny.ipynb",
        "1 of 1 notebooks changed",
    ]
    assert main.main(["tidy", "1", "--course", str(course)]) == 0  # marks are no traces
    assert capsys.readouterr().out == "0 of 1 notebooks changed\n"


@pytest.mark.exhaustive("marks of cells that only show")
def test_a_lesson_that_ends_early_is_told_with_a_remedy(tmp_path: Path) -> None:
    given = lesson(tmp_path, {"ends": "import os\nos._exit(3)"})
    with pytest.raises(LessonError, match="could not be run one after another") as raised:
        effects_of(given)
    assert "from its top" in str(raised.value)


def test_a_lesson_that_does_not_end_is_told(tmp_path: Path) -> None:
    given = lesson(tmp_path, {"waits": "import time\ntime.sleep(600)"})
    with pytest.raises(LessonError, match="TimeoutExpired"):
        effects_of(given, limit_s=1.0)


def _read(given: Lesson) -> dict[str, object]:
    found: dict[str, object] = json.loads(given.source.read_text("utf-8"))
    return found


def by_id(given: Lesson) -> dict[str, Cell]:
    cells = _read(given)["cells"]
    assert isinstance(cells, list)
    return {cell["id"]: {**cell, "source": "".join(cell["source"])} for cell in cells}
