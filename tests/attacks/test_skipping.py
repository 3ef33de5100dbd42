"""A lesson's cells that are left out hide nothing that a learner did, and give no points away."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from autograder.records.runner import Outcome
from tests.autograder.engine.exam import (
    TOTAL,
    WRONG,
    Cell,
    answers,
    code,
    exam_cells,
    grade,
    printed,
)

FORGED = "forged by kim\n"
FORGED_TABLE = {"exercise": "total", "status": "graded", "score": 3.0, "max": 3.0, "checks": []}
SHOWN = {
    "look-a": "rows = [1, 2]\nprint('ran', len(rows))",
    "look-b": "print('ran it', torch.ones(2).sum().item())",
}


def lesson(total: str = TOTAL) -> list[Cell]:
    """The exam with two cells that only show."""
    cells = exam_cells(total=total)
    cells[2:2] = [showing(source, id_) for id_, source in SHOWN.items()]
    return cells


def showing(source: str, id_: str) -> Cell:
    cell = code(source, id_)
    cell["metadata"]["course"] = {"role": "measure", "shows": True}
    return cell


def handed_in(total: str = TOTAL, **sources: str) -> list[Cell]:
    """What a learner hands in who has written into each shown cell what it would never show."""
    cells = copy.deepcopy(lesson(total))
    for cell in cells:
        cell["source"] = sources.get(cell["id"], cell["source"])
        if cell["id"] in SHOWN:
            cell["outputs"] = [forged()]
    return cells


def forged() -> dict[str, Any]:
    marks = {"pytorch-measured": FORGED_TABLE}
    text = {"text/plain": FORGED, "text/html": f"<b>{FORGED}</b>"}
    return {"output_type": "display_data", "data": text, "metadata": marks}


def with_own(source: str, at: int = 2) -> list[Cell]:
    cells = handed_in()
    cells.insert(at, code(source, "own"))
    return cells


def ran(outcome: Outcome) -> dict[str, bool]:
    """Which of the shown cells the engine ran, by their ids."""
    return {id_: printed(outcome, id_).startswith("ran") for id_ in SHOWN}


def test_nobody_who_changed_nothing_has_them_run(tmp_path: Path) -> None:
    outcome = grade(tmp_path, handed_in(), lesson())
    assert ran(outcome) == {"look-a": False, "look-b": False}


@pytest.mark.parametrize(
    "own",
    [
        "torch.ones = lambda *size: torch.zeros(*size)",
        "setattr(torch, 'ones', torch.zeros)",
        "from torch import nn\nfor one in (torch, nn):\n    one.__setattr__('ones', torch.zeros)",
        "torch = __import__('torch')",
        "import numpy as torch",
        "open('own.py', 'w').write('import torch; torch.ones = torch.zeros')\nimport own",
        "from unittest import mock\nmock.patch('torch.ones', torch.zeros).start()",
        "import sys\nsys.modules['torch'].__dict__['ones'] = torch.zeros",
        "def print(*words): ...",
        "%time 1 + 1",
        "%%capture\nprint(1)",
        "!true",
        "exec('torch.o' + 'nes = torch.zeros')",
    ],
)
def test_who_changes_what_they_use_has_all_of_them_run(own: str, tmp_path: Path) -> None:
    outcome = grade(tmp_path, with_own(own), lesson())
    assert outcome.notebook is not None
    assert FORGED.strip() not in str([c for c in outcome.notebook.cells if c.id in SHOWN])
    assert all("forged" not in printed(outcome, id_) for id_ in SHOWN)


def test_a_name_that_a_shown_cell_binds_anew_has_the_lessons_value(tmp_path: Path) -> None:
    total = "def total(x):\n    return x.sum() * (len(rows) - 1)"
    cells = with_own("rows = [1, 2, 3]")
    for cell in cells:
        if cell["id"] == "total":
            cell["source"] = total
    outcome = grade(tmp_path, cells, lesson())
    assert (outcome.record.score, ran(outcome)["look-a"]) == (5.0, True)


def test_an_id_that_is_used_for_something_else_counts_nothing(tmp_path: Path) -> None:
    cells = handed_in(**{"look-b": "print('ran', 'kims own')"})
    outcome = grade(tmp_path, cells, lesson())
    assert printed(outcome, "look-b") == "ran kims own\n"


@pytest.mark.parametrize("name", ["own", "total", "test-total"])
def test_a_submissions_own_mark_counts_nothing(name: str, tmp_path: Path) -> None:
    cells = with_own("print('ran', 'own')")
    for cell in cells:
        if cell["id"] == name:
            cell["metadata"]["course"] = {"role": "measure", "shows": True}
    outcome = grade(tmp_path, cells, lesson(), patient=True)
    assert (outcome.record.score, printed(outcome, "own")) == (5.0, "ran own\n")
    assert answers(outcome)["total"].score == 3.0


def test_a_lesson_that_marks_nothing_has_every_cell_run(tmp_path: Path) -> None:
    source = lesson()
    for cell in source:
        cell["metadata"].pop("course", None)
    outcome = grade(tmp_path, handed_in(), source)
    assert ran(outcome) == {"look-a": True, "look-b": True}


def test_moved_and_doubled_cells_stay_or_run_by_their_text(tmp_path: Path) -> None:
    cells = handed_in()
    moved = next(cell for cell in cells if cell["id"] == "look-a")
    cells.remove(moved)
    twice = {**copy.deepcopy(moved), "id": "look-again", "outputs": []}
    cells = [*cells, moved, code("rows.append(3)\nprint(rows)", "own"), twice]
    cells.append(code("len(rows)", "last"))
    outcome = grade(tmp_path, cells, lesson())
    assert outcome.record.score == 5.0
    assert ran(outcome) == {"look-a": True, "look-b": False}
    assert printed(outcome, "own") == "[1, 2, 3]\n"
    assert printed(outcome, "look-again") == "ran 2\n"


@pytest.mark.parametrize("total", [TOTAL, WRONG])
def test_what_is_kept_of_a_shown_cell_is_no_word_of_the_grader(total: str, tmp_path: Path) -> None:
    outcome = grade(tmp_path, handed_in(total), lesson())
    assert answers(outcome)["total"].score == (3.0 if total is TOTAL else 0.0)
    assert outcome.notebook is not None
    kept = [cell for cell in outcome.notebook.cells if cell.id in SHOWN]
    assert [cell.outputs[0].metadata for cell in kept] == [{}, {}]


@pytest.mark.parametrize(
    "own",
    [
        "torch.set_grad_enabled(False)",
        "torch.set_default_dtype(torch.float64)",
        "torch.ones = lambda *size: 1 / 0",
        "del rows",
        "rows = None",
        "import math\nmath.pi = 3",
    ],
)
@pytest.mark.parametrize("total", [TOTAL, WRONG])
def test_the_points_are_those_of_a_run_of_every_cell(own: str, total: str, tmp_path: Path) -> None:
    cells = handed_in(total)
    cells.insert(2, code(own, "own"))
    found = [
        grade(tmp_path / str(every), cells, lesson(), every_cell=every) for every in (False, True)
    ]
    assert found[0].record.score == found[1].record.score
    assert answers(found[0])["total"].score == (3.0 if total is TOTAL else 0.0)
