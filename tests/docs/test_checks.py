"""The checks of finished pages notice what they are for."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.site.checks import MOST_NBYTES, faults_of

GOOD = (
    '<h2 id="here">x</h2><a href="#here">x</a><a href="b.html#there">x</a><img src="c.png" alt="c">'
)


def written(folder: Path, html: str) -> Path:
    """A site of two pages and a picture, the first page with this HTML."""
    (folder / "a.html").write_text(f"<html><body>{html}</body></html>")
    (folder / "b.html").write_text('<p id="there">x</p>')
    (folder / "c.png").write_bytes(b"")
    return folder


def test_a_good_page_has_no_fault(tmp_path: Path) -> None:
    away = '<a href="https://example.org/">elsewhere</a><a href="mailto:a@b.c">write</a>'
    assert faults_of(written(tmp_path, GOOD + away)) == []


@pytest.mark.parametrize(
    ("html", "fault"),
    [
        ('<a href="gone.html">x</a>', "dead link: gone.html"),
        ('<a href="b.html#gone">x</a>', "dead link: b.html#gone"),
        ('<a href="#gone">x</a>', "dead link: #gone"),
        ('<img src="c.png">', "no alt text: c.png"),
        ('<img src="c.png" alt=" ">', "no alt text: c.png"),
        ('<img src="gone.png" alt="x">', "dead link: gone.png"),
        ('<script src="https://cdn.example/x.js"></script>', "loads https://cdn.example/x.js"),
        ('<script src="//cdn.example/x.js"></script>', "loads //cdn.example/x.js"),
        ('<link rel="stylesheet" href="http://cdn.example/x">', "loads http://cdn.example/x"),
        ("x" * MOST_NBYTES, "1,500,026 bytes, 1,500,000 are allowed"),
    ],
)
def test_each_fault_is_found(tmp_path: Path, html: str, fault: str) -> None:
    assert faults_of(written(tmp_path, html)) == [f"a.html: {fault}"]


def test_a_style_that_loads_a_font_is_found(tmp_path: Path) -> None:
    (tmp_path / "x.css").write_text("a { src: url('https://fonts.example/f.woff') }")
    assert faults_of(tmp_path) == ["x.css: loads https://fonts.example/f.woff"]
