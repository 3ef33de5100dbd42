"""`make lab` as a learner has it: it opens on the start page, which knows how far they are."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="Playwright is missing (extra dev)")

from playwright.sync_api import Browser, Page, expect

from tests.browser.jupyter import ROOT, Lab, Notebook, made

SLUG = "04-memory-layout"
RIGHT = """\
def dense_rows(x):
    given = x.dim() == 0 or x.numel() == 0 or x.shape[-1] == 1 or x.stride(-1) == 1
    return x if given else x.contiguous()
"""


@pytest.fixture(scope="module")
def opened(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """What `make lab` starts; without a browser there is nothing to start it for."""
    clone = tmp_path_factory.mktemp("clone")
    shutil.copytree(ROOT / "release", clone / "release")
    with made("lab", clone, tmp_path_factory.mktemp("home"), clone / "lab") as lab:
        yield lab


def files(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    found = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def test_jupyterlab_opens_on_the_start_page_with_every_lesson(page: Page, opened: Lab) -> None:
    page.goto(opened.address())
    table = page.locator(".jp-OutputArea-output table")
    expect(table).to_be_visible(timeout=60_000)
    lessons = [path.name for path in (ROOT / "release").glob("[0-9]*") if path.is_dir()]
    expect(table.get_by_text("not started")).to_have_count(len(lessons))
    Notebook(page).shoot("start-page")


def test_a_lesson_opens_from_the_start_page_and_reports_back(page: Page, opened: Lab) -> None:
    page.goto(opened.address())
    page.get_by_role("link", name="04 Memory layout").click()
    page.get_by_role("tab", name=f"{SLUG}.ipynb").wait_for()
    lesson = Notebook(page)
    lesson.run("setup")
    for id in ("row-major", "test-row-major", "dense-rows", "test-dense-rows"):
        if id == "dense-rows":
            lesson.type(id, RIGHT)
        lesson.run(id)
    lesson.save()
    page.goto(opened.address())
    start = Notebook(page)
    start.run("lessons")
    start.shoot("start-page-attempted")
    row = start.output("lessons").get_by_role("row", name="04 Memory layout")
    expect(row).to_contain_text("exercises attempted, 1 solved")
    expect(row.get_by_role("cell").last).to_have_text(re.compile(r"(\d+) of \1 tried"))


def test_the_committed_lessons_are_never_dirtied(opened: Lab) -> None:
    assert files(opened.root.parent / "release") == files(ROOT / "release")
    assert (opened.root / SLUG / f"{SLUG}.ipynb").is_file()
