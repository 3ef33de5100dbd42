"""Makes the pictures of the README, all of them real: `python -m docs.pictures` (needs Chromium).

A lesson in JupyterLab with its stride explorer; the table that a wrong answer to exercise "flatten"
gets there; the report of a simulated class over three lessons.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.browser.jupyter import ROOT, Notebook, launch, serve

HERE = Path(__file__).parent
LESSON = "04-memory-layout/04-memory-layout.ipynb"
WRONG = "def flatten(x):\n    return x.contiguous().view(-1)\n"
SIZE = {"width": 1100, "height": 800}
MOST_NBYTES = 200_000


def main() -> None:
    """Write docs/lesson.png, docs/check-table.png and docs/report.png."""
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        browser = launch(playwright)
        draw_lesson(browser, Path(name))
        draw_report(browser, Path(name))
        browser.close()
    for picture in ("lesson", "check-table", "report"):
        refuse_large(HERE / f"{picture}.png")


def draw_lesson(browser: Browser, folder: Path) -> None:
    """The explorer after a transpose, and the check table below a wrong answer."""
    home = folder / "home"
    home.mkdir()
    desk = Path(shutil.copytree(ROOT / "release", folder / "lab"))
    page = browser.new_page(viewport=SIZE)
    with serve(desk, home) as lab:
        lesson = Notebook.open(page, lab, LESSON)
        page.keyboard.press("Control+b")  # folds the list of files
        lesson.run("setup")
        lesson.run("explore")
        explorer = lesson.output("explore")
        explorer.get_by_role("button", name="Apply step").click()
        explorer.get_by_text("b = a.t()").wait_for()
        lesson.cell("explore").evaluate("one => one.scrollIntoView(true)")
        page.wait_for_timeout(500)
        page.screenshot(path=HERE / "lesson.png")
        lesson.type("flatten", WRONG)
        lesson.run("flatten")
        lesson.run("test-flatten")
        page.set_viewport_size({"width": 1100, "height": 2000})
        table = lesson.output("test-flatten").locator(".pm-checks")
        table.locator("img").wait_for()
        table.screenshot(path=HERE / "check-table.png")
    page.close()


def draw_report(browser: Browser, folder: Path) -> None:
    """The top of the report of a simulated class."""
    course = str(folder / "spring")
    chosen = ("--students", "8", "--lessons", "01", "04", "09", "--seed", "1")
    autograder("simulate", *chosen, "--out", course)
    autograder("grade", "--course", course)
    autograder("report", "--course", course)
    page = browser.new_page(viewport=SIZE)
    page.goto((folder / "spring/report/index.html").as_uri())
    page.screenshot(path=HERE / "report.png")
    page.close()


def autograder(*words: str) -> None:
    """Run one of the grader's commands."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = [sys.executable, "-m", "autograder", *words]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "PATH": path}, check=True)


def refuse_large(path: Path) -> None:
    """Stop where a picture would weigh too much in the repository."""
    if path.stat().st_size > MOST_NBYTES:
        raise SystemExit(f"{path} has more than {MOST_NBYTES} bytes; show less in it.")


if __name__ == "__main__":
    main()
