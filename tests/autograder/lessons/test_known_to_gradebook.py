"""An assignment whose source folder is gone is graded by what nbgrader's gradebook holds of it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from autograder.course_directory import load_course
from autograder.errors import UnknownLesson
from autograder.grading.pipeline import grade
from autograder.lessons.assignments import find_assignment, select_assignments
from autograder.lessons.model import Lesson
from autograder.nbgrader_bridge.gradebook import GradebookReader
from autograder.nbgrader_bridge.known_sources import GradebookClosed
from autograder.nbgrader_bridge.registration import register
from autograder.submissions.discovery import find_submissions
from tests.autograder import foreign
from tests.autograder.engine.exam import engine

SOLVED = "def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION"
ASSERTS = (
    "assert double(1) == 2\n### BEGIN HIDDEN TESTS\nassert double(7) == 14\n### END HIDDEN TESTS"
)
PARTS = ("one", "part two")


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A course whose gradebook knows ps1, and whose source folder is still there."""
    for name in PARTS:
        foreign.write(
            tmp_path / "source" / "ps1",
            name,
            foreign.cell("note", "Read this.", "markdown", locked=True),
            foreign.answer("double", SOLVED),
            foreign.test_of("doubles", ASSERTS, 2),
            foreign.by_hand("why", "Because.", 3),
        )
    register(find_assignment(load_course(tmp_path), "ps1"), load_course(tmp_path))
    return tmp_path


def about(lesson: Lesson) -> list[tuple[object, ...]]:
    return [
        (one.name, one.points, one.manual, one.answer_id, one.test_source, one.stub, one.given)
        for one in lesson.exercises
    ]


def test_it_is_the_same_assignment_as_by_its_source(course: Path) -> None:
    by_source = find_assignment(load_course(course), "ps1")
    shutil.rmtree(course / "source" / "ps1")
    by_gradebook = find_assignment(load_course(course), "ps1")
    assert by_gradebook.points == 10
    assert [part.notebook for part in by_gradebook.notebooks] == list(PARTS)
    assert sorted(about(by_gradebook)) == sorted(about(by_source))
    assert find_assignment(load_course(course), "ps1").digest == by_gradebook.digest


@pytest.mark.exhaustive("whole assignments")
def test_its_order_is_that_of_the_edition_in_release(course: Path) -> None:
    shutil.rmtree(course / "source")
    wanted = ["why", "note", "doubles", "double"]
    foreign.write(course / "release" / "ps1", "one", *(foreign.cell(one, "") for one in wanted))
    first, _ = find_assignment(load_course(course), "ps1").notebooks
    assert [cell["metadata"]["nbgrader"]["grade_id"] for cell in first.cells()] == wanted


def test_it_is_graded_with_its_hidden_tests_and_entered_where_it_was(course: Path) -> None:
    shutil.rmtree(course / "source")
    seen = foreign.test_of("doubles", "assert double(1) == 2", 2)
    for student, returned in (("ada", "2 * x"), ("bob", "x + 1")):
        given = foreign.answer("double", f"k = 1\ndef double(x):\n    return {returned}")
        why = foreign.by_hand("why", "I think so.", 3)
        for name in PARTS:
            foreign.write(course / "submitted" / student / "ps1", name, given, seen, why)
    directory = load_course(course)
    lesson = find_assignment(directory, "ps1")
    result = grade(directory, find_submissions(directory, (lesson,)), engine())
    assert result.trouble is None
    assert {one.student: (str(one.status), one.score) for one in result.records} == {
        "ada": ("graded", 4.0),
        "bob": ("graded", 0.0),
    }
    with GradebookReader(directory) as gradebook:
        entries = gradebook.entries(lesson)
    assert {name: one.score for name, one in entries.items()} == {"ada": 4.0, "bob": 0.0}


@pytest.mark.exhaustive("whole assignments")
def test_what_neither_knows_is_unknown_and_no_gradebook_is_made(
    course: Path, tmp_path: Path
) -> None:
    with pytest.raises(UnknownLesson, match="there is no lesson 'ps2'"):
        select_assignments(load_course(course), ["ps2"])
    (course / "gradebook.db").unlink()
    shutil.rmtree(course / "source")
    with pytest.raises(UnknownLesson, match="there are no lessons"):
        select_assignments(load_course(course), ["ps1"])
    assert not (course / "gradebook.db").exists()


@pytest.mark.exhaustive("whole assignments")
def test_a_gradebook_that_does_not_open_may_have_known_it_and_is_told(course: Path) -> None:
    shutil.rmtree(course / "source" / "ps1")
    foreign.write(course / "source" / "ps2", "p", foreign.test_of("t", "assert True", 1))
    (course / "gradebook.db").write_bytes(b"no database")
    with pytest.raises(GradebookClosed, match="'ps1', and refused: file is not a"):
        select_assignments(load_course(course), ["ps1"])
    assert [one.slug for one in select_assignments(load_course(course), ["ps2"]).lessons] == ["ps2"]
