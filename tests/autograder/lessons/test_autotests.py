"""Lessons with nbgrader's automatic tests are graded by what nbgrader makes of them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import nbgrader
import pytest

from autograder.course_directory import load_course
from autograder.errors import LessonError
from autograder.lessons.autotests import with_autotests
from autograder.lessons.model import find_lesson, read_lesson
from autograder.lessons.release import class_editions
from autograder.nbgrader_bridge.gradebook import GradebookWriter
from autograder.nbgrader_bridge.registration import prepared
from autograder.runners.dask_worker import pack_lesson, unpack_lesson
from tests.autograder import tiny
from tests.autograder.classroom import SLUG, graded, hand_in, tiny_lesson
from tests.autograder.engine.exam import engine

TEMPLATES = Path(nbgrader.__file__).parent / "tests/apps/files/autotests.yml"
SOLUTION = "### BEGIN SOLUTION\nsize = 5\n### END SOLUTION"
HIDDEN = "### BEGIN HIDDEN TESTS\n### HASHED AUTOTEST size * 911\n### END HIDDEN TESTS"
TEST = f"### AUTOTEST size\n{HIDDEN}"


def notebook(answer: str = SOLUTION, test: str = TEST) -> dict[str, Any]:
    return tiny.notebook_of(
        [
            tiny.text("title", "# Automatic"),
            tiny.graded("size", answer, solution=True, points=None),
            tiny.graded("test-size", test, solution=False, points=2),
        ]
    )


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course with one lesson; its templates lie in the course directory, for all lessons."""
    root = tmp_path_factory.mktemp("course")
    tiny.write(root, notebook())
    shutil.copy(TEMPLATES, root)
    return root


@pytest.mark.exhaustive("a class with automatic tests")
def test_a_class_gets_points_for_what_the_automatic_tests_say(course: Path) -> None:
    hand_in(course, "ada", notebook("size = 5", "# what was released"))
    hand_in(course, "bob", notebook("size = 6", "# what was released"))
    assert graded(load_course(course), engine(patient=True)).trouble is None  # type: ignore[arg-type]
    with GradebookWriter(load_course(course)) as writer:
        points = {name: one.score for name, one in writer.entries(tiny_lesson()).items()}
    assert points == {"ada": 2.0, "bob": 0.0}


def test_the_gradebook_knows_the_cells_that_nbgrader_would_enter(course: Path) -> None:
    resources = {"nbgrader": {}, "metadata": {"path": str(course), "name": SLUG}}
    lesson = find_lesson(course, SLUG)
    cell = prepared(lesson, load_course(course), resources).cells[2]
    assert "AUTOTEST" not in cell.source
    assert 'assert str(size) == "5"' in cell.source
    assert cell.source == with_autotests(lesson).cells()[2]["source"]


def test_the_class_edition_has_the_visible_tests_and_no_hidden_one(course: Path) -> None:
    released = class_editions(course, [find_lesson(course, SLUG)])[f"{SLUG}/{SLUG}.ipynb"].decode()
    assert "assert str(size)" in released
    assert "911" not in released


def test_changed_templates_make_another_edition_of_the_lesson(tmp_path: Path) -> None:
    path = tiny.write(tmp_path, notebook())
    digests = [read_lesson(path).digest]
    for text in ("a: 1", "a: 2"):
        (tmp_path / "autotests.yml").write_text(text)
        digests.append(read_lesson(path).digest)
    assert len(set(digests)) == 3


def test_the_templates_of_the_course_travel_with_the_lesson(course: Path, tmp_path: Path) -> None:
    there = unpack_lesson(pack_lesson(find_lesson(course, SLUG)), SLUG, tmp_path)
    assert [path.read_bytes() for path in there.data_files] == [TEMPLATES.read_bytes()]


def test_a_lesson_without_automatic_tests_is_taken_as_it_is(tmp_path: Path) -> None:
    lesson = find_lesson(tiny.build(tmp_path), SLUG)
    assert with_autotests(lesson) is lesson


@pytest.mark.exhaustive("automatic tests without templates")
def test_a_lesson_without_templates_says_what_is_missing(tmp_path: Path) -> None:
    lesson = read_lesson(tiny.write(tmp_path, notebook()))
    with pytest.raises(LessonError, match=r"automatic tests: FileNotFoundError: .*autotests\.yml"):
        with_autotests(lesson)
