"""Explorers and answers at 200 %: nothing is cut off, and only a picture moves sideways."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright.sync_api", reason="Playwright is missing (extra dev)")

from playwright.sync_api import Browser

from tests.browser.explorers import HOMES, imports
from tests.browser.jupyter import Lab, Notebook, window, write_notebook

pytestmark = pytest.mark.exhaustive("explorers at 200 %")

CALLS = {
    "explore_checkpoints": "before, {**before, 'betas': torch.full((1, 6), 0.000388)}",
    "explore_memory": "recorder.timeline",
    "explore_modules": "torch.nn.Linear(2, 1), torch.ones(3, 2)",
    "explore_walk": "torch.ones(3, 4), names=['grid']",
}
EXPLORERS = sorted(HOMES)
# The room that a list needs is that of its longest entry, which the browser knows best.
NEEDED = """select => {
    const free = select.parentElement.appendChild(select.cloneNode(true));
    free.style.cssText = 'position: absolute; width: max-content; visibility: hidden';
    const needed = free.offsetWidth;
    free.remove();
    return [select.offsetWidth, needed];
}"""


# The words of some code that go on in the next line, and how many words there are.
BROKEN = """code => {
    const text = code.firstChild, part = document.createRange();
    const words = [...text.data.matchAll(/[a-z_]+/gi)];
    const broken = words.filter(word => {
        part.setStart(text, word.index);
        part.setEnd(text, word.index + word[0].length);
        return part.getClientRects().length > 1;
    });
    return [broken.map(word => word[0]), words.length];
}"""
ASKED = "predict('make-the-folder-then-flush').reveal('true')"


@pytest.fixture(scope="module")
def enlarged(browser: Browser, server: Lab, desk: Path) -> Iterator[Notebook]:
    """A notebook with every explorer, in a window of 1400 pixels at 200 %."""
    start = f"""import torch
from course import gpu, predict
{imports(*EXPLORERS)}
with gpu.Recorder() as recorder:
    torch.ones(2**20, device=gpu.device())
adam = torch.optim.Adam(torch.nn.Linear(2, 1).parameters())
before = {{'optimizer': adam.state_dict(), 'betas': torch.zeros(1, 6)}}"""
    sources = {name: f"{name}({CALLS.get(name, '')})" for name in EXPLORERS}
    write_notebook(desk / "zoom.ipynb", {"import": start, **sources, "asked": ASKED})
    page = window(browser)
    page.set_viewport_size({"width": 700, "height": 1600})
    enlarged = Notebook.open(page, server, "zoom.ipynb")
    page.keyboard.press("Control+b")  # without the list of files
    enlarged.run_all()
    page.wait_for_timeout(2000)
    yield enlarged
    page.close()
    server.end_kernels()


@pytest.mark.parametrize("name", EXPLORERS)
def test_words_and_controls_fit_into_the_cell(enlarged: Notebook, name: str) -> None:
    enlarged.shoot(f"enlarged-{name}", name)
    assert enlarged.errors() == {}
    boxes = enlarged.output(name).locator(".widget-vbox:visible").all()
    assert len(boxes) > 1
    for box in boxes:
        width, room = box.evaluate("one => [one.scrollWidth, one.clientWidth]")
        assert 300 < room == width


@pytest.mark.parametrize("name", EXPLORERS)
def test_a_list_shows_each_of_its_entries_whole(enlarged: Notebook, name: str) -> None:
    for one in enlarged.output(name).locator("select:visible").all():
        width, needed = one.evaluate(NEEDED)
        assert width >= needed > 20, one.inner_text()


def test_code_of_an_answer_goes_on_between_words(enlarged: Notebook) -> None:
    enlarged.shoot("enlarged-asked", "asked")
    asked = enlarged.output("asked")
    asked.locator("details").evaluate_all("all => all.forEach(one => one.open = true)")
    code = asked.locator("pre:visible", has_text="flush").first
    broken, words = code.evaluate(BROKEN)
    assert words > 20
    assert broken == []
