"""Questions and explorers in a notebook that was saved, closed, and opened with a new kernel."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="Playwright is missing (extra dev)")

from playwright.sync_api import Browser, expect

from tests.browser.explorers import imports
from tests.browser.jupyter import Lab, Notebook, window, write_notebook

pytestmark = pytest.mark.exhaustive("a notebook that is opened again")

EXPLORERS = {id: f"explore_{id}" for id in ("strides", "loader", "graph", "index")}
CELLS = {
    "import": "from course import predict, quiz\n" + imports(*EXPLORERS.values()),
    "asked": 'predict("reshape-always-copies")',
    "unasked": 'predict("contiguous-always-copies")',
    "typed": 'predict("grid-transposed")',
    "picked": 'predict("two-writes-through-reshape")',
    "quiz": 'quiz("contiguous-always-copies", "pin-memory-decides-who-copies")',
    **{id: f"{name}()" for id, name in EXPLORERS.items()},
}
SHOWN = [id for id in CELLS if id != "import"]


@pytest.fixture(scope="module")
def page_path(desk: Path) -> str:
    write_notebook(desk / "restart.ipynb", CELLS)
    return "restart.ipynb"


@pytest.fixture(scope="module")
def reopened(browser: Browser, server: Lab, page_path: str) -> Iterator[Notebook]:
    """The notebook: answered and moved, saved, its kernel ended, and opened again."""
    page = window(browser)
    book = Notebook.open(page, server, page_path)
    book.run_all()
    book.output("asked").get_by_role("button", name="Outdated").click()
    said = book.output("asked").get_by_role("status").first
    expect(said).to_contain_text("Run here, the code shows it")
    book.output("typed").get_by_role("textbox", name="Your guess:").fill("(2, 1) True")
    book.output("typed").get_by_role("button", name="Run it").click()
    expect(book.output("typed").get_by_role("status").first).to_contain_text("What it printed")
    slider = book.output("loader").get_by_role("slider", name="Load a batch, ms:")
    slider.press("ArrowRight")
    page.wait_for_timeout(1000)
    book.shoot("restart-before")
    book.save()
    page.close()
    server.end_kernels()
    page = window(browser)
    book = Notebook.open(page, server, page_path)
    page.wait_for_timeout(4000)  # JupyterLab looks two seconds for a widget before it gives up
    yield book
    page.close()
    server.end_kernels()


@pytest.mark.parametrize("id", SHOWN)
def test_no_cell_shows_an_error_in_place_of_its_widget(reopened: Notebook, id: str) -> None:
    reopened.shoot(f"restart-{id}", id)
    gone = reopened.output(id).get_by_text("Error displaying widget")
    assert [one for one in gone.all() if one.is_visible()] == []
    assert len(reopened.output(id).inner_text()) > 40


def test_an_answered_question_still_shows_the_answer(reopened: Notebook) -> None:
    expect(reopened.output("asked")).to_contain_text("✗ You predicted Outdated")


def test_a_typed_guess_still_stands_beside_what_was_printed(reopened: Notebook) -> None:
    page = reopened.output("typed")
    expect(page.get_by_text("(2, 1) True").locator("visible=true").first).to_be_visible()
    expect(page.get_by_text("(1, 3) False").locator("visible=true").first).to_be_visible()
    expect(page).to_contain_text("Those would be the strides of a new tensor")


def test_an_open_question_still_asks(reopened: Notebook) -> None:
    expect(reopened.output("unasked").get_by_text("Show the right answer")).to_be_visible()
    expect(reopened.output("picked").get_by_text("Show what happens")).to_be_visible()


@pytest.mark.parametrize("id", EXPLORERS)
def test_an_explorer_still_shows_its_pictures(reopened: Notebook, id: str) -> None:
    pictures = reopened.output(id).locator("img:visible")
    assert pictures.count() > 0


def test_run_again_the_widget_is_back_and_knows_the_answer(reopened: Notebook) -> None:
    reopened.run_all()
    wrong = reopened.output("asked").get_by_role("button", name="✗ Outdated (your answer)")
    expect(wrong).to_be_visible()
    expect(reopened.output("asked").get_by_text("✗ You predicted Outdated")).to_have_count(2)
    visible = reopened.output("asked").locator("text=✗ You predicted Outdated >> visible=true")
    expect(visible).to_have_count(1)
