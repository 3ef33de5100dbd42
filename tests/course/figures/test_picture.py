"""Pictures: what a notebook, a terminal and a grader get."""

from __future__ import annotations

import base64
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import torch
from matplotlib.figure import Figure

from course.figures import Picture, not_drawn, show_storage
from course.figures.palette import CARD, FAULT, FILLS, INK, MUTED, REST, contrast


def _picture() -> Picture:
    return Picture(lambda: Figure(figsize=(1, 1)), alt='One "box" & more', caption="A < B")


def _never() -> Figure:
    raise AssertionError("drawn")


def test_html_holds_the_image_its_alt_text_and_the_caption() -> None:
    page = _picture()._repr_html_()
    assert 'alt="One &quot;box&quot; &amp; more"' in page
    assert "A &lt; B</figcaption>" in page
    data = re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', page)
    assert data is not None
    assert b"<svg" in base64.b64decode(data[1])


def test_a_picture_without_caption_has_no_figcaption() -> None:
    assert "figcaption" not in Picture(lambda: Figure(figsize=(1, 1)), alt="x")._repr_html_()


def test_in_a_terminal_a_picture_is_its_alt_text_and_caption() -> None:
    assert repr(_picture()) == 'One "box" & more\nA < B'


def test_the_card_is_light_whatever_the_theme() -> None:
    page = _picture()._repr_html_()
    assert f"background:{CARD}" in page
    assert f"color:{INK}" in page


def test_the_same_drawing_gives_the_same_bytes() -> None:
    a, b = (show_storage(torch.arange(12).view(3, 4).t()) for _ in range(2))
    assert a.svg() == b.svg()
    assert b"<dc:date>" not in a.svg()


def test_a_learners_matplotlib_settings_change_nothing() -> None:
    import matplotlib

    plain = show_storage(torch.arange(4)).svg()
    own = {"font.size": 30, "svg.fonttype": "none", "savefig.bbox": "tight", "text.usetex": True}
    with matplotlib.rc_context(own):
        assert show_storage(torch.arange(4)).svg() == plain


def test_a_picture_is_drawn_once_and_only_when_looked_at() -> None:
    drawn: list[int] = []
    picture = Picture(lambda: drawn.append(1) or Figure(figsize=(1, 1)), alt="x")
    assert (repr(picture), drawn) == ("x", [])
    picture._repr_html_()
    picture._repr_html_()
    assert drawn == [1]


@pytest.mark.parametrize(("suffix", "start"), [("svg", b"<?xml"), ("png", b"\x89PNG")])
def test_save_writes_the_format_of_the_suffix(tmp_path: Path, suffix: str, start: bytes) -> None:
    path = tmp_path / f"figure.{suffix}"
    _picture().save(path)
    assert path.read_bytes().startswith(start)


def test_nothing_is_drawn_inside_not_drawn() -> None:
    with not_drawn():
        assert "<img" not in Picture(_never, alt="not looked at")._repr_html_()


def test_not_drawn_holds_in_other_threads_too_and_ends_with_its_block() -> None:
    pages: list[str] = []
    with not_drawn():
        thread = threading.Thread(target=lambda: pages.append(_picture()._repr_html_()))
        thread.start()
        thread.join()
    assert "<img" not in pages[0]
    assert "<img" in _picture()._repr_html_()


@pytest.mark.exhaustive("every figure measured")
def test_importing_figures_does_not_import_matplotlib_nor_does_an_undrawn_figure() -> None:
    code = (
        "import sys, torch, course.figures as f\n"
        "f.draw_nothing()\n"
        "f.show_storage(torch.zeros(3))._repr_html_()\n"
        "assert 'matplotlib' not in sys.modules"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("fill", [*FILLS, CARD])
def test_ink_is_legible_on_every_fill(fill: str) -> None:
    assert contrast(INK, fill) >= 4.5


def test_every_other_text_colour_is_legible_on_its_ground() -> None:
    assert contrast(MUTED, CARD) >= 4.5
    assert contrast(MUTED, REST) >= 4.5
    assert contrast(FAULT, CARD) >= 4.5


def test_contrast_of_black_and_white_is_21() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)


def test_on_a_narrow_page_a_picture_scrolls_before_its_text_gets_small() -> None:
    wide = Picture(lambda: Figure(figsize=(800 / 96, 1)), alt="x")._repr_html_()
    assert "overflow-x:auto" in wide
    assert "min-width:680px" in wide
