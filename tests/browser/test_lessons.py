"""Each lesson, opened in JupyterLab and run from top to bottom as it is handed out."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cached_property

import pytest

pytest.importorskip("playwright.sync_api", reason="Playwright is missing (extra dev)")

from playwright.sync_api import Browser, Locator, expect

from tests.browser.jupyter import ROOT, Lab, Notebook, window

pytestmark = pytest.mark.exhaustive("every lesson in a browser")

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


def test_each_question_offers_four_answers(lesson: Lesson) -> None:
    for id in lesson.unfolded("predict"):
        offered = lesson.output(id).get_by_role("button").all_text_contents()
        questions = lesson.code[id].count("predict(")
        assert offered == ["True", "False", "It depends", "Outdated"] * questions


def test_a_click_on_an_answer_reveals_verdict_and_proof(lesson: Lesson) -> None:
    for id in lesson.unfolded("predict")[:1]:  # a project has none
        shown = lesson.output(id)
        shown.get_by_role("button", name="Outdated").click()
        answer = shown.get_by_role("status")
        expect(answer).to_contain_text("Run here, the code shows it:")
        expect(answer).to_contain_text("You predicted Outdated")


def test_each_widget_answers_to_its_sliders_and_choices(lesson: Lesson) -> None:
    for id in [id for id in lesson.unfolded("explore_[a-z]+") if id != "setup"]:
        shown = lesson.output(id)
        sliders, choices = shown.get_by_role("slider").all(), shown.get_by_role("combobox").all()
        controls = sliders[:3] or choices[:1]
        for control in controls:
            before = shown.evaluate(DRAWN)
            move(control)
            changed = f"([one, before]) => ({DRAWN})(one) !== before"
            lesson.page.wait_for_function(changed, arg=[shown.element_handle(), before])
        lesson.shoot(f"{lesson.slug}-{id}", id)
        assert controls


# What a widget shows: its texts, its pictures, and what can be chosen.
DRAWN = """one => [...one.querySelectorAll('.widget-html, select')]
    .map(part => part.innerHTML).join()"""


def move(control: Locator) -> None:
    """One step of a slider, or another entry of a choice."""
    if control.get_attribute("role") == "slider":
        control.press("ArrowRight")
    else:
        control.select_option(index=2)
