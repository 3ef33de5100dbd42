"""Formgrader's buttons reach the engine and our pages, through a real Jupyter server."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from autograder.course_directory import CourseDirectory
from autograder.formgrader import GradingService
from autograder.lessons.model import find_lesson
from autograder.nbgrader_bridge.gradebook import GradebookWriter
from autograder.nbgrader_bridge.gradebook_entry import FROM_GRADEBOOK
from autograder.records.journal import Journal
from autograder.records.model import Status, SubmissionRecord
from autograder.records.runner import Job
from autograder.reporting.feedback import hidden_in_tests
from tests.autograder.classroom import (
    SLUG,
    FakeRunner,
    answered,
    classroom,
    double,
    flatten,
    hand_in,
    record,
    tiny_lesson,
)

pytestmark = pytest.mark.exhaustive("formgrader's buttons")

ROOT = Path(__file__).parents[2]
WRONG = "def flatten(x):\n    return x.clone().reshape(-1)"


@dataclass
class Server:
    """A Jupyter server with formgrader on a course of one lesson."""

    course: CourseDirectory
    url: str

    def press_autograde(self, assignment: str, student: str) -> dict[str, Any]:
        """What formgrader's page gets when its button is pressed."""
        return self.press(f"submission/{assignment}/{student}/autograde")

    def press_feedback(self, *assignment_and_student: str) -> dict[str, Any]:
        """The same for Generate Feedback, of everyone or of one student."""
        return self.press(f"assignment/{'/'.join(assignment_and_student)}/generate_feedback")

    def press(self, button: str) -> dict[str, Any]:
        """What formgrader's page gets from this address."""
        address = f"{self.url}/formgrader/api/{button}"
        request = urllib.request.Request(address, method="POST", data=b"")
        request.add_header("Authorization", "token secret")
        with urllib.request.urlopen(request, timeout=120) as answer:
            found: dict[str, Any] = json.load(answer)
            return found


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A real server on loopback; one option turns the engine on."""
    course, _ = classroom(tmp_path_factory.mktemp("course"))
    hand_in(course.root, "ada", answered(flatten=WRONG))
    hand_in(course.root, "bob", answered(flatten=WRONG))
    shutil.copy(ROOT / "nbgrader_config.py", course.root)
    log = course.root / "server.log"
    options = ["--allow-root", "--no-browser", "--ip=127.0.0.1", "--port=0"]
    options += ["--IdentityProvider.token=secret"]
    options += ["--ServerApp.jpserver_extensions=autograder.formgrader=True"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "jupyter_server", *options],
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"},
            cwd=course.root,
            stdout=output,
            stderr=output,
        )
    try:
        yield Server(course, address_in(log))
    finally:
        process.terminate()
        process.wait(20)


def address_in(log: Path) -> str:
    """The address that the server prints, once it listens there: it prints it before that."""
    until = time.monotonic() + 120
    while time.monotonic() < until:
        whole_lines = log.read_text().rpartition("\n")[0]  # the last may be half written
        found = [word for word in whole_lines.split() if word.startswith("http://127.0.0.1:")]
        if found and listens(url := found[-1].partition("/?")[0].removesuffix("/")):
            return url
        time.sleep(0.1)
    raise TimeoutError(log.read_text())


def listens(url: str) -> bool:
    """Whether something answers at this address."""
    found = urllib.parse.urlsplit(url)
    try:
        socket.create_connection((str(found.hostname), int(found.port or 0)), timeout=5).close()
    except OSError:
        return False
    return True


@pytest.mark.needs("sandbox")
def test_the_button_grades_with_the_engine(server: Server) -> None:
    answer = server.press_autograde(SLUG, "ada")
    assert answer["success"], answer
    assert answer["log"].startswith("graded: 5.2 of 6 points, by the grading engine")
    entry = Journal(server.course.state).read(SLUG, "ada")
    assert entry is not None
    assert (entry.record.runner, entry.record.sandboxed) == ("engine", True)
    with GradebookWriter(server.course) as writer:
        assert writer.entries(tiny_lesson())["ada"].score == 5.2
    assert (server.course.autograded("ada", SLUG) / f"{SLUG}.ipynb").is_file()


def test_a_student_who_handed_in_nothing_is_an_error_on_the_page(server: Server) -> None:
    answer = server.press_autograde(SLUG, "zoe")
    assert not answer["success"]
    assert "student 'zoe' handed in nothing" in answer["error"]


def test_an_assignment_that_is_no_lesson_stays_with_nbgrader(server: Server) -> None:
    answer = server.press_autograde("homework", "ada")
    assert not answer["success"]
    assert "nbgrader/converters" in answer["error"]


def page_of(server: Server, student: str) -> str:
    """The feedback page of one student, after the button was pressed for everyone."""
    if not Journal(server.course.state).read(SLUG, "ada"):
        server.press_autograde(SLUG, "ada")
    if not (server.course.autograded("bob", SLUG)).is_dir():
        server.press_autograde(SLUG, "bob")  # and then nobody knows that the engine graded it
        (server.course.state / "journal" / SLUG / "bob.json").unlink()
    answer = server.press_feedback(SLUG)
    assert answer["success"], answer
    return (server.course.feedback(student, SLUG) / f"{SLUG}.html").read_text()


def test_the_feedback_button_writes_our_page(server: Server) -> None:
    page = page_of(server, "ada")
    assert "nbgrader_cell" not in page
    assert "reshape always copies" in page


def test_of_whom_only_the_gradebook_knows_the_page_has_the_points_and_no_hidden_test(
    server: Server,
) -> None:
    page = page_of(server, "bob")
    text = unescape(re.sub("<[^>]*>", "", page))
    lesson = find_lesson(server.course.root, SLUG)
    assert FROM_GRADEBOOK in text
    assert [
        line for one in lesson.exercises for line in hidden_in_tests(one).lines if line in text
    ] == []


def test_a_page_for_who_has_no_grade_is_an_error(server: Server) -> None:
    answer = server.press_feedback(SLUG, "zoe")
    assert not answer["success"]
    assert answer["error"] == f"zoe has no grade in {SLUG}: press Autograde first."


def test_feedback_on_an_assignment_that_is_no_lesson_stays_with_nbgrader(server: Server) -> None:
    answer = server.press_feedback("homework")
    assert not answer["success"]
    assert "nbgrader/converters" in answer["error"]


def test_a_stranger_cannot_press_the_button(server: Server) -> None:
    address = f"{server.url}/formgrader/api/submission/{SLUG}/ada/autograde"
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(urllib.request.Request(address, method="POST", data=b""))


# The service behind the button, with a runner that gives what a test wants.


def press(service: GradingService, course: CourseDirectory, *students: str) -> list[dict[str, Any]]:
    """The answers to a press for each of `students`, all at once."""

    async def all_of_them() -> list[dict[str, Any]]:
        one = (service.autograde(course.root, course.db_url, SLUG, name) for name in students)
        return list(await asyncio.gather(*one))

    return asyncio.run(all_of_them())


def test_the_engine_stays_for_the_next_press_and_grades_again(tmp_path: Path) -> None:
    course, _ = classroom(tmp_path, "ada", "bob")
    runner, roots = FakeRunner(), []

    def new_runner(root: Path) -> FakeRunner:
        roots.append(root)
        return runner

    answers = press(GradingService(new_runner), course, "ada", "bob", "ada")
    assert [one["success"] for one in answers] == [True] * 3
    assert (roots, runner.ran) == ([course.root], ["ada", "bob", "ada"])


def test_a_fault_of_the_grader_is_no_success(tmp_path: Path) -> None:
    def lost(job: Job) -> SubmissionRecord:
        status = Status.INFRASTRUCTURE
        parts = (flatten(0.0, status=status), double(0.0, status=status))
        return replace(record(job.student, *parts, status=status), notes=("The disk is full.",))

    course, _ = classroom(tmp_path, "ada")
    [answer] = press(GradingService(lambda root: FakeRunner(lost)), course, "ada")
    assert not answer["success"]
    assert answer["error"].endswith("The disk is full.")


def test_an_engine_that_is_not_used_is_ended(tmp_path: Path) -> None:
    class Counting(FakeRunner):
        closed = 0

        def close(self) -> None:
            Counting.closed += 1

    course, _ = classroom(tmp_path, "ada")
    service = GradingService(lambda root: Counting(), idle_s=0.0)

    async def press_and_wait() -> None:
        await service.autograde(course.root, course.db_url, SLUG, "ada")
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.Event().wait(), 0.05)

    asyncio.run(press_and_wait())
    assert Counting.closed == 1
