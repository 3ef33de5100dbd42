"""One exercise as a learner meets it: hints, a wrong answer, a right one, nbgrader's Validate."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

pytest.importorskip("playwright.sync_api", reason="Playwright is missing (extra dev)")

from playwright.sync_api import Browser, expect

from tests.browser.jupyter import Lab, Notebook, window

pytestmark = pytest.mark.exhaustive("pages in a browser")

SLUG = "04-memory-layout"
WRONG = "def byte_offset(t, index):\n    return t.element_size() * t.storage_offset()\n"
RIGHT = """\
def byte_offset(t, index):
    steps = zip(index, t.stride(), t.shape, strict=True)
    position = t.storage_offset() + sum(range(size)[i] * step for i, step, size in steps)
    return position * t.element_size()
"""


@pytest.fixture(scope="module")
def lesson(browser: Browser, server: Lab) -> Iterator[Notebook]:
    """Lesson 04 with its set-up cell run."""
    page = window(browser)
    lesson = Notebook.open(page, server, f"{SLUG}/{SLUG}.ipynb")
    lesson.run("setup")
    yield lesson
    page.close()
    server.end_kernels()


def test_checks_and_deep_dives_lie_folded(lesson: Notebook) -> None:
    expect(lesson.cell("test-row-major").locator(".cm-content")).to_be_hidden()
    expect(lesson.cell("row-major").locator(".cm-content")).to_be_visible()
    expect(lesson.cell("test-folk-rules")).to_be_hidden()


def test_a_hint_unfolds(lesson: Notebook) -> None:
    hint = lesson.cell("byte-offset-hint-1")
    words = hint.locator(".jp-RenderedMarkdown").get_by_text("t.storage_offset()")
    expect(words).to_be_hidden()
    hint.locator("summary").click()
    expect(words).to_be_visible()


def test_a_wrong_answer_fails_with_yours_beside_the_expected(lesson: Notebook) -> None:
    lesson.type("byte-offset", WRONG)
    lesson.run("byte-offset")
    lesson.run("test-byte-offset")
    lesson.shoot("check-table-failed", "test-byte-offset")
    table = lesson.output("test-byte-offset")
    expect(table).to_contain_text("visible checks hold")
    expect(table.get_by_role("cell", name="does not hold").first).to_have_text("✗")
    expect(table).to_contain_text("yours:")
    expect(table).to_contain_text("expected:")


def test_a_right_answer_holds_and_gets_all_points(lesson: Notebook) -> None:
    lesson.type("byte-offset", RIGHT)
    lesson.run("byte-offset")
    lesson.run("test-byte-offset")
    lesson.shoot("check-table-held", "test-byte-offset")
    table = lesson.output("test-byte-offset")
    expect(table).to_contain_text(re.compile(r"byte-offset: (\d+) of \1 visible checks hold"))
    expect(table).not_to_contain_text("points")
    expect(table.get_by_role("cell", name="does not hold")).to_have_count(0)


def test_validate_names_what_does_not_hold(lesson: Notebook) -> None:
    lesson.type("byte-offset", RIGHT)
    lesson.save()
    lesson.page.get_by_role("button", name="Validate").click()
    dialog = lesson.page.get_by_role("dialog")
    expect(dialog).to_contain_text("The following cell failed", timeout=90_000)
    lesson.shoot("validate")
    expect(dialog).to_contain_text('Check("row-major")')
    expect(dialog).to_contain_text("row-major: not attempted yet.")
    expect(dialog).not_to_contain_text("Partial credit")
    expect(dialog).not_to_contain_text('Check("byte-offset")')
    dialog.get_by_role("button", name="Ok").click()
