"""The small site, once for all workers, and a browser for each file of tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser


def pytest_itemcollected(item: pytest.Item) -> None:
    """Say that a test needs Chromium before the site is built for it."""
    if "browser" in getattr(item, "fixturenames", ()):
        item.add_marker(pytest.mark.needs("chromium"))


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The finished site of one lesson."""
    from tests.docs.site_build import small_site

    base = tmp_path_factory.getbasetemp()
    return small_site(base if worker_id == "master" else base.parent)


@pytest.fixture(scope="module")
def browser(site: Path) -> Iterator[Browser]:
    """Chromium, started when the site is there: while it runs, nothing else can be awaited."""
    from playwright.sync_api import sync_playwright

    from tests.browser.jupyter import launch

    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()
