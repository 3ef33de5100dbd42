"""`make lab` as a learner has it: it opens on the start page, which knows how far they are."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="Playwright is missing (extra dev)")

from playwright.sync_api import Browser, Locator, Page, expect

from course.claims import claim
from course.claims.quiz_words import LABELS
from course.guide import cards
from course.guide.placement_quiz import ASKED
from course.progress.progress_file import FILE_NAME
from tests.browser.jupyter import ROOT, Lab, Notebook, made

pytestmark = pytest.mark.exhaustive("the start page in a browser")

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


def drawn(picture: Locator) -> bool:
    """Whether an image is on the page in a size that can be read."""
    return bool(picture.evaluate("one => one.complete && one.naturalWidth >= 300"))


def test_the_map_is_there_before_anything_was_run_and_is_narrow_on_a_phone(
    page: Page, opened: Lab
) -> None:
    page.goto(opened.address())
    start = Notebook(page)
    picture = page.get_by_role("img", name="A map of the")
    picture.scroll_into_view_if_needed()
    assert drawn(picture)
    wide = picture.evaluate("one => one.naturalWidth")
    start.run("map")  # what a page brings that nobody has run, JupyterLab shows in part
    page.set_viewport_size({"width": 500, "height": 900})
    page.wait_for_function(
        f"document.querySelector('img[alt^=\"A map\"]').naturalWidth < {wide / 2}"
    )
    page.set_viewport_size({"width": 1280, "height": 900})
    page.get_by_text("The map in words").click()
    for card in cards():
        expect(page.get_by_text(f"{card.number} {card.name}, {card.minutes} min")).to_be_visible()


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


def alive(start: Notebook, id: str) -> Locator:
    """The widget below a cell; the page of its last state lies hidden behind it."""
    return start.output(id).locator(".pm-alive")


def buttons(start: Notebook, id: str) -> Locator:
    """The four buttons of a claim of the quiz, by their labels."""
    at = list(ASKED).index(id)
    return alive(start, "placement").locator(".widget-hbox").nth(at).get_by_role("button")


def test_the_quiz_says_where_to_begin_and_a_new_kernel_still_knows(page: Page, opened: Lab) -> None:
    page.goto(opened.address())
    start = Notebook(page)
    start.run("placement")
    quiz = alive(start, "placement")
    expect(quiz.get_by_text("12 still open")).to_be_visible()
    for id in ASKED:
        verdict = claim(id).verdict
        wrong = "false" if verdict != "false" else "true"
        choice = wrong if claim(id).lesson == SLUG else verdict
        buttons(start, id).filter(has_text=re.compile(f"^{LABELS[choice]}$")).click()
        buttons(start, id).filter(has_text="✓").wait_for()
    expect(quiz.get_by_text("11 of 12 right. All are answered.")).to_be_visible()
    expect(quiz.get_by_text("Begin with 04 Memory layout.")).to_have_count(2)
    start.shoot("start-page-placement", "placement")
    page.wait_for_timeout(1000)
    start.save()
    opened.end_kernels()
    page.goto("about:blank")
    page.goto(opened.address())
    again = Notebook(page)  # another kernel: the page of the last state, then the widget anew
    kept = again.output("placement").locator("[data-pm-last]")
    expect(kept.get_by_text("Begin with 04 Memory layout.").first).to_be_visible(timeout=30_000)
    again.run("lessons")  # so that the next cell's number is another than the saved one
    again.run("placement")
    expect(alive(again, "placement").get_by_text("Begin with 04 Memory")).to_have_count(2)
    assert again.errors() == {}


def choose(page: Page, panel: Locator, path: Path) -> None:
    """Load a file, as one would with the browser's own window."""
    with page.expect_file_chooser() as chooser:
        panel.get_by_role("button", name="Load a file").click()
    chooser.value.set_files(path)


def test_progress_is_saved_taken_along_and_loaded(page: Page, opened: Lab, tmp_path: Path) -> None:
    page.goto(opened.address())
    start = Notebook(page)
    start.run("carry")
    panel = alive(start, "carry")
    panel.get_by_role("button", name="Save my progress").click()
    panel.get_by_text(f"Saved in {FILE_NAME}").wait_for()
    with page.expect_download() as download:
        panel.get_by_role("link", name=f"Download {FILE_NAME}").click()
    taken = tmp_path / "taken.json"
    download.value.save_as(taken)
    assert taken.read_bytes() == (opened.root / FILE_NAME).read_bytes()
    kept = json.loads(taken.read_text())
    name = cards()[0].exercises[0]
    kept.setdefault("checks", {})[cards()[0].slug] = {name: {"held": 4, "of": 4}}
    taken.write_text(json.dumps(kept))
    choose(page, panel, taken)
    expect(panel.get_by_text("taken.json: ")).to_contain_text("1 of them further than here")
    expect(panel.get_by_text("1 solved (1 from the progress file)")).to_be_visible()
    start.shoot("start-page-loaded", "carry")
    foreign = tmp_path / "foreign.json"
    foreign.write_text('{"cells": []}')
    before = (opened.root / FILE_NAME).read_bytes()
    choose(page, panel, foreign)
    expect(panel.get_by_text("foreign.json is JSON, but not your progress")).to_be_visible()
    assert (opened.root / FILE_NAME).read_bytes() == before
    start.run("lessons")
    row = start.output("lessons").get_by_role("row", name=cards()[0].title)
    expect(row).to_contain_text("1 solved (1 from the progress file)")


def test_the_committed_lessons_are_never_dirtied(opened: Lab) -> None:
    assert files(opened.root.parent / "release") == files(ROOT / "release")
    assert (opened.root / SLUG / f"{SLUG}.ipynb").is_file()
