"""Checkers forked from a process that has done what is the same for every submission."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType
from typing import Any, cast

import pytest

from autograder.engine.checker import template as template_module
from autograder.engine.checker.template import CheckerTemplate
from autograder.engine.kernel.shell import Shell
from autograder.records.runner import Outcome
from tests.autograder.engine.exam import (
    SETUP,
    engine,
    exam_cells,
    graded_cell,
    hand_in,
    printed,
    rehearsed,
    solution,
    write_lesson,
)

REFERENCE = """\
import os
from course import inputs
add_up = answer("add_up")
check = Check("add-up")
print("forked from", os.getppid())
check.equal(add_up(torch.ones(2)).result, torch.tensor(2.0))
### BEGIN HIDDEN TESTS
def reference(x):
    print("computed")
    return x.sum()
check.agrees(reference, [inputs.Case("numbers", (torch.arange(n + 1.0),)) for n in range(40)])
### END HIDDEN TESTS
check.score(4)"""
LASTING = REFERENCE.replace(
    "import os\n",
    "import os, threading, time\nthreading.Thread(target=time.sleep, args=(60,)).start()\n",
)
ADD_UP = "def add_up(x):\n    return x.sum()"
NEARLY = "def add_up(x):\n    return x.sum() if len(x) < 9 else x.sum() + 1"


def cells(answer: str, test: str = REFERENCE, *, setup: str = SETUP) -> list[dict[str, Any]]:
    """The exam with an exercise more, which has a reference."""
    added = [solution("add-up", answer), graded_cell("add-up", test, 4)]
    return [*exam_cells(setup=setup), *added]


def graded(tmp_path: Path, test: str) -> list[Outcome]:
    """The outcomes of eight submissions of one lesson, every second one wrong, in their order.

    Each calls its parameter differently: of two whose replies are the same, a checker runs one.
    """
    lesson = write_lesson(tmp_path, [rehearsed(), *cells(ADD_UP, test)])
    answers = [one.replace("x", f"x{n}") for n, one in enumerate([ADD_UP, NEARLY] * 4)]
    jobs = [hand_in(tmp_path, lesson, cells(a, test), f"s{n}") for n, a in enumerate(answers)]
    found = []
    for job in jobs:
        found += engine().run_many([job])
        time.sleep(0.5)  # a template gets ready beside the submissions
    return found


def judged(outcome: Outcome) -> list[tuple[object, ...]]:
    """What was found, but for the time that it took."""
    return [(e.id, e.status, e.score, e.max, e.failed) for e in outcome.record.exercises]


@pytest.mark.exhaustive("whole processes of the engine")
def test_forks_of_a_template_find_the_same_and_compute_no_reference(tmp_path: Path) -> None:
    found = graded(tmp_path, REFERENCE)
    (worker,) = engine().workers
    own = f"forked from {worker}\n"
    said = [printed(one, "test-add-up") for one in found]
    assert said[0] == own + "computed\n" * 40
    assert [own in one or "computed" in one for one in said[-2:]] == [False, False]
    assert [judged(one) for one in found] == [judged(found[0]), judged(found[1])] * 4
    assert found[0].record.score == 9
    assert found[-1].record.score < 9


@pytest.mark.exhaustive("tests that leave threads")
def test_a_lesson_whose_tests_leave_threads_has_no_template(tmp_path: Path) -> None:
    found = graded(tmp_path, LASTING)
    (worker,) = engine().workers
    said = [printed(one, "test-add-up") for one in found]
    assert said == [f"forked from {worker}\n" + "computed\n" * 40] * 8
    assert [one.record.score == 9 for one in found] == [True, False] * 4


# Both parts know an object of the set-up cell, a module beside the notebook, and the folder.
KEEPING = """\
import helper, os
add_up = answer("add_up")
check = Check("add-up")
kept = [*box.numbers, *helper.NUMBERS, *map(int, filter(str.isdigit, os.listdir()))]
for n in [1, *kept]:
    check.equal(add_up(torch.ones(n)).result, torch.tensor(float(n)))
### BEGIN HIDDEN TESTS
for n in (47, 11):
    box.numbers.append(n)
    helper.NUMBERS.append(n)
    open(str(n), "w").close()
    check.equal(add_up(torch.ones(n)).result, torch.tensor(float(n)))
### END HIDDEN TESTS
check.score(4)"""


@pytest.mark.exhaustive("whole processes of the engine")
def test_nothing_that_a_hidden_part_leaves_is_found_for_another_learner(tmp_path: Path) -> None:
    setup = f"{SETUP}\nimport types\nbox = types.SimpleNamespace(numbers=[])"
    lesson = write_lesson(
        tmp_path, cells(ADD_UP, KEEPING, setup=setup), **{"helper.py": "NUMBERS = []\n"}
    )
    for n in range(6):
        answer = NEARLY.replace("x", f"x{n}")
        job = hand_in(tmp_path, lesson, cells(answer, KEEPING, setup=setup), f"s{n}")
        (outcome,) = engine().run_many([job])
        (one,) = (e for e in outcome.record.exercises if e.id == "add-up")
        assert [check.passed for check in one.checks[:1]] == [True], one
        assert [check.hidden for check in one.checks if not check.passed] == [True, True]
        time.sleep(0.3)


@pytest.mark.exhaustive("whole processes of the engine")
def test_what_the_set_up_cell_writes_is_there_for_every_learner(tmp_path: Path) -> None:
    setup = f"{SETUP}\nimport os, pathlib\nos.mkdir('made')\npathlib.Path('made/n').write_text('1')"
    reads = REFERENCE.replace("import os", "import os\nassert open('made/n').read() == '1'", 1)
    lesson = write_lesson(tmp_path, cells(ADD_UP, reads, setup=setup))
    for n in range(5):
        answer = ADD_UP.replace("x", f"x{n}")
        job = hand_in(tmp_path, lesson, cells(answer, reads, setup=setup), f"s{n}")
        (outcome,) = engine().run_many([job])
        assert outcome.record.score == 9
        time.sleep(0.3)


@pytest.mark.exhaustive("whole processes of the engine")
def test_what_a_test_cell_writes_over_is_no_file_of_the_lessons(tmp_path: Path) -> None:
    writes = REFERENCE.replace("import os", "open('n.txt', 'a').write('2')\nimport os", 1)
    writes += "\nassert open('n.txt').read() == '12'"
    lesson = write_lesson(tmp_path, cells(ADD_UP, writes), **{"n.txt": "1"})
    for n in range(4):
        answer = ADD_UP.replace("x", f"x{n}")
        job = hand_in(tmp_path, lesson, cells(answer, writes), f"s{n}")
        (outcome,) = engine().run_many([job])
        assert outcome.record.score == 9
        time.sleep(0.3)
    assert (lesson.source.parent / "n.txt").read_text() == "1"


SHARING = """\
view = answer("view")
check = Check("view")
seen = view(torch.arange(6.0).view(2, 3))
check.equal(seen.result, torch.arange(6.0))
check.shares_storage(seen.result, seen.args[0])
check.shape(view(torch.zeros(0, 3)).result, (0,))
check.score(4)"""


@pytest.mark.exhaustive("whole processes of the engine")
def test_no_tensor_of_the_checkers_is_taken_for_one_beside_the_answer(tmp_path: Path) -> None:
    copies = "def view(x):\n    return x.clone().reshape(-1)"

    def lesson_cells(answer: str) -> list[dict[str, Any]]:
        return [*exam_cells(), solution("view", answer), graded_cell("view", SHARING, 4)]

    lesson = write_lesson(tmp_path, lesson_cells("def view(x):\n    return x.view(-1)"))
    points = set()
    for n in range(6):  # the last ones by forks of a template, whose storages have other numbers
        job = hand_in(tmp_path, lesson, lesson_cells(copies.replace("x", f"x{n}")), f"s{n}")
        (outcome,) = engine().run_many([job])
        points.add(next(e.score for e in outcome.record.exercises if e.id == "view"))
        time.sleep(0.3)
    assert len(points) == 1


@dataclass
class CellsOnly:
    """A shell that keeps what it was asked to run."""

    user_ns: dict[str, Any] = field(default_factory=dict)

    def ready(self, recorder: object) -> None:
        pass

    def run(self, source: str) -> None:
        exec(source, self.user_ns)

    def statements_of(self, source: str) -> list[CodeType]:
        return [compile(source, "<test>", "exec")]


def say_what_was_set_up(shell: CellsOnly) -> Any:
    own = os.getpid()

    def run(channel: int) -> None:
        os.write(channel, f"{os.getpid() != own} {shell.user_ns.get('found')}".encode())
        signal.pause()

    return run


def template(tmp_path: Path, test: str) -> CheckerTemplate:
    shell = CellsOnly()
    plain = cast(Shell, shell)
    run = say_what_was_set_up(shell)
    return CheckerTemplate(plain, str(tmp_path), "found = 7", [test], run)


STARTS = """\
import subprocess
with open("pid", "w") as file:
    file.write(str(subprocess.Popen(["sleep", "60"]).pid))"""


def is_running(pid: str) -> bool:
    """Whether it is there after a second; one that nobody has waited for has ended."""
    time.sleep(1.0)
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][:1] not in "ZX"
    except OSError:
        return False


def gets_ready(one: CheckerTemplate) -> bool:
    """Whether it is ready within ten seconds."""
    for _ in range(500):
        if one.is_ready or one.has_failed:
            break
        time.sleep(0.02)
    return one.is_ready


@pytest.fixture
def channel() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


@pytest.mark.exhaustive("whole processes of the engine")
def test_a_checker_is_forked_after_the_set_up_cell_and_ends_when_told(
    tmp_path: Path, channel: tuple[socket.socket, socket.socket]
) -> None:
    made = template(tmp_path, "found = 9")  # which stays in the rehearsal
    try:
        assert gets_ready(made)
        checker = made.fork(channel[1].fileno())
        assert channel[0].recv(100) == b"True 7"
        checker.end()
        assert not Path(f"/proc/{checker.pid}").exists()
    finally:
        made.close()


@pytest.mark.parametrize("test", ["while True: pass", STARTS])
def test_what_does_not_end_makes_no_template(
    test: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(template_module, "_REHEARSAL_S", 0.2)
    made = template(tmp_path, test)
    try:
        assert not gets_ready(made)
        assert made.has_failed
        started = tmp_path / "pid"
        assert not started.exists() or not is_running(started.read_text())
    finally:
        made.close()


@pytest.mark.exhaustive("whole processes of the engine")
def test_a_template_that_was_killed_forks_nothing(
    tmp_path: Path, channel: tuple[socket.socket, socket.socket]
) -> None:
    made = template(tmp_path, "pass")
    assert gets_ready(made)
    os.kill(made.pid, signal.SIGKILL)
    try:
        with pytest.raises(OSError, match="forked from the template"):
            made.fork(channel[1].fileno())
        assert not made.is_ready
    finally:
        made.close()
