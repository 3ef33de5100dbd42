"""Beside each feedback page lies what the exchange needs of the submission that was graded."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.course_directory import CourseDirectory
from autograder.lessons.model import Lesson
from autograder.nbgrader_bridge.exchange import TOKENS, accompany_pages
from tests.autograder.classroom import SLUG, classroom, graded

CLASS = tuple[CourseDirectory, Lesson]


@pytest.fixture
def paged(tmp_path: Path) -> CLASS:
    """Two learners who were graded and have a folder for their pages."""
    course, lesson = classroom(tmp_path, "ada", "bob")
    for student in ("ada", "bob"):
        (tmp_path / "submitted" / student / SLUG / TOKENS[1]).write_text(f"secret of {student}")
        course.feedback(student, SLUG).mkdir(parents=True)
    graded(course)
    return course, lesson


def secret(course: CourseDirectory, student: str) -> Path:
    return course.feedback(student, SLUG) / TOKENS[1]


def test_time_and_secret_come_from_the_submission_that_was_graded(paged: CLASS) -> None:
    course, lesson = paged
    (course.submitted("ada", SLUG) / TOKENS[1]).write_text("secret of a newer one")
    accompany_pages(course, lesson)
    assert secret(course, "ada").read_text() == "secret of ada"
    assert (course.feedback("bob", SLUG) / TOKENS[0]).read_text() == "2026-01-10 12:00:00 UTC"


def test_one_student_can_be_served_alone(paged: CLASS) -> None:
    accompany_pages(*paged, "ada")
    assert [secret(paged[0], name).exists() for name in ("ada", "bob")] == [True, False]


UNUSABLE = {
    "missing": None,
    "empty": b"",
    "too large": b"s" * 5000,
    "no text": b"\xff\xfe",
    "ours for nobody": b"nobody's 1",
}


@pytest.mark.parametrize("how", UNUSABLE)
def test_without_a_usable_secret_the_page_has_one_that_nobody_knows(paged: CLASS, how: str) -> None:
    course, lesson = paged
    accompany_pages(course, lesson)
    graded_one = course.autograded("ada", SLUG) / TOKENS[1]
    graded_one.chmod(0o600)
    graded_one.unlink()
    if (content := UNUSABLE[how]) is not None:
        graded_one.write_bytes(content)
    accompany_pages(course, lesson)
    first = secret(course, "ada").read_text()
    assert first.startswith("nobody's ") and len(first) > 50
    accompany_pages(course, lesson)
    assert secret(course, "ada").read_text() == first
    assert secret(course, "bob").read_text() == "secret of bob"


def test_a_time_that_is_no_text_for_a_terminal_is_left_empty(paged: CLASS) -> None:
    course, lesson = paged
    token = course.autograded("ada", SLUG) / TOKENS[0]
    token.chmod(0o600)
    token.write_text("2026\x1b[2J")
    accompany_pages(course, lesson)
    assert (course.feedback("ada", SLUG) / TOKENS[0]).read_text() == ""


def test_a_link_is_not_followed(paged: CLASS, tmp_path: Path) -> None:
    course, lesson = paged
    for folder in (course.autograded("ada", SLUG), course.feedback("ada", SLUG)):
        token = folder / TOKENS[1]
        token.unlink(missing_ok=True)
        token.symlink_to(tmp_path / "other.txt")
    (tmp_path / "other.txt").write_text("nobody's business")
    accompany_pages(course, lesson)
    assert secret(course, "ada").read_text().startswith("nobody's ")
    assert secret(course, "ada").read_text() != "nobody's business"
    assert (tmp_path / "other.txt").read_text() == "nobody's business"
