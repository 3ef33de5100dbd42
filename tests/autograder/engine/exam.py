"""A small lesson to be handed in, and one running engine for all tests of a process."""

from __future__ import annotations

import atexit
import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from autograder.engine import EngineRunner, Limits
from autograder.lessons.model import Lesson, read_lesson
from autograder.lessons.regions import HIDDEN, split_regions
from autograder.records.model import ExerciseRecord
from autograder.records.runner import Job, Outcome
from tests.machine import require

SLUG = "01-exam"
MiB = 2**20
LIMITS = Limits(
    *(3.0, 14.0, 20.0),  # seconds of a cell and of a submission, patient on a busy machine
    memory_nbytes=512 * MiB,
    tmp_nbytes=16 * MiB,
    started=300,
)
SETUP = "import torch\nfrom course import Check, answer, probe\ntorch.manual_seed(0)"
SECRET = "xylophone_4711"  # stands in every hidden test, and must stand nowhere else
STUB = "# YOUR CODE HERE\nraise NotImplementedError()"

TEST_TOTAL = f"""\
total = answer("total")
check = Check("total")
seen = total(torch.arange(3.0))
check.equal(seen.result, torch.tensor(3.0))
check.unchanged(seen)
### BEGIN HIDDEN TESTS
{SECRET} = torch.tensor([5.0, 8.0, 4711.0])
check.equal(total({SECRET}).result, torch.tensor(4724.0))
### END HIDDEN TESTS
check.score(3)"""
TEST_TWICE = """\
twice = answer("twice")
check = Check("twice")
seen = twice(torch.arange(3.0))
check.equal(seen.result, torch.tensor([0.0, 2.0, 4.0]))
check.copies(seen.result, seen.args[0])
check.score(2)"""
TOTAL = "def total(x):\n    return x.sum()"
TWICE = "def twice(x):\n    return x * 2"
WRONG = "def total(x):\n    return x.sum() * 0 - 1\n"  # 0 of 3: leaving x unchanged is no work

Cell = dict[str, Any]


def code(source: str, id_: str, **nbgrader: Any) -> Cell:
    """A code cell; with `nbgrader` words it belongs to the lesson."""
    metadata: dict[str, Any] = {}
    if nbgrader:
        usual = {"grade": False, "locked": False, "solution": False, "task": False}
        metadata["nbgrader"] = {**usual, "grade_id": id_, "schema_version": 3, **nbgrader}
    about: Cell = {"metadata": metadata, "outputs": [], "execution_count": None}
    return {"cell_type": "code", "id": id_, "source": source, **about}


def words(source: str, id_: str) -> Cell:
    """A markdown cell."""
    return {"cell_type": "markdown", "id": id_, "source": source, "metadata": {}}


def solution(name: str, source: str) -> Cell:
    """The answer cell of an exercise."""
    return code(source, name, solution=True)


def graded_cell(name: str, source: str, points: float) -> Cell:
    """The test cell of an exercise."""
    return code(source, f"test-{name}", grade=True, locked=True, points=points)


def exam_cells(total: str = TOTAL, twice: str = TWICE, *, setup: str = SETUP) -> list[Cell]:
    """A lesson of two exercises of 3 and 2 points, with these answers."""
    return [
        words("# An exam", "title"),
        code(setup, "setup", locked=True),
        solution("total", total),
        graded_cell("total", TEST_TOTAL, 3),
        words("Now twice.", "between"),
        solution("twice", twice),
        graded_cell("twice", TEST_TWICE, 2),
    ]


def rehearsed() -> Cell:
    """A title cell that says of the test cells that they leave each other nothing."""
    about = {"role": "title", "rehearsal": True}
    return words("# An exam", "rehearsed") | {"metadata": {"course": about}}


def notebook(cells: list[Cell]) -> dict[str, Any]:
    """A notebook of these cells."""
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": metadata, "cells": cells}


def write_lesson(root: Path, cells: list[Cell], **files: str) -> Lesson:
    """A course directory with this one lesson; `files` lie beside it (a_txt stands for a.txt)."""
    folder = root / "source" / SLUG
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name.replace("_", ".")).write_text(text)
    path = folder / f"{SLUG}.ipynb"
    path.write_text(json.dumps(notebook(cells)))
    return read_lesson(path)


def hand_in(root: Path, lesson: Lesson, cells: list[Cell] | bytes, student: str = "kim") -> Job:
    """The job of a submission with these cells, tests as they are handed out, or of these bytes."""
    folder = root / "submitted" / student / SLUG
    folder.mkdir(parents=True)
    path = folder / f"{SLUG}.ipynb"
    if not isinstance(cells, bytes):
        cells = json.dumps(notebook([_as_handed_out(cell) for cell in cells])).encode()
    path.write_bytes(cells)
    return Job(student, lesson, path, folder)


def _as_handed_out(cell: Cell) -> Cell:
    if not cell["metadata"].get("nbgrader", {}).get("grade"):
        return cell
    visible, _ = split_regions("".join(cell["source"]), HIDDEN)
    return {**cell, "source": "\n".join(visible)}


def engine(patient: bool = False, *, every_cell: bool = False) -> EngineRunner:
    """One engine with one worker for all tests of this process.

    The patient one lets an honest but slow cell end on a machine that is busy elsewhere; the one
    of `every_cell` also runs what only shows.
    Skips the test that asks for it where the sandbox cannot be built.
    """
    require("sandbox")
    return _engine(patient, every_cell)


@cache
def _engine(patient: bool, every_cell: bool) -> EngineRunner:
    limits = replace(LIMITS, cell_s=40.0, submission_s=120.0) if patient else LIMITS
    runner = EngineRunner(1, limits=limits, every_cell=every_cell)
    atexit.register(runner.close)
    return runner


def grade(
    root: Path,
    cells: list[Cell] | bytes,
    source: list[Cell] | None = None,
    *,
    patient: bool = False,
    every_cell: bool = False,
) -> Outcome:
    """What becomes of a submission of these cells for the lesson `source` (the exam)."""
    lesson = write_lesson(root, exam_cells() if source is None else source)
    runner = engine(patient, every_cell=every_cell)
    (outcome,) = runner.run_many([hand_in(root, lesson, cells)])
    return outcome


def answers(outcome: Outcome) -> dict[str, ExerciseRecord]:
    """The records of the exercises by name."""
    return {one.id: one for one in outcome.record.exercises}


def shown(outcome: Outcome, id_: str) -> str:
    """Everything that a cell showed, as text."""
    assert outcome.notebook is not None
    cell = next(cell for cell in outcome.notebook.cells if cell.id == id_)
    return json.dumps(cell.outputs)


def printed(outcome: Outcome, id_: str) -> str:
    """What a cell wrote to stdout and stderr."""
    assert outcome.notebook is not None
    cell = next(cell for cell in outcome.notebook.cells if cell.id == id_)
    return "".join(o.text for o in cell.outputs if o.output_type == "stream")
