"""The README's pictures: there, small, and described for those who do not see them."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
SHOWN = re.findall(r"!\[(.*?)\]\((docs/\S+)\)", (ROOT / "README.md").read_text())


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
