"""The whole cycle with nbgrader alone, from a fresh clone: two users, its commands and its buttons.

    instructor  nbgrader generate_assignment; formgrader: Release      →  learner  fetch_assignment
    learner     answers every second exercise, submit                  →  instructor  Collect
    instructor  Autograde, points and a comment by hand, Generate Feedback, Release Feedback
    learner     fetch_feedback

Nothing of ours runs but what nbgrader_config.py plugs in: no engine, no server extension.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="Playwright is missing (extra dev)")

from playwright.sync_api import Browser, Page, expect

from autograder.lessons.model import Exercise, Lesson, find_lesson
from autograder.lessons.regions import without_markers
from autograder.reporting.feedback import hidden_lines
from tests.browser.jupyter import ROOT, Lab, serve, window
from tests.browser.test_formgrader import COMMENT, WRITTEN, fill, wait_until_it_saves
from tests.exchange.test_exchange import User, user

SLUG = "04-memory-layout"
PRESS_S = 180  # stock autograding starts a kernel; this is no measurement
LESSON = find_lesson(ROOT, SLUG)
SOLVED = [one for one in LESSON.exercises if not one.manual][::2]


@dataclass(frozen=True)
class Cycle:
    """The two users after everything has gone through."""

    instructor: User
    learner: User

    @property
    def page(self) -> Path:
        """The feedback page that the learner fetched."""
        (page,) = (self.learner.work / SLUG / "feedback").rglob("*.html")
        return page

    @property
    def autograded(self) -> str:
        """The notebook from which nbgrader makes that page."""
        return sources(self.instructor.work / "autograded" / "ada" / SLUG / f"{SLUG}.ipynb")


def sources(notebook: Path) -> str:
    """What stands in the cells of a notebook."""
    cells = json.loads(notebook.read_text())["cells"]
    return "\n".join("".join(cell["source"]) for cell in cells)


def clone(target: Path) -> Path:
    """What somebody gets who clones the working tree as it is now."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target / name)
    return target


@pytest.fixture(scope="module")
def done(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cycle]:
    """Everything, once."""
    root = tmp_path_factory.mktemp("cycle")
    (root / "exchange").mkdir()
    # Both are the same user of the operating system here, which nbgrader would take for cheating.
    same_owner = "c.ExchangeCollect.check_owner = False\n"
    ada = "c.CourseDirectory.student_id = 'ada'\nc.CourseDirectory.course_id = 'pytorch-measured'\n"
    course = clone(root / "clone")
    instructor = user(root / "instructor", course, root / "exchange", same_owner)
    learner = user(root / "ada", root / "ada" / "work", root / "exchange", ada)
    home = instructor.home
    shutil.copytree(home / "config", home / "jupyter_config_dir")
    instructor.run("nbgrader", "generate_assignment", SLUG)
    with serve(course, home) as lab:
        go_through(Desk(window(browser), lab), learner)
    yield Cycle(instructor, learner)


@dataclass(frozen=True)
class Desk:
    """Formgrader in the instructor's browser."""

    page: Page
    lab: Lab

    def press(self, where: str, row: str, button: str) -> None:
        """Click a button in the row of a table, and read that it went well."""
        self.page.goto(f"{self.lab.url}/formgrader/{where}")
        self.page.get_by_role("row", name=row).locator(f".{button} a").click()
        told = self.page.locator(".modal.in")
        expect(told).to_be_visible(timeout=PRESS_S * 1000)
        assert "Success" in told.inner_text(), told.inner_text()

    def grade_by_hand(self) -> None:
        """Give points and a comment to the answer in words."""
        self.page.goto(f"{self.lab.url}/formgrader/gradebook/{SLUG}/{SLUG}/")
        self.page.get_by_role("link", name="Submission #").first.click()
        wait_until_it_saves(self.page)
        fill(self.page, self.page.locator(f"input#{WRITTEN}"), "1.5")
        fill(self.page, self.page.locator(f"textarea#{WRITTEN}-comment"), COMMENT)


def go_through(desk: Desk, learner: User) -> None:
    desk.page.goto(desk.lab.address())  # logs in
    desk.press("manage_assignments", SLUG, "release")
    learner.run("nbgrader", "fetch_assignment", SLUG)
    solve(learner.work / SLUG / f"{SLUG}.ipynb", LESSON)
    learner.run("nbgrader", "submit", SLUG)
    desk.press("manage_assignments", SLUG, "collect")
    desk.press(f"manage_submissions/{SLUG}", "ada", "autograde")
    desk.grade_by_hand()
    desk.press("manage_assignments", SLUG, "generate-feedback")
    desk.press("manage_assignments", SLUG, "release-feedback")
    learner.run("nbgrader", "fetch_feedback", SLUG)


def solve(notebook: Path, lesson: Lesson) -> None:
    """Put the solutions of some exercises in, and an answer in words."""
    answers = {one.answer_id: without_markers(one.answer_source) for one in SOLVED}
    answers[WRITTEN] = "The strides of the two dimensions do not merge."
    content = json.loads(notebook.read_text())
    for cell in content["cells"]:
        cell["source"] = answers.get(cell["id"], cell["source"])
    notebook.write_text(json.dumps(content))


def text_of(page: Path) -> str:
    return unescape(re.sub("<[^>]*>", "", page.read_text()))


def hidden(exercise: Exercise, text: str) -> list[str]:
    """The hidden lines in a text, without those that stand elsewhere in what everybody got."""
    handed_out = sources(ROOT / "release" / SLUG / f"{SLUG}.ipynb")
    return [line for line in hidden_lines(exercise) if line in text and line not in handed_out]


def test_the_first_command_of_a_newcomer_makes_what_is_handed_out(done: Cycle) -> None:
    course = done.instructor.work
    assert (course / "handout" / SLUG / f"{SLUG}.ipynb").is_file()
    committed = f"release/{SLUG}/{SLUG}.ipynb"
    assert (course / committed).read_bytes() == (ROOT / committed).read_bytes()


def test_the_feedback_of_the_whole_cycle_holds_no_hidden_line(done: Cycle) -> None:
    text = text_of(done.page)
    assert [line for one in LESSON.exercises for line in hidden(one, text)] == []


def test_the_notebook_that_it_is_made_from_holds_them_all(done: Cycle) -> None:
    tested = [one for one in LESSON.exercises if not one.manual]
    assert [one.name for one in tested if not hidden(one, done.autograded)] == []


def test_points_comment_and_answers_come_back(done: Cycle) -> None:
    text = text_of(done.page)
    points = sum(one.points for one in SOLVED) + 1.5
    most = sum(one.points for one in LESSON.exercises)
    assert f"(Score: {points} / {most})" in text
    assert COMMENT in text
    assert "The strides of the two dimensions do not merge." in text
