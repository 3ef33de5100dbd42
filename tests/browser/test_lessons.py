"""Each lesson in JupyterLab, from top to bottom, with torch's own number of threads.

The class edition as it is handed out, and the self-study edition with its solutions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="Playwright is missing (extra dev)")

from playwright.sync_api import Browser, Locator, expect

from autograder.lessons.model import lesson_paths, read_lesson
from autograder.lessons.self_study import PROGRESS_ID, self_study_edition
from course.claims.prediction import prediction, predictions
from tests.browser.jupyter import ROOT, Lab, Notebook, wait_until, window
from tests.colab.notebooks import in_folder, solved

pytestmark = [pytest.mark.exhaustive("every lesson in a browser"), pytest.mark.each_lesson]

OPEN = {one.id for one in predictions()}  # of lines; what else is asked is a vote on a claim
LESSONS = sorted(path.parent.name for path in (ROOT / "release").glob("[0-9]*/*.ipynb"))


class Lesson(Notebook):
    """A lesson with all its cells run and its gaps open."""

    slug: str

    def cells(self, call: str) -> list[str]:
        """The ids of the code cells that contain this call."""
        return [id for id, source in self.code.items() if re.search(rf"\b{call}\(", source)]

    def unfolded(self, call: str) -> list[str]:
        """Those of them that a reader sees who has opened no deep dive; there are some."""
        found = [id for id in self.cells(call) if self.cell(id).is_visible()]
        assert found or not self.cells(call)
        return found

    def asked(self, id: str) -> list[str]:
        """What a cell asks with `predict`, in its order."""
        return re.findall(r'\bpredict\("([^"]+)"\)', self.code[id])

    @cached_property
    def code(self) -> dict[str, str]:
        """The source of each code cell, by its id."""
        path = ROOT / "release" / self.slug / f"{self.slug}.ipynb"
        cells = json.loads(path.read_text())["cells"]
        return {c["id"]: "".join(c["source"]) for c in cells if c["cell_type"] == "code"}


@pytest.fixture(scope="module", params=LESSONS)
def lesson(browser: Browser, server: Lab, request: pytest.FixtureRequest) -> Iterator[Lesson]:
    page = window(browser)
    lesson = Lesson.open(page, server, f"{request.param}/{request.param}.ipynb")
    lesson.slug = request.param
    lesson.run_all()
    yield lesson
    page.close()
    server.end_kernels()


def test_it_runs_through_while_its_gaps_are_open(lesson: Lesson) -> None:
    assert lesson.errors() == {}
    assert lesson.never_ran() == []


def test_its_pictures_are_drawn_and_say_what_they_show(lesson: Lesson) -> None:
    pictures = lesson.pictures()
    assert pictures
    assert [one for one in pictures if not one["width"] or len(one["alt"]) < 20] == []


def test_each_exercise_is_shown_as_not_attempted(lesson: Lesson) -> None:
    tables = [id for id in lesson.unfolded("Check") if id != "setup"]
    assert tables
    for id in tables:
        expect(lesson.output(id)).to_contain_text("not attempted yet")


def test_each_question_offers_its_answers(lesson: Lesson) -> None:
    for id in lesson.unfolded("predict"):
        offered = lesson.output(id).get_by_role("button").all_text_contents()
        assert offered == [text for name in lesson.asked(id) for text in answers(name)]


def test_a_click_on_an_answer_reveals_verdict_and_proof(lesson: Lesson) -> None:
    votes = [id for id in lesson.unfolded("predict") if not OPEN & {*lesson.asked(id)}]
    for id in votes[:1]:
        shown = lesson.output(id)
        shown.get_by_role("button", name="Outdated").click()
        answer = shown.get_by_role("status")
        expect(answer).to_contain_text("Run here, the code shows it:")
        expect(answer).to_contain_text("You predicted Outdated")


def test_a_guess_stands_beside_what_the_lines_do(lesson: Lesson) -> None:
    guesses = [id for id in lesson.unfolded("predict") if OPEN & {*lesson.asked(id)}]
    assert guesses
    for id in guesses[:1]:
        shown = lesson.output(id)
        for field in shown.get_by_role("textbox").all():
            field.fill("a guess")
        shown.get_by_role("button").first.click()
        answer = shown.get_by_role("status")
        expect(answer).to_contain_text("Your guess")
        expect(answer).to_contain_text(re.compile("What happened|What it printed"))
        expect(shown.get_by_role("button", name="Guess again")).to_be_visible()
        lesson.shoot(f"{lesson.slug}-{id}", id)


def test_each_widget_answers_to_its_sliders_and_choices(lesson: Lesson) -> None:
    for id in [id for id in lesson.unfolded("explore_[a-z]+") if id != "setup"]:
        shown = lesson.output(id)
        sliders, choices = shown.get_by_role("slider").all(), shown.get_by_role("combobox").all()
        controls = sliders[:3] or choices[:1]
        for control in controls:
            before = shown.evaluate(DRAWN)
            move(control)
            changed = f"([one, before]) => ({DRAWN})(one) !== before"
            wait_until(lesson.page, changed, [shown.element_handle(), before])
        lesson.shoot(f"{lesson.slug}-{id}", id)
        assert controls


@pytest.mark.parametrize("slug", LESSONS)
def test_with_its_solutions_the_self_study_edition_gives_all_points(
    slug: str, browser: Browser, lab: Lab, desk: Path
) -> None:
    lesson = read_lesson(lesson_paths(ROOT)[slug])
    (desk / "solved").mkdir(exist_ok=True)
    notebook = {**self_study_edition(lesson), "cells": solved(lesson)}
    path = in_folder(lesson, desk / "solved" / slug) / f"{slug}.ipynb"
    path.write_text(json.dumps(notebook))
    page = window(browser)
    opened = Notebook.open(page, lab, f"solved/{slug}/{slug}.ipynb")
    opened.run_all()
    assert opened.errors() == {}
    assert opened.never_ran() == []
    count = sum(not one.manual for one in lesson.exercises)
    expect(opened.output(PROGRESS_ID)).to_contain_text(f"{count} of {count} exercises complete")
    page.close()


def answers(name: str) -> list[str]:
    """The buttons below a question that nobody has answered yet."""
    if name not in OPEN:
        return ["True", "False", "It depends", "Outdated"]
    return [" ⏎ ".join(one.splitlines()) for one in prediction(name).choices] or ["Run it"]


# What a widget shows: its texts, its pictures, and what can be chosen.
DRAWN = """one => [...one.querySelectorAll('.widget-html, select')]
    .map(part => part.innerHTML).join()"""


def move(control: Locator) -> None:
    """One step of a slider, or another entry of a choice."""
    if control.get_attribute("role") == "slider":
        control.press("ArrowRight")
    else:
        control.select_option(index=2)
