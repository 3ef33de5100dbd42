"""Formgrader on a class that the engine graded: read, commented, scored by hand, graded again."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="Playwright is missing (extra dev)")

from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.jupyter import ROOT, Lab, made, shoot, window

pytestmark = pytest.mark.exhaustive("formgrader in a browser")

SLUG = "04-memory-layout"
WRITTEN = "why-this-copies"  # the question in words, which a person grades
COMMENT = "The positions are right. Which number breaks the merge rule?"


def autograder(*words: str) -> None:
    """Run one of the grader's commands as an instructor would."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = [sys.executable, "-m", "autograder", *words]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "PATH": path}, check=True)


@pytest.fixture(scope="module")
def formgrader(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """An instructor's JupyterLab on a small class whose submissions are graded."""
    root, home = tmp_path_factory.mktemp("class") / "course", tmp_path_factory.mktemp("home")
    autograder("simulate", "--students", "3", "--lessons", "04", "--seed", "4", "--out", str(root))
    autograder("grade", "--course", str(root))
    with made("formgrader", tmp_path_factory.mktemp("clone"), home, root) as lab:
        yield lab


@pytest.fixture
def page(browser: Browser, formgrader: Lab) -> Iterator[Page]:
    """A window in which the instructor has logged in."""
    page = window(browser)
    page.goto(formgrader.address())
    page.get_by_role("menuitem", name="Nbgrader", exact=True).wait_for()
    yield page
    page.close()


def weakest(page: Page, lab: Lab) -> None:
    """Open the submission with the lowest score in formgrader."""
    page.goto(f"{lab.url}/formgrader/gradebook/{SLUG}/{SLUG}/")
    page.wait_for_load_state("networkidle")
    page.get_by_text("Overall Score").click()  # sorts by it, lowest first
    page.get_by_role("link", name="Submission #").first.click()
    wait_until_it_saves(page)


def wait_until_it_saves(page: Page) -> None:
    """Until formgrader has fetched points and comments: before that it drops what is typed."""
    page.wait_for_function(
        "typeof formgrader !== 'undefined'"
        " && formgrader.grades?.loaded && formgrader.comments?.loaded"
    )


def test_the_lessons_are_listed_with_points(page: Page) -> None:
    page.get_by_role("menuitem", name="Nbgrader", exact=True).click()
    page.get_by_role("menuitem", name="Formgrader", exact=True).click()
    frame = page.frame_locator("iframe")
    frame.get_by_role("link", name="Manual Grading").click()
    frame.get_by_role("link", name=SLUG).click()
    row = frame.get_by_role("row", name=SLUG)
    expect(row).to_contain_text("/ 39")
    expect(row).to_contain_text("/ 3")
    shoot(page, "formgrader-lesson")


def test_a_submission_shows_its_check_tables(page: Page, formgrader: Lab) -> None:
    weakest(page, formgrader)
    tables = page.get_by_role("table", name="Checks of")
    expect(tables).to_have_count(10)
    failed = page.get_by_role("cell", name="does not hold").first
    failed.scroll_into_view_if_needed()
    expect(failed).to_have_text("✗")
    expect(page.get_by_text("checks hold").first).to_be_visible()
    shoot(page, "formgrader-check-table")


def test_a_score_and_a_comment_by_hand_outlive_a_regrade(page: Page, formgrader: Lab) -> None:
    weakest(page, formgrader)
    submission = page.url
    fill(page, page.locator(f"input#{WRITTEN}"), "1.5")
    fill(page, page.locator(f"textarea#{WRITTEN}-comment"), COMMENT)
    autograder("grade", "--course", str(formgrader.root), "--regrade")
    page.goto(submission)
    score = page.locator(f"input#{WRITTEN}")
    expect(score).to_have_value("1.5")
    expect(page.locator(f"textarea#{WRITTEN}-comment")).to_have_value(COMMENT)
    score.scroll_into_view_if_needed()
    shoot(page, "formgrader-by-hand")


def fill(page: Page, field: Locator, text: str) -> None:
    """Type into a field of formgrader, and leave it: that saves."""
    with page.expect_response(lambda answer: answer.request.method == "PUT" and answer.ok):
        field.fill(text)
        field.press("Tab")


@pytest.mark.needs("sandbox")
def test_the_autograde_button_grades_with_the_engine(page: Page, formgrader: Lab) -> None:
    page.goto(f"{formgrader.url}/formgrader/manage_submissions/{SLUG}")
    row = page.get_by_role("row", name="student-002")
    row.locator(".autograde a").click()
    told = page.locator(".modal.in, .modal.show")
    expect(told).to_contain_text("by the grading engine", timeout=120_000)
    shoot(page, "formgrader-autograde")
