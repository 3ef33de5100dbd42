"""A browser and a JupyterLab for each file of tests; without Chromium its tests are skipped.

Both live as long as one file and no longer: while Playwright runs, `asyncio.run` does not work in
this process, and other tests need it.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:  # each file of tests skips itself where Playwright is missing
    from playwright.sync_api import Browser, Page

    from tests.browser.jupyter import Lab


def pytest_itemcollected(item: pytest.Item) -> None:
    """Say that a test needs Chromium before a JupyterLab is started for it."""
    if "browser" in getattr(item, "fixturenames", ()):
        item.add_marker(pytest.mark.needs("chromium"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium."""
    from playwright.sync_api import expect, sync_playwright

    from tests.browser.jupyter import WAIT_S, launch

    expect.set_options(timeout=1000 * WAIT_S)  # five seconds are little on a busy machine
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A learner's working copy of the class editions."""
    from tests.browser.jupyter import ROOT

    root = tmp_path_factory.mktemp("desk")
    return Path(shutil.copytree(ROOT / "release", root / "lab"))


@pytest.fixture(scope="module")
def server(desk: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """JupyterLab on that working copy, for all tests of a file."""
    from tests.browser.jupyter import serve

    with serve(desk, tmp_path_factory.mktemp("home")) as lab:
        yield lab


@pytest.fixture
def lab(server: Lab) -> Iterator[Lab]:
    """JupyterLab on that working copy, without a kernel of another test."""
    yield server
    server.end_kernels()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A fresh window."""
    from tests.browser.jupyter import window

    page = window(browser)
    yield page
    page.close()
