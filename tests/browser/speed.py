"""How long a learner waits: `python -m tests.browser.speed [SLUG …]` prints seconds a lesson.

*opened*: from the address to an idle kernel; *first result*: from Run All Cells to the first output
on the page; *all*: to the last cell. This is a measurement and no test: it depends on the machine.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.browser.jupyter import ROOT, Notebook, launch, serve, window


def main(chosen: list[str]) -> None:
    """Print a line for each lesson, each in a fresh kernel and a fresh window."""
    slugs = chosen or sorted(path.parent.name for path in (ROOT / "release").glob("[0-9]*/*.ipynb"))
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        home = Path(name, "home")
        home.mkdir()
        desk = Path(shutil.copytree(ROOT / "release", Path(name, "lab")))
        browser = launch(playwright)
        print(f"{'lesson':<20} {'opened':>8} {'first result':>14} {'all':>8}   seconds")
        with serve(desk, home) as lab:
            for slug in slugs:
                page, start = window(browser), time.perf_counter()
                notebook = Notebook.open(page, lab, f"{slug}/{slug}.ipynb")
                opened = time.perf_counter()
                notebook.start_all()
                first = time.perf_counter()
                notebook.wait()
                times = (opened - start, first - opened, time.perf_counter() - opened)
                print(f"{slug:<20} {times[0]:8.1f} {times[1]:14.1f} {times[2]:8.1f}", flush=True)
                page.close()
                lab.end_kernels()
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
