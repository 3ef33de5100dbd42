"""What a learner's cells set for the whole of torch costs nobody a point."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.records.model import Status
from autograder.records.runner import Outcome
from tests.autograder.engine.exam import (
    SETUP,
    code,
    exam_cells,
    grade,
    graded_cell,
    solution,
)

# What the answer gives, and what operators do on the way, depends on the mode.
MEAN = "def mean(w):\n    shifted = torch.zeros(3) + w\n    return (shifted @ torch.ones(3)) / 3"
TEST_MEAN = """\
mean = answer("mean")
check = Check("mean")
seen = mean.watch(backward=True)(torch.arange(3.0).requires_grad_())
check.equal(seen.result, torch.tensor(1.0))
check.requires_grad(seen.result)
check.close(seen.grads["args"][0], torch.full((3,), 1 / 3))
check.silent(seen)
check.score(3)"""
BIG = "def big(n):\n    return torch.ones(n, n) @ torch.ones(n, n)"
TEST_BIG = """\
big = answer("big")
check = Check("big")
seen = big(300)
check.equal(seen.result, torch.full((300, 300), 300.0))
check.shape(seen.result, (300, 300))
check.score(3)"""
THREADS = """\
@probe
def threads(answer):
    return torch.get_num_threads()
check = Check("total")
check.equal(threads(answer("total")).result, 2)
check.equal(answer("total")(torch.arange(3.0)).result, torch.tensor(3.0))
check.score(3)"""


def lesson(name: str, answer: str, test: str, *, own: str = "") -> list[dict[str, object]]:
    """A lesson of one exercise, with a cell of its own in front."""
    cells = [code(SETUP, "setup", locked=True)]
    cells += [code(own, "shown", locked=True)] if own else []
    return [*cells, solution(name, answer), graded_cell(name, test, 3)]


def graded(root: Path, cells: list[dict[str, object]], mine: str, at: int = 1) -> Outcome:
    """What becomes of the right answers with a cell of the learner's own at this place."""
    with_mine = [*cells[:at], code(mine, "mine"), *cells[at:]]
    return grade(root, with_mine, cells, patient=True)


MODES = {
    "torch.set_grad_enabled(False)": "the grad mode",
    "torch.no_grad().__enter__()": "the grad mode",
    "quiet = torch.inference_mode()\nquiet.__enter__()": "the grad mode",
    "torch.set_default_dtype(torch.float64)": "the default dtype",
    "torch.set_default_device('meta')": "the default device",
    "torch.autograd.set_detect_anomaly(True)": "the anomaly mode",
    "torch.use_deterministic_algorithms(True)": "the deterministic algorithms",
    "torch.autocast('cpu').__enter__()": "the autocast",
    "torch.set_float32_matmul_precision('medium')": "the precision of matrix products",
    "torch.set_num_threads(2)": "the number of threads",
}


@pytest.mark.parametrize("mine", MODES)
def test_a_mode_that_a_cell_leaves_on_is_put_back_and_told(tmp_path: Path, mine: str) -> None:
    outcome = graded(tmp_path, lesson("mean", MEAN, TEST_MEAN), mine)
    assert (outcome.record.status, outcome.record.score) == (Status.GRADED, 3.0)
    (note,) = outcome.record.notes
    told = f"Your cells changed {MODES[mine]}, which was put back before each exercise was run."
    assert note == told


def test_threads_that_computed_before_are_nothing_that_an_answer_waits_for(tmp_path: Path) -> None:
    mine = "torch.set_num_threads(2)\nx = torch.randn(300, 300) @ torch.randn(300, 300)"
    outcome = graded(tmp_path, lesson("big", BIG, TEST_BIG), mine)
    assert (outcome.record.status, outcome.record.score) == (Status.GRADED, 3.0)
    assert outcome.record.seconds < 20


def test_an_answer_may_ask_for_threads_after_a_cell_that_had_some(tmp_path: Path) -> None:
    mine = "torch.set_num_threads(2)\nx = torch.randn(300, 300) @ torch.randn(300, 300)"
    eager = BIG.replace("\n", "\n    torch.set_num_threads(2)\n")
    outcome = graded(tmp_path, lesson("big", eager, TEST_BIG), mine)
    assert outcome.record.status is Status.GRADED
    assert [one.name for one in outcome.record.exercises[0].failed] == [
        "it leaves everything else as it was"
    ]


def test_the_cells_after_it_run_in_the_mode_as_in_any_notebook(tmp_path: Path) -> None:
    cells = [*exam_cells(), code("print(torch.is_grad_enabled(), torch.zeros(1).dtype)", "last")]
    mine = "torch.set_grad_enabled(False); torch.set_default_dtype(torch.float64)"
    handed_in = [*cells[:2], code(mine, "mine"), *cells[2:]]
    outcome = grade(tmp_path, handed_in, exam_cells())
    assert outcome.notebook is not None
    assert outcome.notebook.cells[-1].outputs[0].text == "False torch.float64\n"
    assert outcome.record.score == 5.0
    assert outcome.record.notes == (
        "Your cells changed the default dtype and the grad mode, "
        "which were put back before each exercise was run.",
    )


def test_what_is_set_and_set_back_is_no_news(tmp_path: Path) -> None:
    mine = "torch.set_grad_enabled(False)\ntorch.set_grad_enabled(True)"
    assert graded(tmp_path, exam_cells(), mine, at=2).record.notes == ()


@pytest.mark.parametrize("mine", ["pass", "torch.set_num_threads(4)"])
def test_what_the_lessons_own_cell_sets_stays(tmp_path: Path, mine: str) -> None:
    test = THREADS.replace("{}", "2")
    cells = lesson(
        "total", "def total(x):\n    return x.sum()", test, own="torch.set_num_threads(2)"
    )
    outcome = graded(tmp_path, cells, mine, at=2)
    assert outcome.record.score == 3.0
    told = "number of threads" in " ".join(outcome.record.notes)
    assert told == (mine != "pass")
