"""A submission is graded in two processes, and its record says what became of each exercise."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import nbformat
import pytest

from autograder.engine import EngineRunner
from autograder.records import Status
from tests.autograder.engine.exam import (
    LIMITS,
    SETUP,
    STUB,
    TOTAL,
    TWICE,
    WRONG,
    answers,
    code,
    engine,
    exam_cells,
    grade,
    graded_cell,
    hand_in,
    notebook,
    printed,
    shown,
    solution,
    words,
    write_lesson,
)


def test_right_answers_get_all_points_and_a_table_each(tmp_path: Path) -> None:
    outcome = grade(tmp_path, exam_cells())
    assert (outcome.record.status, outcome.record.score, outcome.record.max) == ("graded", 5.0, 5.0)
    assert [len(one.checks) for one in outcome.record.exercises] == [3, 2]
    assert all(one.isolated and one.attempted for one in outcome.record.exercises)
    assert (outcome.record.sandboxed, outcome.record.runner) == (True, "engine")


def test_the_executed_notebook_is_valid_and_holds_the_tables(tmp_path: Path) -> None:
    outcome = grade(tmp_path, exam_cells())
    assert outcome.notebook is not None
    nbformat.validate(outcome.notebook)
    assert "3 of 3 points" in shown(outcome, "test-total")
    assert [cell.execution_count for cell in outcome.notebook.cells[1:4]] == [1, 2, 2]


def test_a_wrong_answer_loses_the_points_of_its_failed_checks(tmp_path: Path) -> None:
    total = answers(grade(tmp_path, exam_cells(total=WRONG)))["total"]
    assert (total.status, total.score) == (Status.GRADED, 1.0)
    assert [check.hidden for check in total.failed] == [False, True]


def test_an_untouched_stub_is_not_attempted(tmp_path: Path) -> None:
    stub = "def total(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()"
    total = answers(grade(tmp_path, exam_cells(total=stub)))["total"]
    assert (total.status, total.score, total.attempted) == (Status.GRADED, 0.0, False)


def test_a_cell_that_raises_leaves_its_names_undefined_and_nothing_else(tmp_path: Path) -> None:
    outcome = grade(tmp_path, exam_cells(total="1 / 0\n" + TOTAL))
    assert (answers(outcome)["total"].score, answers(outcome)["twice"].score) == (0.0, 2.0)
    assert "`total` is not defined" in shown(outcome, "test-total")


def test_a_name_counts_as_it_was_when_its_test_came(tmp_path: Path) -> None:
    later = f"{TWICE}\ndef total(x):\n    return None"
    assert grade(tmp_path, exam_cells(twice=later)).record.score == 5.0


def test_what_one_test_does_to_an_answer_does_not_reach_the_next(tmp_path: Path) -> None:
    shared = "calls = []\ndef total(x):\n    calls.append(1)\n    return x.sum()"
    counting = "def twice(x):\n    return x * (2 if not calls else 0)"
    assert grade(tmp_path, exam_cells(total=shared, twice=counting)).record.score == 5.0


def test_the_lessons_files_lie_beside_the_notebook_and_no_others(tmp_path: Path) -> None:
    lesson = write_lesson(tmp_path, exam_cells(), numbers_txt="1 2 3")
    look = "import os\nprint(sorted(os.listdir('.')), open('numbers.txt').read())"
    job = hand_in(tmp_path, lesson, [*exam_cells(), code(look, "look")])
    (job.directory / "numbers.txt").write_text("4 5 6")
    (job.directory / "own.txt").write_text("mine")
    (outcome,) = engine().run_many([job])
    assert printed(outcome, "look") == "['numbers.txt'] 1 2 3\n"


PROBED = """\
@probe
def trained(make, steps):
    model = make()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.ones(1, 2)).sum().backward()
        optimizer.step()
    return model(torch.ones(1, 2))
make = answer("make")
check = Check("make")
seen = make.watch(keep=True)()
check.that(seen.live.present)
check.shape(trained(make, 3).result, (1, 1))
### BEGIN HIDDEN TESTS
check.shape(trained(make, 1).result, (1, 1))
### END HIDDEN TESTS
check.score(2)"""


def test_probes_run_beside_the_answer(tmp_path: Path) -> None:
    cells = [code(SETUP, "setup", locked=True)]
    cells += [solution("make", "def make():\n    return torch.nn.Linear(2, 1)")]
    cells += [graded_cell("make", PROBED, 2)]
    make = answers(grade(tmp_path, cells, cells))["make"]
    assert (make.score, [check.passed for check in make.checks]) == (2.0, [True] * 3)


PLAIN = "assert double(2) == 4\n### BEGIN HIDDEN TESTS\nassert double(3) == 6\n### END HIDDEN TESTS"


def plain_cells(answer: str) -> list[dict]:
    return [
        code("import torch", "setup", locked=True),
        solution("double", answer),
        graded_cell("double", PLAIN, 2),
        graded_cell("more", "x = double(1)\nx / 4", 3),
        solution("words", "text"),
        code("essay = 'YOUR ANSWER HERE'", "essay", grade=True, solution=True, points=4),
    ]


def test_plain_test_cells_run_as_in_nbgrader_and_are_marked(tmp_path: Path) -> None:
    cells = plain_cells("def double(x):\n    return 2 * x")
    record = grade(tmp_path, cells, plain_cells(STUB)).record
    scores = {one.id: (one.score, one.isolated) for one in record.exercises}
    assert scores["double"] == (2.0, False)
    assert scores["more"] == (0.5, False)


@pytest.mark.parametrize(
    "answer",
    [
        "def double(x):\n    return 5",
        "import sys\ndef double(x):\n    print('!', file=sys.stderr)\n    return 2 * x",
        # a value published before the error counts nothing
        "def double(x):\n    get_ipython().displayhook(2.0)\n    return 5",
        "import ast\nclass Strip(ast.NodeTransformer):\n"
        "    def visit_Assert(self, node): return ast.Pass()\n"
        "get_ipython().ast_transformers.append(Strip())\ndef double(x): return 5",
    ],
    ids=["wrong", "stderr", "published", "stripped"],
)
def test_plain_test_cells_give_nothing_for_an_error_or_a_warning(
    tmp_path: Path, answer: str
) -> None:
    record = grade(tmp_path, plain_cells(answer), plain_cells(STUB)).record
    assert {one.id: one.score for one in record.exercises}["double"] == 0.0


def test_an_answer_in_words_waits_for_a_person(tmp_path: Path) -> None:
    cells = plain_cells("def double(x): return 2 * x")
    cells[-1]["source"] = "essay = 'Strides count elements.'"
    essay = answers(grade(tmp_path, cells, plain_cells(STUB)))["essay"]
    assert (essay.manual, essay.attempted, essay.score, essay.max) == (True, True, 0.0, 4.0)


@pytest.mark.parametrize(
    ("raw", "reason"), [(b"", "The file is empty"), (b"\xe9", "not UTF-8"), (b"{}", "no notebook")]
)
def test_a_file_that_cannot_be_read_is_malformed(tmp_path: Path, raw: bytes, reason: str) -> None:
    outcome = grade(tmp_path, raw)
    assert outcome.record.status is Status.MALFORMED
    assert outcome.notebook is None
    assert {one.status for one in outcome.record.exercises} == {Status.MALFORMED}
    assert reason in outcome.record.notes[0]


def test_a_file_that_is_not_there_is_missing(tmp_path: Path) -> None:
    job = hand_in(tmp_path, write_lesson(tmp_path, exam_cells()), exam_cells())
    job.notebook.unlink()
    (outcome,) = engine().run_many([job])
    assert outcome.record.status is Status.MISSING


def test_a_notebook_without_its_cells_is_repaired_and_says_so(tmp_path: Path) -> None:
    outcome = grade(tmp_path, [words("nothing left", "rest")])
    assert (outcome.record.status, outcome.record.score) == (Status.GRADED, 0.0)
    assert len(outcome.record.notes) == 5
    assert not any(one.attempted for one in outcome.record.exercises)


def test_many_jobs_give_one_outcome_each_and_jobs_are_taken_as_they_are_needed(
    tmp_path: Path,
) -> None:
    lesson, taken = write_lesson(tmp_path, exam_cells()), []

    def jobs():
        for number in range(6):
            taken.append(number)
            yield hand_in(tmp_path, lesson, exam_cells(), f"student-{number}")

    found = []
    for outcome in engine().run_many(jobs()):
        found.append(outcome.record.student)
        assert len(taken) <= len(found) + 1
    assert sorted(found) == [f"student-{number}" for number in range(6)]


@pytest.mark.needs("sandbox")
def test_a_worker_that_dies_costs_no_submission(tmp_path: Path) -> None:
    lesson = write_lesson(tmp_path, exam_cells())
    slow = [*exam_cells(), code("import time\ntime.sleep(2)", "slow")]
    job = hand_in(tmp_path, lesson, slow)
    with EngineRunner(1, limits=LIMITS) as runner:
        outcomes = runner.run_many([job, hand_in(tmp_path, lesson, slow, "second")])
        assert next(outcomes).record.score == 5.0
        pid = runner.workers[0]
        time.sleep(0.5)
        os.kill(pid, signal.SIGKILL)
        assert next(outcomes).record.score == 5.0
    assert not Path(f"/proc/{pid}").exists()


def test_without_a_sandbox_every_record_says_so(tmp_path: Path) -> None:
    lesson = write_lesson(tmp_path, exam_cells(), a_txt="x")
    forking = "import os, time\nif os.fork() == 0:\n    time.sleep(54321)"
    cells = [*exam_cells(), code("print(open('a.txt').read())\n" + forking, "look")]
    with EngineRunner(1, limits=LIMITS, sandbox=False) as runner:
        (outcome,) = runner.run_many([hand_in(tmp_path, lesson, cells)])
    assert (outcome.record.sandboxed, outcome.record.score) == (False, 5.0)
    assert printed(outcome, "look") == "x\n"
    assert notebook(cells)["nbformat"] == 4
