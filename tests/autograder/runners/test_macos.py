"""Where there is no Linux, the demonstration goes through stock nbgrader from end to end."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.course_directory import load_course
from autograder.records.journal import Journal
from autograder.records.model import SubmissionRecord
from autograder.simulation.marker import MARK
from tests.autograder import tiny
from tests.autograder.tiny import SLUG

pytestmark = pytest.mark.exhaustive("grading where there is no Linux")
ROOT = Path(__file__).parents[3]


def run(folder: Path, *commands: list[str]) -> subprocess.CompletedProcess[str]:
    """What the commands, one after the other, say in `folder` on something like macOS."""
    program = [sys.executable, "-m", "tests.autograder.runners.macos", json.dumps(commands)]
    env = {"PYTHONPATH": str(ROOT), "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    return subprocess.run(program, cwd=folder, env=env, capture_output=True, text=True)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """What `make demo` does with one learner and the tiny lesson: the class, and what it said."""
    course = tiny.build(tmp_path_factory.mktemp("macos") / "course")
    simulate = ["simulate", "--students", "1", "--lessons", "all", "--seed", "1", "--out", "demo"]
    graded = [[name, "--course", "demo"] for name in ("grade", "feedback", "report")]
    done = run(course, simulate, *graded)
    assert done.returncode == 0, done.stderr
    return course / "demo", done.stderr


def record(demo: Path) -> SubmissionRecord:
    (found,) = Journal(load_course(demo).state).records(SLUG)
    return found


def test_the_demonstration_is_graded_by_stock_nbgrader(demo: tuple[Path, str]) -> None:
    found = record(demo[0])
    assert (str(found.status), found.runner, found.sandboxed) == ("graded", "stock", False)
    assert found.score > 0
    assert (demo[0] / "feedback" / "student-001" / SLUG / f"{SLUG}.html").is_file()
    assert (demo[0] / "gradebook.db").is_file()


def test_one_line_says_so(demo: tuple[Path, str]) -> None:
    assert [line for line in demo[1].splitlines() if "sandbox" in line] == [
        "There is no sandbox here (the sandbox needs Linux; this is Darwin). Every submission is "
        "simulated: stock nbgrader runs it without one, and its record says so."
    ]


@pytest.fixture(scope="module")
def real(demo: tuple[Path, str]) -> subprocess.CompletedProcess[str]:
    """What an instructor reads whose class is not a simulated one."""
    course = shutil.copytree(demo[0], demo[0].with_name("real"))
    (course / MARK).unlink()
    return run(course, ["doctor"], ["grade", "--regrade"])


def test_a_real_class_is_refused_with_the_way_out(real: subprocess.CompletedProcess[str]) -> None:
    assert real.returncode == 2
    assert "stock nbgrader runs the learners' code as you" in real.stderr
    assert "say --no-sandbox if you accept that" in real.stderr


def test_the_doctor_misses_nothing(real: subprocess.CompletedProcess[str]) -> None:
    assert "– sandbox: there is none for Darwin" in real.stdout
    assert "✗" not in real.stdout
