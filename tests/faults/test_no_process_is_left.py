"""Whichever process of the grader is killed, and whenever: nothing is left running or lying about.

What is watched are processes of this test alone: see `warden`.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from tests.exhaustive import sampled
from tests.faults.warden import Plan, Report, watch

# Grades submissions whose answer never returns, until it is killed or has no more of them.
DRIVER = """
import sys
from dataclasses import replace
from pathlib import Path
from autograder.engine import EngineRunner
from tests.autograder.engine.exam import LIMITS, exam_cells, hand_in, write_lesson

root, sandbox, most = Path(sys.argv[1]), sys.argv[2] == "sandbox", int(sys.argv[3])
answer = sys.argv[4]
lesson = write_lesson(root, exam_cells())
jobs = (hand_in(root, lesson, exam_cells(total=answer), str(n)) for n in range(most))
limits = replace(LIMITS, cell_s=400.0, submission_s=400.0)
with EngineRunner(1, limits=limits, sandbox=sandbox) as runner:
    print([outcome.record.status.value for outcome in runner.run_many(jobs)])
"""
# It also leaves a process behind that has left its parent, as a server would. With a name of the
# other answer, each is asked in a process of its own, and who is killed is not asked once more.
ENDLESS = """
import os
def total(x):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            while True: pass
        os._exit(0)
    while True: pass
    return twice
"""
FORKING = """
import os, time
if os.fork() == 0:
    time.sleep(54321)
def total(x):
    return x.sum()
"""
SLOW = "import time\ntime.sleep(54321)\n"
STOCK = """
import sys
from pathlib import Path
from autograder.environment import own_programs_first
from autograder.runners.nbgrader import StockRunner
from tests.autograder.engine.exam import exam_cells, hand_in, write_lesson

own_programs_first()
lesson = write_lesson(Path(sys.argv[1]), exam_cells())
endless = exam_cells(total="while True: pass")
list(StockRunner(1, cell_limit_s=400).run_many([hand_in(Path(sys.argv[1]), lesson, endless)]))
"""
BENCH = """
import sys
from pathlib import Path
from tools.bench import _execute
from tools.contenders import CONTENDERS
from tests.autograder.engine.exam import exam_cells, hand_in, write_lesson

root = Path(sys.argv[1])
lesson = write_lesson(root, exam_cells())
hand_in(root, lesson, exam_cells(total="while True: pass"))
_execute(CONTENDERS["prepare"](root, lesson.slug))
_execute(CONTENDERS[sys.argv[2]](root, lesson.slug))
"""
TRIAL = """
from autograder.answer_bank.notebook_runner import AnswerRun, run_answers

run_answers([AnswerRun("", "while True: pass", "1", 1.0, limit_s=400.0)])
"""
# An answer that leaves a process behind which has left its parent and its process group.
DAEMON = """
from autograder.answer_bank.notebook_runner import AnswerRun, run_answers

answer = '''
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(54321)
    os._exit(0)
'''
runs = [AnswerRun("", answer, "1", 1.0), AnswerRun("", "", "1", 1.0)]
print([one.ended for one in run_answers(runs, workers=1)])
"""
PROOF = """
import sys
from pathlib import Path
from autograder.lessons.lint.proofs.changed import prove_changed
from autograder.lessons.model import find_lesson
from tests.autograder import tiny

course = tiny.build(Path(sys.argv[1]))
(course / "course/lessons/tiny/claims.toml").write_text(sys.argv[2])
proved = prove_changed(course, find_lesson(course, "1"), limit_s=float(sys.argv[3]))
print([one.cause for one in proved.failed])
"""
# It leaves a process behind in a session of its own, and does not come to an end.
CLAIM = '''
lesson = "01-tiny"
[[claim]]
id = "endless"
asked = "Does it end?"
said = "It ends."
verdict = "true"
fact = "It does."
proof = """
if os.fork() == 0:
    os.setsid()
    time.sleep(54321)
while True: pass
"""
shows = "x"
'''
# The fork server of proofs is asked for one, in this process.
ASKED = """
import os, signal, socket, sys, threading, time
import course.claims.proofs
from autograder.fork_server import Control
from autograder.lessons.lint.proofs import proof_process

ours, theirs = socket.socketpair()
Control(ours).send({"prove": "endless", "limit_s": 400.0})
sys.argv[1:] = [str(os.getppid()), str(theirs.detach()), sys.argv[1]]
"""
# It is told to end before it has learned that its fork succeeded.
INTERRUPTED = f"""{ASKED}
fork = os.fork

def interrupted():
    child = fork()
    if child:
        os.kill(os.getpid(), signal.SIGTERM)
    return child

os.fork = interrupted
proof_process.main()
"""
# As where SIGTERM comes just before the server begins to wait: the wait is not interrupted.
UNHEARD = f"""{ASKED}
def end_it():
    time.sleep(1)
    os.kill(os.getpid(), signal.SIGTERM)

threading.Thread(target=end_it, daemon=True).start()
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])  # the other thread gets it
proof_process.main()
"""
SANDBOX = ["sandbox", "none"]
WITH_SANDBOX = sampled(SANDBOX, "sandbox", why="endings without a sandbox")


def killed(
    folder: Path,
    sandbox: str,
    *victims: str,
    last: int = signal.SIGKILL,
    most: int = 20,
    answer: str = ENDLESS,
) -> Report:
    """What is left of a run after `victims`, and `last` to its main process."""
    (folder / "tmp").mkdir()
    command = [sys.executable, "-c", DRIVER, str(folder / "course"), sandbox, str(most), answer]
    return watch(Plan(command, {"TMPDIR": str(folder / "tmp")}, victims, last))


@pytest.mark.exhaustive("a process of the grader that dies")
@pytest.mark.parametrize("sandbox", WITH_SANDBOX)
def test_each_process_may_die_while_an_answer_never_returns(tmp_path: Path, sandbox: str) -> None:
    # A checker first: once it is known what a test cell asks, the worker asks it without one. After
    # one has died, no more is taken over.
    victims = ("checker", "asked", "fork server", "worker", "sandbox", "worker pool")
    found = killed(tmp_path, sandbox, *victims, "checker")
    assert found.survivors == []
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.parametrize("sandbox", WITH_SANDBOX)
def test_what_a_submission_started_ends_with_it(tmp_path: Path, sandbox: str) -> None:
    found = killed(tmp_path, sandbox, last=0, most=1, answer=FORKING)
    assert (found.output, found.survivors) == ("['graded']\n", [])


@pytest.mark.exhaustive("a process of the grader that dies")
@pytest.mark.parametrize("sandbox", WITH_SANDBOX)
@pytest.mark.parametrize("last", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_nothing_is_left_of_a_run_that_ends_while_it_starts(
    tmp_path: Path, sandbox: str, last: signal.Signals
) -> None:
    found = killed(tmp_path, sandbox, "starting sandbox", last=last)
    assert found.survivors == []
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.exhaustive("endings that take seconds")
def test_a_pool_that_still_loads_leaves_nothing_of_what_it_started(tmp_path: Path) -> None:
    # Bubblewrap that is killed early leaves a child that waits for it; here every time.
    program, torch = tmp_path / "bin" / "bwrap", tmp_path / "slow" / "torch.py"
    for path, text in ((program, "#!/bin/sh\nsleep 54321 &\nsleep 54321\n"), (torch, SLOW)):
        path.parent.mkdir()
        path.write_text(text)
        path.chmod(0o755)
    (tmp_path / "tmp").mkdir()
    env = {
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(torch.parent),
        "TMPDIR": str(tmp_path / "tmp"),
    }
    command = [sys.executable, "-c", DRIVER, str(tmp_path / "course"), "sandbox", "1", ENDLESS]
    found = watch(Plan(command, env, ("starting sandbox",), last=signal.SIGINT))
    assert found.survivors == []
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.exhaustive("endings of stock nbgrader")
def test_kernels_of_stock_nbgrader_end_with_the_grader_that_is_killed(tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    command = [sys.executable, "-c", STOCK, str(tmp_path / "course")]
    found = watch(Plan(command, {"TMPDIR": str(tmp_path / "tmp")}, ("stock grader",), last=0))
    assert found.survivors == []
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.exhaustive("what a benchmark compares with")
@pytest.mark.parametrize("contender", ["nbgrader autograde", "pool over its API"])
def test_what_a_benchmark_compares_with_ends_with_it(tmp_path: Path, contender: str) -> None:
    (tmp_path / "tmp").mkdir()
    command = [sys.executable, "-c", BENCH, str(tmp_path / "course"), contender]
    found = watch(Plan(command, {"TMPDIR": str(tmp_path / "tmp")}, ("stock grader",), last=0))
    assert (found.status, found.survivors) == (-signal.SIGKILL, []), found.output


@pytest.mark.exhaustive("a process of the grader that dies")
def test_a_trial_ends_with_the_server_that_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", TRIAL]
    found = watch(Plan(command, {"TMPDIR": str(tmp_path)}, ("trial server",), last=0))
    assert "the process that runs answers ended with -9" in found.output
    assert found.survivors == []


@pytest.mark.exhaustive("endings that take seconds")
def test_what_an_answer_started_ends_with_its_trial(tmp_path: Path) -> None:
    found = watch(Plan([sys.executable, "-c", DAEMON], {"TMPDIR": str(tmp_path)}, last=0))
    assert (found.output, found.survivors) == ("['finished', 'finished']\n", [])


@pytest.mark.exhaustive("a process of the grader that dies")
def test_a_trial_ends_with_the_program_that_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", TRIAL]
    found = watch(Plan(command, {"TMPDIR": str(tmp_path)}, ("starter of a trial",), last=0))
    assert (found.status, found.survivors) == (-signal.SIGKILL, [])


def prove(folder: Path, limit_s: float, *victims: str) -> Report:
    """What is left of a program that proves a claim without end."""
    command = [sys.executable, "-c", PROOF, str(folder / "course"), CLAIM, str(limit_s)]
    return watch(Plan(command, {"TMPDIR": str(folder)}, victims, last=0))


@pytest.mark.exhaustive("a process of the grader that dies")
def test_a_proof_ends_with_the_program_that_is_killed(tmp_path: Path) -> None:
    found = prove(tmp_path, 400.0, "starter of a proof")
    assert (found.status, found.survivors) == (-signal.SIGKILL, [])


@pytest.mark.exhaustive("a process of the grader that dies")
@pytest.mark.parametrize("program", [INTERRUPTED, UNHEARD], ids=["it forks", "it begins to wait"])
def test_a_proof_ends_with_its_server_that_is_told_to_end_while(
    tmp_path: Path, program: str
) -> None:
    claims = tmp_path / "claims.toml"
    claims.write_text(CLAIM)
    command = [sys.executable, "-c", program, str(claims)]
    found = watch(Plan(command, {"TMPDIR": str(tmp_path)}, last=0))
    assert (found.status, found.survivors) == (1, [])


@pytest.mark.exhaustive("a process of the grader that dies")
def test_what_a_proof_started_ends_with_it(tmp_path: Path) -> None:
    found = prove(tmp_path, 15.0)
    assert (found.output, found.survivors) == ("['it ran past the time limit']\n", [])


def test_fork_servers_whose_starter_dies_before_they_know_it_end(tmp_path: Path) -> None:
    found = killed(tmp_path, "none", "starting worker pool", last=0, most=1)
    assert "a grading worker does not start" in found.output
    assert found.survivors == []
