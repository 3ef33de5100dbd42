"""A submission is graded in two processes, and its record says what became of each exercise."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest

from autograder.engine import EngineRunner
from autograder.records.model import Status
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

ROOT = Path(__file__).parents[4]


def test_right_answers_get_all_points_and_a_table_each(tmp_path: Path) -> None:
    outcome = grade(tmp_path, exam_cells())
    assert (outcome.record.status, outcome.record.score, outcome.record.max) == ("graded", 5.0, 5.0)
    assert [len(one.checks) for one in outcome.record.exercises] == [4, 3]
    assert all(one.isolated and one.attempted for one in outcome.record.exercises)
    assert (outcome.record.sandboxed, outcome.record.runner) == (True, "engine")


def test_the_executed_notebook_is_valid_and_holds_the_tables(tmp_path: Path) -> None:
    outcome = grade(tmp_path, exam_cells())
    assert outcome.notebook is not None
    nbformat.validate(outcome.notebook)
    assert "3 of 3 points" in shown(outcome, "test-total")
    assert [cell.execution_count for cell in outcome.notebook.cells[1:4]] == [1, 2, 2]


def test_the_times_of_the_authors_own_run_are_not_in_the_executed_notebook(tmp_path: Path) -> None:
    cells = exam_cells()
    for cell in cells:  # as JupyterLab notes them; a page takes them for a run beside the answer
        cell["metadata"]["execution"] = {"shell.execute_reply": "2026-01-01T00:00:00Z"}
    outcome = grade(tmp_path, cells)
    assert outcome.notebook is not None
    assert [c.cell_type for c in outcome.notebook.cells if "execution" in c.metadata] == (
        ["markdown"] * 2
    )


def test_a_wrong_answer_loses_the_points_of_its_failed_checks(tmp_path: Path) -> None:
    other = "def total(x):\n    return x.sum() if x[0] != 0 else x[0]\n"
    total = answers(grade(tmp_path, exam_cells(total=other)))["total"]
    assert (total.status, total.score) == (Status.GRADED, 2.25)
    assert [check.hidden for check in total.failed] == [False]


def test_an_answer_that_is_right_where_it_was_shown_alone_keeps_a_fifth(tmp_path: Path) -> None:
    first = "def total(x):\n    return x.sum() if x[0] == 0 else x[0]\n"
    total = answers(grade(tmp_path, exam_cells(total=first)))["total"]
    assert (total.status, total.score) == (Status.GRADED, 0.6)
    assert [check.hidden for check in total.failed] == [True]


def test_leaving_the_argument_alone_gives_nothing_where_no_value_is_right(tmp_path: Path) -> None:
    total = answers(grade(tmp_path, exam_cells(total=WRONG)))["total"]
    assert (total.score, [check.passed for check in total.checks]) == (
        0.0,
        [False, True, False, True],
    )
    assert "so would an empty answer" in total.checks[1].message


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
make = answer("make", changes="random state")
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
    assert (make.score, [check.passed for check in make.checks]) == (2.0, [True] * 4)


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


@pytest.mark.exhaustive("whole processes of the engine")
def test_without_a_sandbox_every_record_says_so(tmp_path: Path) -> None:
    lesson = write_lesson(tmp_path, exam_cells(), a_txt="x")
    forking = "import os, time\nif os.fork() == 0:\n    time.sleep(54321)"
    cells = [*exam_cells(), code("print(open('a.txt').read())\n" + forking, "look")]
    with EngineRunner(1, limits=LIMITS, sandbox=False) as runner:
        (outcome,) = runner.run_many([hand_in(tmp_path, lesson, cells)])
    assert (outcome.record.sandboxed, outcome.record.score) == (False, 5.0)
    assert printed(outcome, "look") == "x\n"
    assert notebook(cells)["nbformat"] == 4


# What only one exercise pays for.

ENDLESS_CHECK = """\
total = answer("total")
check = Check("total")
seen = total(torch.arange(3.0))
while seen.result.node == 1:
    pass
check.equal(seen.result, torch.tensor(3.0))
check.score(3)"""
DEADLY_CHECK = ENDLESS_CHECK.replace("pass", "import os; os._exit(9)")


@pytest.mark.exhaustive("a checker that never ends or dies")
@pytest.mark.parametrize(
    ("check", "status", "reason"),
    [
        (ENDLESS_CHECK, Status.TIMEOUT, "Its test used more than a cell's 3 s of processor time"),
        (DEADLY_CHECK, Status.CRASHED, "ended the process that checks it, each time"),
    ],
)
def test_an_answer_that_the_checker_cannot_cope_with_costs_only_its_exercise(
    tmp_path: Path, check: str, status: Status, reason: str
) -> None:
    source = exam_cells()
    source[3]["source"] = check
    outcome = grade(tmp_path, exam_cells(total="def total(x):\n    return 1"), source)
    total, twice = answers(outcome)["total"], answers(outcome)["twice"]
    assert (total.status, total.score, outcome.record.status) == (status, 0.0, status)
    assert reason in total.notes[0]
    assert (twice.status, twice.score) == (Status.GRADED, 2.0)


@pytest.mark.exhaustive("whole processes of the engine")
@pytest.mark.parametrize(
    "result",
    [
        "torch.zeros(2**24)",
        "[str(i) * 20 for i in range(100_000)]",
        "[[1] * 1000] * 300",
        "{str(i): [i] for i in range(90_000)}",
        "[torch.zeros(1) for _ in range(70_000)]",
        "range(10**5000)",
    ],
    ids=["tensor", "texts", "lists", "dict", "storages", "range"],
)
def test_a_result_too_large_to_look_at_is_wrong_and_no_forgery(tmp_path: Path, result: str) -> None:
    cells = exam_cells(total=f"def total(x):\n    return {result}")
    outcome = grade(tmp_path, cells, patient=True)
    total, twice = answers(outcome)["total"], answers(outcome)["twice"]
    assert (total.status, total.score < 3.0) == (Status.GRADED, True)
    assert twice.score == 2.0


def test_a_right_answer_may_hold_many_tensors_free_memory_and_differentiate_forward(
    tmp_path: Path,
) -> None:
    total = """def total(x):
    many = [torch.zeros(1) for _ in range(5_000)]
    spare = x * 2
    spare.untyped_storage().resize_(0)
    torch.func.hessian(lambda y: (y * y).sum())(x)
    return x.sum()
"""
    outcome = grade(tmp_path, exam_cells(total=total))
    assert answers(outcome)["total"].score == 3.0


def test_a_right_answer_of_thousands_of_tensors_is_compared(tmp_path: Path) -> None:
    source = exam_cells()
    source[3]["source"] = """total = answer("total")
check = Check("total")
check.equal(total(5_000).result, [torch.zeros(1)] * 5_000)
check.score(3)"""
    cells = exam_cells(total="def total(n):\n    return [torch.zeros(1) for _ in range(n)]")
    assert answers(grade(tmp_path, cells, source))["total"].score == 3.0


def test_a_result_whose_memory_was_given_back_is_wrong_and_no_forgery(tmp_path: Path) -> None:
    total = """def total(x):
    found = x * 2
    found.untyped_storage().resize_(0)
    return found
"""
    (found, *_) = answers(grade(tmp_path, exam_cells(total=total))).values()
    assert (found.status, found.score) == (Status.GRADED, 0.0)


@pytest.mark.parametrize(
    ("cell", "left"),
    [
        ("from IPython.display import HTML\nHTML('x' * 9_000_000)", "too large"),
        ("raise ValueError('x' * 9_000_000)", "ValueError"),
        ("class A:\n    def _repr_html_(self): return 'x' * 9_000_000\ndisplay(A())", "too large"),
    ],
)
def test_an_output_too_large_for_a_frame_is_left_out_and_no_forgery(
    tmp_path: Path, cell: str, left: str
) -> None:
    outcome = grade(tmp_path, [*exam_cells(), code(cell, "own")], patient=True)
    assert (outcome.record.status, outcome.record.notes) == (Status.GRADED, ())
    assert left in shown(outcome, "own")
    assert len(shown(outcome, "own")) < 300_000


def test_what_one_test_looks_at_in_vain_is_nothing_to_another(tmp_path: Path) -> None:
    source = exam_cells()
    source[3]["source"] = """check = Check("total")
total = answer("total")
check.equal(total(3).result, 9)
### BEGIN HIDDEN TESTS
check.that(total(5).result.plain == 25, name="five")
check.that(total(7).result.plain == 49, name="seven")
### END HIDDEN TESTS
check.score(3)"""
    source[6]["source"] = """check = Check("twice")
twice = answer("twice")
check.that(twice(3).result.plain[0] == 3, name="the first")
### BEGIN HIDDEN TESTS
check.equal(twice(4).result, [4, 5])
### END HIDDEN TESTS
check.score(2)"""
    cells = exam_cells("def total(n):\n    return n * n", "def twice(n):\n    return {}[n]")
    found = answers(grade(tmp_path, cells, source))
    assert [one.score for one in found.values()] == [3.0, 0.0]


def test_many_cells_with_much_output_leave_a_notebook_of_usual_size(tmp_path: Path) -> None:
    show = "from IPython.display import publish_display_data as show\n"
    cells = [code(f"{show}show({{'text/html': 'x' * 6_000_000}})", f"own-{n}") for n in range(8)]
    outcome = grade(tmp_path, [*exam_cells(), *cells], patient=True)
    assert outcome.record.score == 5.0
    assert "xxx" in shown(outcome, "own-0")
    assert "too large and is left out" in shown(outcome, "own-7")
    assert len(json.dumps(outcome.notebook)) < 17 * 2**20


def test_an_observation_with_a_number_beyond_all_floats_is_tampered(tmp_path: Path) -> None:
    outcome = grade(tmp_path, exam_cells(total=f"{TOTAL}\n{FORGER}"))
    total, twice = answers(outcome)["total"], answers(outcome)["twice"]
    assert (total.status, twice.status) == (Status.TAMPERED, Status.GRADED)
    assert "not strict JSON" in total.notes[0]


# Answers for the snapshot of the first exercise: a reply whose `printed_count` is 1e400.
FORGER = """\
import os, struct, threading, socket
original = total
def total(x):
    head = struct.Struct('<4sBxHQI')
    for fd in range(3, 300):
        try:
            line = socket.socket(fileno=os.dup(fd))
            line.getpeername()
        except OSError:
            continue
        text = b'{"printed_count": 1e400}'
        for number in numbers():
            os.write(fd, head.pack(b'PMf1', 36, 0, number, len(text)) + text)
    os._exit(0)
def numbers():
    import sys
    frame = sys._getframe()
    found = []
    while frame is not None:
        found += [v for k, v in frame.f_locals.items() if k == 'number' and type(v) is int]
        frame = frame.f_back
    return found
"""


def test_a_file_that_may_not_be_read_is_not_held_against_the_learner(tmp_path: Path) -> None:
    job = hand_in(tmp_path, write_lesson(tmp_path, exam_cells()), exam_cells())
    os.rename(job.notebook, job.notebook.with_name("elsewhere"))
    os.mkdir(job.notebook)
    (outcome,) = engine().run_many([job])
    assert outcome.record.status is Status.INFRASTRUCTURE
    assert "cannot be read: it is not a plain file" in outcome.record.notes[0]


# What the machine lets the grader use.


@pytest.mark.parametrize(
    ("limit", "value", "reason"),
    [
        ("RLIMIT_NOFILE", 40, "a process may open 40 files here, and grading takes 256"),
        ("RLIMIT_AS", 2 * 2**30, "2,048 MB of address space here, and grading takes 3,072 MB"),
    ],
)
def test_a_shell_that_allows_too_little_is_named_before_anything_runs(
    limit: str, value: int, reason: str
) -> None:
    code = f"""
import resource
from autograder.engine import EngineRunner
resource.setrlimit(resource.{limit}, ({value}, {value}))
try:
    EngineRunner(2, sandbox=False)
except Exception as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert reason in done.stdout, done.stderr
    assert "ulimit" in done.stdout


def test_a_soft_limit_is_raised_as_far_as_it_goes() -> None:
    code = """
import resource
from autograder.engine import EngineRunner
resource.setrlimit(resource.RLIMIT_NOFILE, (40, 500))
EngineRunner(2, sandbox=False)
print(resource.getrlimit(resource.RLIMIT_NOFILE))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.strip() == "(256, 500)", done.stderr
