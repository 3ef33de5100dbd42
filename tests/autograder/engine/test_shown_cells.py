"""Cells of the lesson that only show are not run where nothing needs them; what was seen stays."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest

from autograder.records.runner import Outcome
from tests.autograder.engine.exam import (
    Cell,
    code,
    exam_cells,
    grade,
    printed,
    shown,
)


def _lesson() -> list[Cell]:
    cells = exam_cells()
    for number, source in enumerate(["rows = [1, 2]\nprint('ran')", "print(len(rows))"]):
        cell = code(source, f"look-{number}")
        cell["metadata"]["course"] = {"role": "measure", "shows": True}
        cells.insert(2 + number, cell)
    return cells


def _handed_in(**sources: str) -> list[Cell]:
    """The lesson as a learner ran it, with these sources in cells by their id."""
    cells = copy.deepcopy(_lesson())
    for cell in cells:
        cell["source"] = sources.get(cell["id"], cell["source"])
        if cell["id"].startswith("look-"):
            seen = {"output_type": "stream", "name": "stdout", "text": "seen by kim\n"}
            cell |= {"outputs": [seen], "execution_count": 7}
    return cells


def _counts(outcome: Outcome) -> list[int | None]:
    assert outcome.notebook is not None
    return [one.execution_count for one in outcome.notebook.cells if one.id.startswith("look-")]


def test_what_the_learner_saw_stays_and_the_points_are_the_same(tmp_path: Path) -> None:
    outcome = grade(tmp_path, _handed_in(), _lesson())
    assert outcome.record.score == 5.0
    assert "seen by kim" in printed(outcome, "look-0")
    assert _counts(outcome) == [None, None]


def test_an_answer_that_needs_them_has_them_run(tmp_path: Path) -> None:
    answer = "def total(x):\n    return x.sum() * (len(rows) - 1)"
    outcome = grade(tmp_path, _handed_in(total=answer), _lesson())
    assert outcome.record.score == 5.0
    assert (printed(outcome, "look-0"), printed(outcome, "look-1")) == ("ran\n", "2\n")


def test_a_changed_cell_runs_with_those_that_it_needs(tmp_path: Path) -> None:
    outcome = grade(tmp_path, _handed_in(**{"look-1": "print(rows)"}), _lesson())
    assert (printed(outcome, "look-0"), printed(outcome, "look-1")) == ("ran\n", "[1, 2]\n")


def test_a_learners_word_that_a_cell_only_shows_counts_nothing(tmp_path: Path) -> None:
    cells = _handed_in()
    own = code("print('mine')", "own")
    own["metadata"]["course"] = {"shows": True}
    outcome = grade(tmp_path, [*cells[:2], own, *cells[2:]], _lesson())
    assert printed(outcome, "own") == "mine\n"


def test_outputs_of_another_form_are_not_kept(tmp_path: Path) -> None:
    cells = _handed_in()
    cells[2]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": {"a": 1}}]
    outcome = grade(tmp_path, cells, _lesson())
    assert (outcome.record.score, shown(outcome, "look-0")) == (5.0, "[]")


@pytest.mark.exhaustive("every cell of a submission")
def test_an_engine_can_be_told_to_run_every_cell(tmp_path: Path) -> None:
    outcome = grade(tmp_path, _handed_in(), _lesson(), every_cell=True)
    assert (outcome.record.score, printed(outcome, "look-0")) == (5.0, "ran\n")


@pytest.mark.exhaustive("whole processes of the engine")
def test_what_a_left_out_cell_draws_is_drawn_all_the_same(tmp_path: Path) -> None:
    own = "torch.randn(1), print('drawn', torch.rand(2).tolist())"
    draws = {"one": ("print('ran', torch.rand(3))", 3), "more": ("print(torch.rand(700))", 700)}
    lesson = exam_cells()
    for id_, (source, count) in draws.items():
        cell = code(source, id_)
        cell["metadata"]["course"] = {"role": "measure", "shows": True, "draws": count}
        lesson.insert(2, cell)
    seeded = [code("_ = torch.manual_seed(5)", "own-seed"), *copy.deepcopy(lesson[2:4])]
    cells = [*lesson[:2], *seeded, code(own, "own"), *lesson[4:]]
    some, all_ = (
        grade(tmp_path / str(every), cells, lesson, every_cell=every) for every in (False, True)
    )
    assert (printed(some, "one"), printed(all_, "one")[:3]) == ("", "ran")
    assert printed(some, "own") == printed(all_, "own") != ""
    assert some.record.score == all_.record.score == 5.0


@pytest.mark.exhaustive("whole processes of the engine")
def test_a_mode_that_refuses_every_operator_costs_no_cell(tmp_path: Path) -> None:
    refuse = (
        "from torch.utils._python_dispatch import TorchDispatchMode\n\n\n"
        "class Refuse(TorchDispatchMode):\n"
        "    def __torch_dispatch__(self, func, types, args=(), kwargs=None):\n"
        "        raise SystemExit('no')\n\n\n"
        "mode = Refuse()\nmode.__enter__()"
    )
    cell = code("print('ran', torch.rand(3))", "one")
    cell["metadata"]["course"] = {"role": "measure", "shows": True, "draws": 3}
    lesson = exam_cells()
    lesson.insert(2, cell)
    after = code("mode.__exit__(None, None, None)\nprint('still here')", "after")
    cells = [*lesson[:2], code(refuse, "own"), lesson[2], after, *lesson[3:]]
    outcome = grade(tmp_path, cells, lesson, patient=True)
    assert printed(outcome, "one") == ""
    assert printed(outcome, "after") == "still here\n"
    assert outcome.record.score == 5.0
