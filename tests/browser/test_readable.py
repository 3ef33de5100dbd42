"""What the course shows can be read in both themes and used without a mouse."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("playwright.sync_api", reason="Playwright is missing (extra dev)")

from playwright.sync_api import Browser, Locator, expect

from tests.browser.contrast import faint_words
from tests.browser.explorers import imports
from tests.browser.jupyter import ROOT, Notebook, serve, window, write_notebook

pytestmark = pytest.mark.exhaustive("colours and keyboard in a browser")

WRONG = "def byte_offset(t, index):\n    return t.element_size() * t.storage_offset()\n"
CELLS = f"""
from course import *
from course.progress.start_page import lessons
{imports("explore_strides", "explore_loader")}
%%
lessons({str(ROOT / "release")!r})
%%
predict("reshape-always-copies")
%%
predict("reshape-always-copies").reveal("true")
%%
explore_strides()
%%
explore_loader()
%%
import torch
def flatten(x):
    return x.contiguous().view(-1)
flat = answer("flatten")
check = Check("flatten")
seen = flat(torch.arange(12.0).view(3, 4)[:, ::2])
check.equal(seen.result, torch.zeros(6))
check.shares_storage(seen.result, seen.args[0])
check.runs(seen)
check.score(4)
%%
def flatten(x):
    raise NotImplementedError()
import torch
flat = answer("flatten")
check = Check("flatten")
check.runs(flat(torch.arange(12.0)))
check.score(4)
"""


@pytest.fixture(scope="module", params=["light", "dark"])
def shown(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Notebook]:
    """A notebook with one of everything that the course shows, in one theme."""
    root = tmp_path_factory.mktemp("desk")
    cells = {f"cell-{n}": text.strip() for n, text in enumerate(CELLS.split("%%"))}
    write_notebook(root / "all.ipynb", cells)
    with serve(root, tmp_path_factory.mktemp("home"), dark=request.param == "dark") as lab:
        page = window(browser)
        page.set_viewport_size({"width": 1280, "height": 4000})
        shown = Notebook.open(page, lab, "all.ipynb")
        shown.run_all()
        page.wait_for_timeout(3000)
        shown.shoot(f"everything-{request.param}")
        yield shown
        page.close()


def test_every_word_stands_out_from_its_ground(shown: Notebook) -> None:
    assert faint_words(shown.page, ".jp-OutputArea-output *") == []


def test_a_question_is_answered_from_the_keyboard(shown: Notebook) -> None:
    question = shown.output(shown.ids()[2])
    tab_to(shown, question.get_by_role("button", name="False"))
    shown.page.keyboard.press("Enter")
    expect(question.get_by_role("status")).to_contain_text("✓ You predicted False")


def test_a_slider_is_moved_from_the_keyboard(shown: Notebook) -> None:
    loader = shown.output(shown.ids()[5])
    tab_to(shown, loader.get_by_role("slider").nth(2))
    shown.page.keyboard.press("ArrowRight")
    expect(loader).to_contain_text("3 workers, prefetch_factor 2.")


def test_a_step_is_taken_from_the_keyboard(shown: Notebook) -> None:
    strides = shown.output(shown.ids()[4])
    tab_to(shown, strides.get_by_role("button", name="Apply step"))
    shown.page.keyboard.press("Enter")
    expect(strides).to_contain_text("b = a.t()")


def tab_to(shown: Notebook, control: Locator) -> None:
    """Press Tab, from the cell that holds the control, until the control has the focus."""
    control.locator("xpath=ancestor::*[contains(@class,'jp-CodeCell')]").locator(
        ".jp-InputPrompt"
    ).click()
    for _ in range(40):
        shown.page.keyboard.press("Tab")
        if control.evaluate("one => one === document.activeElement"):
            return
    raise AssertionError("forty presses of Tab do not reach the control")
