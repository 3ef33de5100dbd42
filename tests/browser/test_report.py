"""The report of several lessons: read in both themes and on a phone, sorted by its buttons."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="Playwright is missing (extra dev)")

from playwright.sync_api import Browser, Page, expect

from autograder.records.model import Status
from autograder.reporting.report import lesson_view, page_of
from tests.autograder.reporting.overview import graded, row, three_lessons
from tests.browser.contrast import faint_words

pytestmark = pytest.mark.exhaustive("the class report in a browser")

PHONE = {"width": 390, "height": 800}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A report with one of everything, as a file."""
    root = tmp_path_factory.mktemp("class")
    class_ = graded(
        three_lessons(root / "course"),
        ada=(6, 6, 1),
        bob=(2, None, 5.5),
        cleo=(3, row("cleo", 4, Status.CRASHED), row("cleo", 0, Status.TAMPERED)),
        dan=(0, 6, 6),
        **{"eve-with-a-very-long-name-" * 3: (None, None, None)},
    )
    views = [lesson_view(lesson, tuple(rows), {}) for lesson, rows in class_]
    links = {("ada", "04-lesson"): "ada.html"}
    path = Path(root / "index.html")
    path.write_text(page_of("spring", views, links), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def report(browser: Browser, address: str) -> Iterator[Page]:
    page = browser.new_page()
    page.goto(address)
    yield page
    page.close()


def names(report: Page) -> list[str]:
    """The learners in the order of the table, by their first word."""
    heads = report.locator(".sortable tbody th").all_inner_texts()
    return [text.replace("⚑", "").strip().split("-")[0] for text in heads]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_word_of_the_report_stands_out(report: Page, theme: str) -> None:
    report.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    assert faint_words(report, "main *") == []


def test_a_phone_scrolls_the_table_and_not_the_page(report: Page) -> None:
    report.set_viewport_size(PHONE)
    assert report.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    table = report.locator(".tall")
    assert table.evaluate("one => one.scrollWidth > one.clientWidth")
    learner = report.locator(".sortable tbody th").first
    edge = learner.evaluate("one => one.getBoundingClientRect().left")
    table.evaluate("one => one.scrollLeft = 150")
    moved = edge - learner.evaluate("one => one.getBoundingClientRect().left")
    assert 0 <= moved <= 2  # the space between two cells


def test_a_button_sorts_and_a_missing_value_stays_last(report: Page) -> None:
    by_mean = report.get_by_role("button", name="Sort by mean")
    by_mean.click()
    assert names(report) == ["Cleo", "Bob", "Dan", "Ada", "Eve"]
    expect(report.locator("th[aria-sort=ascending]")).to_contain_text("mean")
    by_mean.press("Enter")
    assert names(report) == ["Ada", "Dan", "Bob", "Cleo", "Eve"]
    report.get_by_role("button", name="Sort by trend").click()
    assert names(report)[0] == "Ada"
    report.get_by_role("button", name="Sort by learner").click()
    assert names(report) == ["Ada", "Bob", "Cleo", "Dan", "Eve"]


def test_a_number_leads_to_its_lesson(report: Page) -> None:
    report.get_by_role("navigation").get_by_role("link", name="09").click()
    expect(report.get_by_role("heading", name="09 · ")).to_be_in_viewport()
