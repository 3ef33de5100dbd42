"""The gate asks the grading engine, and a notebook only where it is told to or has to."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.answer_bank.expectations import Case
from autograder.answer_bank.gate import Gate, lesson_gate
from autograder.answer_bank.gate_runs import try_answers
from autograder.answer_bank.notebook_runner import AnswerRunResult
from autograder.engine.sandbox import bubblewrap
from autograder.engine.sandbox.bubblewrap import SandboxError
from autograder.errors import LessonError, UsageError
from autograder.lessons.model import find_lesson
from tests.autograder import tiny
from tests.machine import require

OUTSIDE = """\
outside = torch.arange(6.0).view(2, 3)


@probe
def ask(flatten):
    return flatten(outside)


check = Check("flatten")
seen = ask(answer("flatten"))
check.equal(seen.result, torch.arange(6.0))
check.score(4)"""


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    course = tiny.build(tmp_path)
    return lesson_gate(course, find_lesson(course, "1"))


def no_sandbox() -> str:
    raise SandboxError("bubblewrap is not installed")


def nothing(cases: Sequence[Case], **_: object) -> list[AnswerRunResult]:
    return [AnswerRunResult("died", 0.0, None) for _ in cases]


@pytest.mark.exhaustive("whole runs of the gate")
def test_without_a_sandbox_a_notebook_is_asked_and_that_is_said(
    gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The runner first: imported after the other one, it would keep the replacement for good.
    monkeypatch.setattr("autograder.engine.runner.bubblewrap", no_sandbox)
    monkeypatch.setattr(bubblewrap, "bubblewrap", no_sandbox)
    monkeypatch.setattr("autograder.answer_bank.gate_runs.run_as_notebook", nothing)
    report, note = try_answers(gate.lesson.source.parents[2], [gate])
    assert note.startswith("the answers ran as in a notebook, which accepts more")
    assert not report.ok


def test_where_the_engine_was_asked_for_nothing_takes_its_place(
    gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autograder.engine.runner.bubblewrap", no_sandbox)
    with pytest.raises(SandboxError, match="bubblewrap is not installed"):
        try_answers(Path(), [gate], runner="engine")


@pytest.mark.exhaustive("answers in the engine and in a notebook")
@pytest.mark.skipif(sys.platform != "linux", reason="the engine needs Linux")
def test_a_probe_that_uses_a_name_from_outside_passes_in_a_notebook_alone(tmp_path: Path) -> None:
    notebook = tiny.notebook()
    cells = {cell["id"]: cell for cell in notebook["cells"]}
    cells["test-flatten"]["source"] = OUTSIDE
    cells["setup"]["source"] = "import torch\n\nfrom course import Check, answer, probe"
    course = tiny.build(tmp_path)
    tiny.write(course, notebook)
    whole = lesson_gate(course, find_lesson(course, "1"))
    right = replace(whole, answers=whole.answers[:1], complete=False)
    as_notebook, _ = try_answers(course, [right], runner="notebook")
    in_engine, _ = try_answers(course, [right])
    assert (as_notebook.exercises[0].right, in_engine.exercises[0].right) == ((1, 1), (0, 1))


def with_shown_cell(root: Path, source: str, answer: str) -> Gate:
    """A gate with this one answer to the second exercise, after a cell that says it only shows."""
    notebook = tiny.notebook()
    cell = tiny.code("look", source) | {"metadata": {"course": {"role": "measure", "shows": True}}}
    notebook["cells"].insert(2, cell)
    course = tiny.build(root)
    tiny.write(course, notebook)
    whole = lesson_gate(course, find_lesson(course, "1"))
    answers = [
        replace(one, source=answer) if one.exercise == "double" else one
        for one in whole.answers
        if one.kind == "right"
    ]
    return replace(whole, answers=tuple(answers), complete=False)


@pytest.mark.exhaustive("answers in whole lessons")
def test_in_whole_lessons_answers_come_to_the_same_with_every_cell_and_without(
    tmp_path: Path,
) -> None:
    require("sandbox")
    gate = with_shown_cell(tmp_path, "rows = 2", "def double(x):\n    return x * rows")
    report, note = try_answers(tmp_path, [gate], all_cells=True)
    assert (report.ok, note) == (True, "")
    assert {one.right for one in report.exercises} == {(3, 3)}


@pytest.mark.exhaustive("answers in whole lessons")
def test_a_cell_that_is_marked_and_needed_is_found(tmp_path: Path) -> None:
    require("sandbox")
    hidden = "setattr(torch, 'twi' + 'ce', 2)"
    gate = with_shown_cell(tmp_path, hidden, "def double(x):\n    return x * torch.twice")
    with pytest.raises(LessonError, match="double: 0 points, and 2 where every cell runs"):
        try_answers(tmp_path, [gate], all_cells=True)


def test_a_notebook_has_nothing_to_compare(gate: Gate) -> None:
    with pytest.raises(UsageError, match="nothing to compare"):
        try_answers(Path(), [gate], runner="notebook", all_cells=True)
