"""The start page is released like a lesson: from its source alone, and without outputs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from autograder.lessons.editions.opening import INSTALL_ID, TEXT_ID
from autograder.lessons.editions.start_page import START_PAGE
from autograder.lessons.model import find_lesson
from autograder.lessons.release import build_release, check_release, write_release
from tests.autograder import tiny

REPOSITORY = Path(__file__).parents[3]


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A course with one lesson and a start page that somebody has run."""
    tiny.build(tmp_path)
    page = json.loads((REPOSITORY / "source" / START_PAGE).read_text())
    for cell in page["cells"]:
        if cell["cell_type"] == "code":
            cell["execution_count"] = 1
            cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "mine"}]
    (tmp_path / "source" / START_PAGE).write_text(json.dumps(page))
    return tmp_path


def test_the_start_page_is_released_without_what_was_shown_in_it(course: Path) -> None:
    built = build_release(course, [find_lesson(course, "1")])
    assert built[START_PAGE] == (REPOSITORY / "release" / START_PAGE).read_bytes()


def test_a_start_page_that_was_changed_has_drifted(course: Path) -> None:
    built = build_release(course, [find_lesson(course, "1")])
    write_release(course, built)
    assert check_release(course, built) == []
    (course / "release" / START_PAGE).write_text("{}")
    assert [str(one.path) for one in check_release(course, built)] == [f"release/{START_PAGE}"]


def test_a_start_page_without_a_source_is_stray(course: Path) -> None:
    write_release(course, build_release(course, [find_lesson(course, "1")]))
    (course / "source" / START_PAGE).unlink()
    built = build_release(course, [find_lesson(course, "1")])
    assert [one.kind for one in check_release(course, built)] == ["stray", "stray"]


def test_each_edition_has_its_own_words_and_self_study_installs_the_course(course: Path) -> None:
    built = build_release(course, [find_lesson(course, "1")])
    pages = [json.loads(built[name])["cells"] for name in (START_PAGE, f"self-study/{START_PAGE}")]
    ids = [[cell["id"] for cell in page] for page in pages]
    assert set(ids[0]) - set(ids[1]) == {"how-to-work"}
    assert set(ids[1]) - set(ids[0]) == {INSTALL_ID, TEXT_ID, "how-to-work-alone"}
    codes = [cell["id"] for cell in pages[1] if cell["cell_type"] == "code"]
    assert codes == [INSTALL_ID, "lessons", "map", "placement", "carry"]
    assert "edition" not in json.dumps([cell["metadata"] for page in pages for cell in page])
