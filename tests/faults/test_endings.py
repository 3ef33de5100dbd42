"""A cell that goes wrong costs its own exercise; the others are graded as if nothing had been."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from autograder.engine import EngineRunner
from autograder.records.model import Status
from tests.autograder.engine.exam import (
    LIMITS,
    TOTAL,
    answers,
    code,
    exam_cells,
    grade,
    hand_in,
    notebook,
    printed,
    shown,
    write_lesson,
)
from tests.machine import require

ENDLESS = "while True:\n    pass"
SWALLOWING = """\
while True:
    try:
        while True:
            pass
    except BaseException:
        pass"""
CHILD = "import os\nif os.fork() == 0:\n    while True:\n        pass\nos.wait()"
BUSY = "import time\nend = time.process_time() + 1.7\nwhile time.process_time() < end:\n    pass"
SLEEPER = "import time\ntime.sleep(600)"
SEGFAULT = "import ctypes\nctypes.string_at(0)"
KILLED = "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"
LEFT = "import os\nos._exit(3)"
HOG = "hog = []\nwhile True:\n    hog.append(bytearray(10_000_000))"
FORKED_HOG = """\
import os, time
for _ in range(4):
    if os.fork() == 0:
        full = bytearray(b"x") * 300_000_000
        time.sleep(60)
time.sleep(60)"""

HIDDEN_HOG = f"import ctypes\nctypes.CDLL(None).prctl(4, 0, 0, 0, 0)\n{FORKED_HOG}"

# Programs share no memory with the process that has torch.
EXECUTED_HOG = """\
import subprocess, sys, time
code = "import time; full = b'x' * 80_000_000; time.sleep(60)"
for _ in range(15):
    subprocess.Popen([sys.executable, "-S", "-E", "-c", code])
time.sleep(60)"""

# Nobody waits for these children, so the kernel adds what they used to nobody's time.
UNCOUNTED = """\
import ctypes, os, time
ctypes.CDLL(None).signal(17, 1)
while True:
    if os.fork() == 0:
        while time.process_time() < 0.7: pass
        os._exit(0)
    time.sleep(0.9)"""
FRAMES = """\
from IPython.display import clear_output
while True:
    clear_output(wait=True)"""
SOCKETS = """\
import os, socket, time
for _ in range(6):
    if os.fork() == 0:
        held = []
        try:
            while True:
                held.append(socket.socketpair())
        except OSError:
            time.sleep(60)
time.sleep(60)"""


@pytest.mark.parametrize(
    ("ending", "status", "reason"),
    [
        (ENDLESS, Status.TIMEOUT, "used more than a cell's 3 s of processor time"),
        (SWALLOWING, Status.TIMEOUT, "used more than a cell's 3 s of processor time"),
        (CHILD, Status.TIMEOUT, "used more than a cell's 3 s of processor time"),
        (SEGFAULT, Status.CRASHED, "SIGSEGV"),
        (KILLED, Status.CRASHED, "SIGKILL"),
        (LEFT, Status.CRASHED, "ended the Python process"),
        (HOG, Status.OUT_OF_MEMORY, "more memory than a submission may"),
        (FORKED_HOG, Status.OUT_OF_MEMORY, "more memory than a submission may"),
        (HIDDEN_HOG, Status.OUT_OF_MEMORY, "more memory than a submission may"),
        (EXECUTED_HOG, Status.OUT_OF_MEMORY, "more memory than a submission may"),
        (UNCOUNTED, Status.TIMEOUT, "used more than a cell's 3 s of processor time"),
        (FRAMES, Status.TIMEOUT, "used more than a cell's 3 s of processor time"),
        (SOCKETS, Status.CRASHED, "opened more sockets than a submission may"),
    ],
    ids=[
        *("endless", "swallowing", "endless-child"),
        *("segfault", "killed", "left", "hog", "forked-hog", "hidden-hog"),
        *("executed-hog", "uncounted", "frames", "sockets"),
    ],
)
def test_an_answer_cell_that_ends_the_process_costs_only_its_own_exercise(
    tmp_path: Path, ending: str, status: Status, reason: str
) -> None:
    outcome = grade(tmp_path, exam_cells(total=f"print('before')\n{ending}\n{TOTAL}"))
    total, twice = answers(outcome)["total"], answers(outcome)["twice"]
    assert (total.status, total.score) == (status, 0.0)
    assert reason in total.notes[0]
    assert (twice.status, twice.score) == (Status.GRADED, 2.0)
    assert outcome.record.status is status
    assert "before" in printed(outcome, "total")
    assert reason in shown(outcome, "total")


@pytest.mark.exhaustive("clocks of cells and submissions")
def test_a_cell_that_waits_is_ended_by_the_clock(tmp_path: Path) -> None:
    require("sandbox")
    job = hand_in(tmp_path, write_lesson(tmp_path, exam_cells()), exam_cells(total=SLEEPER))
    with EngineRunner(1, limits=replace(LIMITS, patience=2.0)) as runner:
        (outcome,) = runner.run_many([job])
    total, twice = answers(outcome)["total"], answers(outcome)["twice"]
    assert (total.status, twice.score) == (Status.TIMEOUT, 2.0)
    assert "ran longer than a cell's 6 s on the clock" in total.notes[0]


def test_what_keeps_the_grader_itself_busy_is_given_up_and_holds_up_nobody(tmp_path: Path) -> None:
    lesson = write_lesson(tmp_path, exam_cells())
    large = {**notebook(exam_cells()), "x": [["\u00e9" * 60] * 99_000, [[]] * 390_000]}
    jobs = [
        hand_in(tmp_path, lesson, json.dumps(large).encode(), student="ada"),
        hand_in(tmp_path, lesson, exam_cells(), student="kim"),
    ]
    with EngineRunner(1, limits=replace(LIMITS, worker_s=0.2), sandbox=False) as runner:
        ada, kim = (one.record for one in runner.run_many(jobs))
    assert (ada.student, ada.status, ada.score) == ("ada", Status.INFRASTRUCTURE, 0.0)
    assert "more than 0.2 s of processor time of its own for this notebook" in ada.notes[0]
    assert (kim.status, kim.score) == (Status.GRADED, 5.0)


@pytest.mark.exhaustive("endings that take seconds")
def test_a_cell_may_wait_for_longer_than_it_may_compute(tmp_path: Path) -> None:
    waiting = f"import time\ntime.sleep({LIMITS.cell_s + 1})\n{TOTAL}"
    outcome = grade(tmp_path, exam_cells(total=waiting))
    assert (outcome.record.status, outcome.record.score) == (Status.GRADED, 5.0)


@pytest.mark.exhaustive("endings that take seconds")
@pytest.mark.parametrize(
    ("ending", "status"),
    [
        (ENDLESS, Status.TIMEOUT),
        (SEGFAULT, Status.CRASHED),
        (LEFT, Status.CRASHED),
        ("full = bytearray(b'x') * 800_000_000", Status.OUT_OF_MEMORY),
    ],
    ids=["endless", "segfault", "left", "hog"],
)
def test_an_answer_that_ends_the_process_when_it_is_called_costs_only_its_own_exercise(
    tmp_path: Path, ending: str, status: Status
) -> None:
    body = "\n".join(f"    {line}" for line in ending.split("\n"))
    outcome = grade(tmp_path, exam_cells(total=f"def total(x):\n{body}\n    return x"))
    total, twice = answers(outcome)["total"], answers(outcome)["twice"]
    assert total.status is status
    assert total.score < 3.0
    assert (twice.status, twice.score) == (Status.GRADED, 2.0)


@pytest.mark.exhaustive("endings that take seconds")
def test_a_cell_of_the_learners_own_that_loops_costs_no_exercise(tmp_path: Path) -> None:
    cells = exam_cells()
    cells.insert(4, code(ENDLESS, "scratch"))
    outcome = grade(tmp_path, cells)
    assert [one.score for one in outcome.record.exercises] == [3.0, 2.0]
    assert outcome.record.status is Status.TIMEOUT
    assert any("was stopped; what follows ran without it" in note for note in outcome.record.notes)


@pytest.mark.parametrize("call", ["exit()", "quit()", "import sys\nsys.exit(1)"])
def test_exit_ends_the_cell_and_nothing_else(tmp_path: Path, call: str) -> None:
    outcome = grade(tmp_path, exam_cells(total=f"{TOTAL}\n{call}\nprint('after')"))
    assert outcome.record.status is Status.GRADED
    assert outcome.record.score == 5.0
    assert "SystemExit" in shown(outcome, "total")
    assert "after" not in printed(outcome, "total")


def test_input_says_that_nobody_is_there(tmp_path: Path) -> None:
    outcome = grade(tmp_path, exam_cells(total=f"{TOTAL}\nname = input('Your name?')"))
    assert outcome.record.score == 5.0
    assert "nobody is there to answer while the notebook is graded" in shown(outcome, "total")


def test_a_huge_tensor_is_refused_and_the_cell_goes_on_like_any_other(tmp_path: Path) -> None:
    outcome = grade(tmp_path, exam_cells(total=f"{TOTAL}\ntorch.empty(10**12)"))
    assert outcome.record.score == 5.0
    assert "can't allocate memory" in shown(outcome, "total")


def test_endless_recursion_is_an_error_like_any_other(tmp_path: Path) -> None:
    outcome = grade(tmp_path, exam_cells(total="def total(x):\n    return total(x)"))
    assert (outcome.record.status, outcome.record.score) == (Status.GRADED, 2.0)


@pytest.mark.exhaustive("clocks of cells and submissions")
def test_a_submission_whose_cells_are_slow_together_is_stopped(tmp_path: Path) -> None:
    cells = exam_cells()
    # On a busy machine a cell's first second on the clock counts in full: none needs all its three.
    cells[4:4] = [code(BUSY, f"slow-{n}") for n in range(10)]
    outcome = grade(tmp_path, cells)
    twice = answers(outcome)["twice"]
    assert (outcome.record.status, twice.status) == (Status.TIMEOUT, Status.TIMEOUT)
