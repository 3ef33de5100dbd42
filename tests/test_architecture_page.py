"""The pages about the house name files and folders that are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NAMED = re.compile(
    r"`((?:course|autograder|docs|cli|grading|nbgrader_bridge|lms|submissions|records|engine|lessons|runners|reporting|tests|tools)/[\w/.]*)`"
)


PAGES = ["docs/architecture.md", "docs/trust.md", "docs/limits.md", "README.md"]


@pytest.mark.parametrize("page", PAGES)
def test_every_path_that_a_page_names_is_there(page: str) -> None:
    found = NAMED.findall((ROOT / page).read_text(encoding="utf-8"))
    assert len(found) >= 4 or page == "README.md"
    missing = [
        one for one in found if not any((ROOT / top / one).exists() for top in ("", "autograder"))
    ]
    assert missing == []


def test_the_picture_of_the_house_names_every_package() -> None:
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    packages = [
        p.parent.name
        for top in ("course", "autograder")
        for p in (ROOT / top).glob("*/__init__.py")
    ]
    assert [name for name in packages if f"{name}/" not in text] == []
