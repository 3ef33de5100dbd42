"""The whole cycle with nbgrader alone, from a fresh clone: its commands, formgrader's buttons.

    instructor  nbgrader generate_assignment 04; formgrader: Generate 14, Release
    learners    fetch_assignment: ada 04, bob 04 and 14; they answer some of it; submit
    instructor  Collect, Autograde, points and comment by hand, Generate Feedback, Release Feedback
    learners    fetch_feedback

Nothing of ours runs but what nbgrader_config.py plugs in: no engine, no server extension.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from html import unescape
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="Playwright is missing (extra dev)")

from playwright.sync_api import Browser, Page, expect

from autograder.answer_bank.bank import bank_path, read_bank
from autograder.lessons.leaks import leaks
from autograder.lessons.model import Exercise, Lesson, find_lesson
from autograder.lessons.regions import without_markers
from autograder.reporting.feedback import hidden_in_tests
from tests.browser.jupyter import ROOT, Lab, serve, window
from tests.browser.test_formgrader import COMMENT, WRITTEN, fill, wait_until_it_saves
from tests.exchange.test_exchange import User, user

MEMORY, GPU = LESSONS = ("04-memory-layout", "14-gpu-memory")
HANDED_IN = {"ada": (MEMORY,), "bob": (MEMORY, GPU)}
SUBMISSIONS = [(student, slug) for student, slugs in HANDED_IN.items() for slug in slugs]
# Bob's answers to lesson 04 are wrong: what fails in a hidden check must not quote it.
WRONG = ("bob", MEMORY)
PRESS_S = 400  # stock autograding starts a kernel; this is no measurement
WORDS = "The strides of the two dimensions do not merge."
EARLIER, LATER = "An edition of last year.", "A sentence that was added a moment ago."

lesson = cache(lambda slug: find_lesson(ROOT, slug))


@dataclass(frozen=True)
class Cycle:
    """The three users after everything has gone through."""

    instructor: User
    learners: Mapping[str, User]
    generated: Path  # what lay in handout/ before it was released

    def fetched(self, student: str, slug: str) -> Path:
        """The notebook as this learner got it."""
        return self.learners[student].home / slug / f"{slug}.ipynb"

    def page(self, student: str, slug: str) -> str:
        """What can be read on the feedback page that this learner fetched."""
        (page,) = (self.learners[student].work / slug / "feedback").rglob("*.html")
        return unescape(re.sub("<[^>]*>", "", page.read_text()))

    def autograded(self, student: str, slug: str) -> str:
        """The notebook from which nbgrader makes that page."""
        return sources(self.instructor.work / "autograded" / student / slug / f"{slug}.ipynb")


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


pytestmark = pytest.mark.exhaustive("the whole cycle with nbgrader alone")


@pytest.fixture(scope="module")
def done(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cycle]:
    """Everything, once."""
    root = tmp_path_factory.mktemp("cycle")
    (root / "exchange").mkdir()
    # All are the same user of the operating system here, which nbgrader would take for cheating.
    same_owner = "c.ExchangeCollect.check_owner = False\n"
    course = clone(root / "clone")
    instructor = user(root / "instructor", course, root / "exchange", same_owner)
    shutil.copytree(instructor.home / "config", instructor.home / "jupyter_config_dir")
    learners = {name: learner(root, name) for name in HANDED_IN}
    cycle = Cycle(instructor, learners, root / "generated")
    instructor.run("nbgrader", "generate_assignment", MEMORY)
    with serve(course, instructor.home) as lab:
        go_through(Desk(window(browser), lab), cycle)
    yield cycle


def learner(root: Path, name: str) -> User:
    about = {"student_id": name, "course_id": "pytorch-measured"}
    config = "".join(f"c.CourseDirectory.{key} = {value!r}\n" for key, value in about.items())
    return user(root / name, root / name / "work", root / "exchange", config)


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

    def grade_by_hand(self, student: str, slug: str) -> None:
        """Give points and a comment to the answer in words."""
        self.page.goto(f"{self.lab.url}/formgrader/manage_students/{student}/{slug}")
        self.page.locator("td.name a").click()
        wait_until_it_saves(self.page)
        fill(self.page, self.page.locator(f"input#{WRITTEN}"), "1.5")
        fill(self.page, self.page.locator(f"textarea#{WRITTEN}-comment"), COMMENT)


def go_through(desk: Desk, cycle: Cycle) -> None:
    desk.page.goto(desk.lab.address())  # logs in
    hand_out(desk, cycle)
    for student, slugs in HANDED_IN.items():
        one = cycle.learners[student]
        one.run("nbgrader", "fetch_assignment", *slugs)
        for slug in slugs:
            shutil.copytree(one.work / slug, one.home / slug)
            write_answers(one.work / slug / f"{slug}.ipynb", answers(student, slug))
            one.run("nbgrader", "submit", slug)
    grade(desk)
    for student, slugs in HANDED_IN.items():
        cycle.learners[student].run("nbgrader", "fetch_feedback", *slugs)


def hand_out(desk: Desk, cycle: Cycle) -> None:
    """Generate a lesson where an edition of last year lies, and release both."""
    course = cycle.instructor.work
    (course / "handout" / GPU).mkdir(parents=True)
    (course / "handout" / GPU / f"{GPU}.ipynb").write_text(EARLIER)
    (course / "handout" / GPU / "data-of-last-year.csv").write_text(EARLIER)
    desk.press("manage_assignments", GPU, "assign")
    shutil.copytree(course / "handout", cycle.generated)
    add_a_sentence(course / "source" / GPU / f"{GPU}.ipynb")
    for slug in LESSONS:
        desk.press("manage_assignments", slug, "release")


def grade(desk: Desk) -> None:
    for slug in LESSONS:
        desk.press("manage_assignments", slug, "collect")
    for student, slug in SUBMISSIONS:
        desk.press(f"manage_submissions/{slug}", student, "autograde")
    desk.grade_by_hand("ada", MEMORY)
    for slug in LESSONS:
        desk.press("manage_assignments", slug, "generate-feedback")
        desk.press("manage_assignments", slug, "release-feedback")


def add_a_sentence(source: Path) -> None:
    content = json.loads(source.read_text())
    content["cells"][0]["source"] = "".join(content["cells"][0]["source"]) + f"\n\n{LATER}"
    source.write_text(json.dumps(content))


def solved(slug: str) -> list[Exercise]:
    """Every second exercise, without those that a person grades."""
    return [one for one in lesson(slug).exercises if not one.manual][::2]


def answers(student: str, slug: str) -> dict[str, str]:
    """What a learner writes into which cell."""
    words = {WRITTEN: WORDS} if slug == MEMORY else {}
    if (student, slug) == WRONG:
        path = bank_path(ROOT, slug)
        assert path is not None
        cells = {one.name: one.answer_id for one in lesson(slug).exercises}
        wrong = {cells[a.exercise]: a.source for a in read_bank(path) if a.kind == "wrong"}
        return wrong | words
    return {one.answer_id: without_markers(one.answer_source) for one in solved(slug)} | words


def write_answers(notebook: Path, answers: Mapping[str, str]) -> None:
    content = json.loads(notebook.read_text())
    for cell in content["cells"]:
        cell["source"] = answers.get(cell["id"], cell["source"])
    notebook.write_text(json.dumps(content))


def hidden(student: str, one: Lesson, text: str) -> dict[str, list[str]]:
    """By exercise, the hidden lines in a text that this learner neither got nor wrote."""
    handed_out = sources(ROOT / "release" / one.slug / f"{one.slug}.ipynb")
    as_read = handed_out.replace("`", "")  # a page shows a task without its marks of code
    known = "\n".join([handed_out, as_read, *answers(student, one.slug).values()])
    return {
        exercise.name: [
            line for line in hidden_in_tests(exercise).lines if line in text and line not in known
        ]
        for exercise in one.exercises
        if not exercise.manual
    }


def test_the_first_command_of_a_newcomer_makes_what_is_handed_out(done: Cycle) -> None:
    assert (done.generated / MEMORY / f"{MEMORY}.ipynb").is_file()
    committed = f"release/{MEMORY}/{MEMORY}.ipynb"
    assert (done.instructor.work / committed).read_bytes() == (ROOT / committed).read_bytes()


@pytest.mark.parametrize("slug", LESSONS)
def test_what_is_generated_is_the_lesson_of_today_and_nothing_hidden(
    done: Cycle, slug: str
) -> None:
    generated, committed = done.generated / slug, ROOT / "release" / slug
    assert {path.name for path in generated.iterdir()} == {p.name for p in committed.iterdir()}
    notebook = generated / f"{slug}.ipynb"
    assert sources(notebook) == sources(committed / f"{slug}.ipynb")
    assert leaks(lesson(slug).cells(), json.loads(notebook.read_text())) == ()


@pytest.mark.parametrize(("student", "slug"), SUBMISSIONS)
def test_what_a_learner_fetches_holds_no_solution_and_no_hidden_line(
    done: Cycle, student: str, slug: str
) -> None:
    fetched = json.loads(done.fetched(student, slug).read_text())
    assert leaks(lesson(slug).cells(), fetched) == ()


def test_released_is_the_source_of_this_moment_and_not_what_was_generated(done: Cycle) -> None:
    assert LATER not in sources(done.generated / GPU / f"{GPU}.ipynb")
    assert LATER in sources(done.fetched("bob", GPU))


@pytest.mark.parametrize(("student", "slug"), SUBMISSIONS)
def test_the_feedback_of_the_whole_cycle_holds_no_hidden_line(
    done: Cycle, student: str, slug: str
) -> None:
    found = hidden(student, lesson(slug), done.page(student, slug))
    assert [line for lines in found.values() for line in lines] == []


@pytest.mark.parametrize(("student", "slug"), SUBMISSIONS)
def test_the_notebook_that_it_is_made_from_holds_hidden_lines_of_every_exercise(
    done: Cycle, student: str, slug: str
) -> None:
    found = hidden(student, lesson(slug), done.autograded(student, slug))
    assert [name for name, lines in found.items() if not lines] == []


@pytest.mark.parametrize(("student", "slug"), [one for one in SUBMISSIONS if one != WRONG])
def test_the_points_come_back(done: Cycle, student: str, slug: str) -> None:
    points = sum(one.points for one in solved(slug)) + (1.5 if slug == MEMORY else 0)
    most = sum(one.points for one in lesson(slug).exercises)
    assert f"(Score: {points} / {most})" in done.page(student, slug)


def test_words_and_a_comment_by_hand_come_back_to_their_learner_alone(done: Cycle) -> None:
    hers, his = done.page("ada", MEMORY), done.page("bob", MEMORY)
    assert (WORDS in hers, COMMENT in hers) == (True, True)
    assert (WORDS in his, COMMENT in his) == (True, False)
