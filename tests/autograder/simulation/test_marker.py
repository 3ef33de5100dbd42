"""Our own submissions run where there is no sandbox, and say so; a learner's never do."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path

import pytest

from autograder.cli import grade
from autograder.cli.main import main
from autograder.course_directory import load_course
from autograder.engine.sandbox import bubblewrap
from autograder.lessons.model import select_lessons
from autograder.records.journal import Journal
from autograder.runners.choice import choose_runner
from autograder.runners.nbgrader import StockRunner
from autograder.simulation import marker
from autograder.simulation.marker import MARK, are_simulated
from autograder.simulation.simulate import simulate
from autograder.submissions.discovery import find_submissions
from tests.autograder import tiny
from tests.autograder.classroom import answered, hand_in

Captured = pytest.CaptureFixture[str]
REFUSAL = "bwrap: Creating new namespace failed: Operation not permitted"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A simulated class of two, to be copied."""
    course = tiny.build(tmp_path_factory.mktemp("course"))
    out = tmp_path_factory.mktemp("made") / "class"
    simulate(course, select_lessons(course), out=out, students=2, seed=1)
    return out


@pytest.fixture
def course(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "class"))


@pytest.fixture
def forbidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bubblewrap that ends as it does where the kernel refuses namespaces."""
    program = tmp_path / "bin" / "bwrap"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho '{REFUSAL}' >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")


def ours(course: Path) -> bool:
    """Whether the whole class in `course` is taken for a simulated one."""
    return are_simulated(course, find_submissions(load_course(course), select_lessons(course)))


# Who is known again.


def test_a_simulated_class_is_known_again(course: Path) -> None:
    assert ours(course)


@pytest.mark.parametrize("name", ["01-tiny.ipynb", "timestamp.txt", "more.py"])
def test_a_submission_with_a_changed_file_is_not_ours(course: Path, name: str) -> None:
    with (course / "submitted/student-001/01-tiny" / name).open("a") as file:
        file.write(" ")
    assert not ours(course)


def test_one_learner_among_ours_makes_it_a_real_class(course: Path) -> None:
    hand_in(course, "ada", answered())
    assert not ours(course)


def test_a_copied_mark_makes_no_class_a_simulated_one(course: Path, tmp_path: Path) -> None:
    real = tiny.build(tmp_path / "real")
    hand_in(real, "student-001", answered())
    shutil.copy(course / MARK, real)
    assert not ours(real)


def test_swapped_submissions_are_not_ours(course: Path) -> None:
    one, other = (course / "submitted" / name for name in ("student-001", "student-002"))
    spare = one.with_name("spare")
    for old, new in ((one, spare), (other, one), (spare, other)):
        old.rename(new)
    assert not ours(course)


@pytest.mark.parametrize("mark", ["", "[]", "{}", '{"kind": "simulated course"}', "[" * 100_000])
def test_a_mark_that_names_no_digest_vouches_for_nobody(course: Path, mark: str) -> None:
    (course / MARK).write_text(mark)
    assert not ours(course)


@pytest.mark.parametrize("listed", [None, "all", [None, 1, {}], [{"student": [], "digest": {}}]])
def test_a_mark_with_nonsense_in_it_vouches_for_nobody(course: Path, listed: object) -> None:
    (course / MARK).write_text(json.dumps({"kind": marker.KIND, "submissions": listed}))
    assert not ours(course)


def test_nobody_at_all_is_no_simulated_class(course: Path) -> None:
    assert not are_simulated(course, ())


# What becomes of them where there is no sandbox.


def test_our_own_class_is_graded_without_a_sandbox_and_marked(
    course: Path, forbidden: None, capsys: Captured
) -> None:
    assert main(["grade", "--course", str(course), "--jobs", "1"]) == 0
    said = capsys.readouterr().err.splitlines()[0]
    assert said == (
        f"There is no sandbox here ({REFUSAL}). Every submission is simulated: the engine runs it "
        "without one, and its record says so."
    )
    records = Journal(load_course(course).state).records("01-tiny")
    assert [(one.status, one.sandboxed, one.runner) for one in records] == [
        ("graded", False, "engine"),
        ("graded", False, "engine"),
    ]


@pytest.mark.exhaustive("a simulated class")
def test_a_real_class_is_refused_with_the_way_out(
    course: Path, forbidden: None, capsys: Captured
) -> None:
    hand_in(course, "ada", answered())
    assert main(["grade", "--course", str(course), "--jobs", "1"]) == 1
    said = capsys.readouterr()
    assert f"the process that runs learners' code does not start: {REFUSAL}" in said.err
    assert "kernel.unprivileged_userns_clone" in said.err
    assert "There is no sandbox here" not in said.err
    assert said.out == ""
    assert Journal(load_course(course).state).records("01-tiny") == ()


@pytest.mark.parametrize("words", [["--runner", "engine"], ["--scheduler", "tcp://127.0.0.1:1"]])
def test_who_says_how_to_run_it_gets_no_other_way(
    course: Path, words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    asked = []
    monkeypatch.setattr(grade, "choose_runner", lambda *_, **more: asked.append(more["sandbox"]))
    monkeypatch.setattr(bubblewrap, "sandbox_problem", lambda: REFUSAL)
    with pytest.raises(AttributeError):  # there is no runner to be closed
        main(["grade", "--course", str(course), *words])
    assert asked == [True]


def test_where_there_is_a_sandbox_our_own_class_runs_in_it(
    course: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setattr(bubblewrap, "sandbox_problem", lambda: None)
    submissions = find_submissions(load_course(course), select_lessons(course))
    assert marker.sandbox_for(course, submissions)
    assert capsys.readouterr().err == ""


def test_where_there_is_no_linux_our_own_class_goes_to_stock_nbgrader(
    course: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setattr(bubblewrap.platform, "system", lambda: "Darwin")
    monkeypatch.setattr(sys, "platform", "darwin")
    submissions = find_submissions(load_course(course), select_lessons(course))
    safe = marker.sandbox_for(course, submissions)
    runner = choose_runner(None, jobs=None, sandbox=safe, scheduler=None)
    assert isinstance(runner, StockRunner)
    assert runner.jobs == os.cpu_count()
    assert "(the sandbox needs Linux; this is Darwin)" in capsys.readouterr().err
