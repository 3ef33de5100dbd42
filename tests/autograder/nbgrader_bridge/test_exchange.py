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


def test_a_token_that_is_gone_does_not_stay_behind(paged: CLASS) -> None:
    course, lesson = paged
    accompany_pages(course, lesson)
    (course.autograded("ada", SLUG) / TOKENS[1]).unlink()
    accompany_pages(course, lesson)
    assert not secret(course, "ada").exists()


def test_a_link_is_not_followed(paged: CLASS, tmp_path: Path) -> None:
    course, lesson = paged
    token = course.autograded("ada", SLUG) / TOKENS[1]
    token.unlink()
    token.symlink_to(tmp_path / "gradebook.db")
    accompany_pages(course, lesson)
    assert not secret(course, "ada").exists()
