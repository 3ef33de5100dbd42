"""The script that gives sliders and a player's buttons their names, on a page of its own."""

from __future__ import annotations

import pytest

pytest.importorskip("playwright.sync_api", reason="Playwright is missing (extra dev)")

from playwright.sync_api import Browser, expect

from course.widgets.last_state import _NAMING

# A folded cell's widget is made beside the page, and its image fails there. No clock runs here.
MADE = """async naming => {
    window.timers = 0;
    window.setTimeout = () => ++timers;
    box = document.createElement('div');
    box.innerHTML = `<div class="widget-slider"><b class="widget-label">ms</b>
        <i role="slider"></i></div><div class="widget-play"><button><i class="fa fa-stop"></i>
        </button></div>${naming}`;
    await new Promise(failed => box.querySelector('img').addEventListener('error', failed));
}"""


def test_a_slider_gets_its_name_when_its_folded_cell_comes_onto_the_page(browser: Browser) -> None:
    page = browser.new_page()
    page.evaluate(MADE, _NAMING)
    page.evaluate("() => { box.className = 'pm-alive'; document.body.append(box); }")
    expect(page.get_by_role("slider", name="ms", exact=True)).to_have_count(1)
    expect(page.get_by_role("button", name="Stop", exact=True)).to_have_attribute("title", "Stop")
    expect(page.locator("img")).to_have_count(0)
    assert page.evaluate("timers") == 0
    page.close()
