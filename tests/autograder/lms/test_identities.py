"""One number of an LMS is one student's."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.course_directory import load_course
from autograder.lms.identities import LmsStudent, lms_students, remember, told_apart
from tests.autograder import tiny


def seen(number: str, *, by_name: bool = False, lms: str = "moodle") -> LmsStudent:
    return LmsStudent(lms, "Kim Park", number, by_name=by_name)


def test_a_number_that_was_taken_for_somebody_elses_is_theirs_alone(tmp_path: Path) -> None:
    course = load_course(tiny.build(tmp_path))
    remember(course, "01-tiny", {"kim": seen("5", by_name=True), "bob": seen("6")})
    remember(course, "01-tiny", {"ada": seen("5")})
    assert lms_students(course, "01-tiny") == {"ada": seen("5"), "bob": seen("6")}
    remember(course, "01-tiny", {"ada": seen("6"), "bob": seen("5")})  # the two were swapped
    assert lms_students(course, "01-tiny") == {"ada": seen("6"), "bob": seen("5")}


@pytest.mark.parametrize(
    ("kim", "ada", "numbers", "kept"),
    [
        (seen("5", by_name=True), seen("5"), {}, {"ada"}),
        (seen("5"), seen("5"), {}, set()),
        (seen("5", by_name=True), seen("5", by_name=True), {}, set()),
        (seen("5"), seen("6"), {}, {"ada", "kim"}),
        (seen("5"), seen("7"), {"ada": "5"}, {"ada"}),
        (seen("5"), seen("5"), {"ada": "5"}, {"ada"}),
        (seen("5"), seen("7"), {"kim": "5", "ada": "5"}, {"ada"}),
    ],
)
def test_of_two_with_one_number_it_is_whose_it_surely_is(
    kim: LmsStudent, ada: LmsStudent, numbers: dict[str, str], kept: set[str]
) -> None:
    assert told_apart({"kim": kim, "ada": ada}, numbers).keys() == kept
