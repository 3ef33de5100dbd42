"""The README's pictures and its example: small, described, and what PyTorch prints."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
SHOWN = re.findall(r"!\[(.*?)\]\((docs/\S+)\)", README)
MAP = re.findall(r'<img src="(\S+)" alt="([^"]+)">|srcset="(\S+)"', README)


def test_the_readme_shows_a_lesson_a_failed_table_and_the_report() -> None:
    assert [name for _, name in SHOWN] == [
        "docs/lesson.png",
        "docs/check-table.png",
        "docs/report.png",
    ]


def test_each_picture_is_a_small_png() -> None:
    for _, name in SHOWN:
        content = (ROOT / name).read_bytes()
        assert content.startswith(b"\x89PNG"), name
        assert len(content) <= 200_000, name


def test_each_picture_is_described() -> None:
    assert [name for alt, name in SHOWN if len(alt) < 40] == []


def test_both_forms_of_the_map_are_shown_small_and_described() -> None:
    (narrow, wide) = MAP
    assert (narrow[2], wide[0]) == ("docs/map-narrow.svg", "docs/map.svg")
    assert len(wide[1]) >= 40
    for name in (narrow[2], wide[0]):
        content = (ROOT / name).read_bytes()
        assert content.startswith(b"<svg "), name
        assert len(content) <= 40_000, name


def test_the_first_example_prints_what_the_readme_says() -> None:
    example = README[README.index(">>>") : README.index("```", README.index(">>>"))]
    asked = doctest.DocTestParser().get_doctest(example, {}, "README.md", None, 0)
    said: list[str] = []
    assert doctest.DocTestRunner(verbose=False).run(asked, out=said.append).failed == 0, said
    assert len(asked.examples) >= 3


def test_the_first_screen_holds_example_picture_and_commands() -> None:
    screen = README[: README.index("You need Linux")]
    assert len(screen.splitlines()) <= 32
    for wanted in (">>> ", "docs/lesson.png", "make demo", "make test"):
        assert wanted in screen
