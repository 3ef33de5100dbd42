"""TensorBoard's page in Chromium: the charts that lesson 15 speaks of are there to be seen."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.jupyter import window
from tests.systems.viewer import WAIT_S, viewer

pytestmark = pytest.mark.exhaustive("TensorBoard in a browser")


@pytest.mark.needs("tensorboard")
def test_the_viewer_shows_a_chart_for_the_tag_and_names_the_run(
    browser: Browser, tmp_path: Path
) -> None:
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(str(tmp_path / "runs" / "lr=0.1")) as writer:
        for step in range(3):
            writer.add_scalar("loss/train", 1.0 / (step + 1), step)
    with viewer(tmp_path / "runs", tmp_path / "log") as address:
        page = window(browser)
        page.goto(address)
        for words in ("loss/train", "lr=0.1"):
            page.get_by_text(words).first.wait_for(timeout=WAIT_S * 1000)
        page.close()
