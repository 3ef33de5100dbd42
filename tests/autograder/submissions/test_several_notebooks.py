"""`collect` for assignments of any nbgrader course: notebooks of any name, several a learner."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from autograder.course_directory import load_course
from autograder.lessons.assignments import select_assignments
from autograder.submissions.collect import Collected, collect
from autograder.submissions.discovery import find_submissions
from autograder.submissions.matching import read_roster
from tests.autograder import foreign

PARTS = ("part one", "part two")


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """Two assignments: of the first the cells of both notebooks are called the same."""
    root = tmp_path / "course"
    for name in PARTS:
        foreign.write(root / "source" / "ps1", name, foreign.test_of("t", "assert True", 1))
    foreign.write(root / "source" / "ps2", "exam", foreign.test_of("other", "assert True", 1))
    (root / "students.csv").write_text("id;first_name;last_name\nada;Ada;Lovelace\nbob;Bob;Hay\n")
    return root


def copied(course: Path, source: str, *places: Path) -> None:
    for place in places:
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(course / "source" / source, place)


def taken_in(course: Path, archive: Path) -> Collected:
    directory = load_course(course)
    lessons = select_assignments(directory).lessons
    return collect(directory, archive, lessons, read_roster(directory))


def handed_in(course: Path) -> dict[str, list[str]]:
    """Learner and assignment, with the files that lie there."""
    folders = sorted((course / "submitted").glob("*/*"))
    return {
        f"{one.parent.name}/{one.name}": sorted(path.name for path in one.iterdir())
        for one in folders
    }


def test_all_notebooks_of_a_learner_are_one_submission(course: Path, tmp_path: Path) -> None:
    downloaded = tmp_path / "Downloads"
    for name in PARTS:
        copied(course, f"ps1/{name}.ipynb", downloaded / "ada" / f"{name}.ipynb")
    copied(course, "ps1/part two.ipynb", downloaded / "bob" / "part two (1).ipynb")
    copied(course, "ps2/exam.ipynb", downloaded / "bob" / "mine.ipynb")
    found = taken_in(course, downloaded)
    assert (found.refused, found.unmatched) == ((), ())
    assert [(one.student, one.lesson, one.state) for one in found.taken] == [
        ("ada", "ps1", "new"),
        ("bob", "ps1", "new"),
        ("bob", "ps2", "new"),
    ]
    assert handed_in(course) == {
        "ada/ps1": ["part one.ipynb", "part two.ipynb"],
        "bob/ps1": ["part two.ipynb"],
        "bob/ps2": ["exam.ipynb"],
    }
    directory = load_course(course)
    submissions = find_submissions(directory, select_assignments(directory).lessons)
    problems = {
        f"{one.student} {part.path.stem}": part.problem and part.problem[0]
        for one in submissions
        for part in one.notebooks
    }
    assert {name for name, problem in problems.items() if problem} == {"bob part one"}
    assert {one.state for one in taken_in(course, downloaded).taken} == {"unchanged"}


def test_a_notebook_that_comes_later_joins_the_one_that_is_there(
    course: Path, tmp_path: Path
) -> None:
    for name in PARTS:
        copied(course, f"ps1/{name}.ipynb", tmp_path / name / "ada" / f"{name}.ipynb")
        taken_in(course, tmp_path / name)
    assert handed_in(course) == {"ada/ps1": ["part one.ipynb", "part two.ipynb"]}
    earlier = course / ".autograder" / "earlier" / "ps1" / "ada" / "001"
    assert [path.name for path in earlier.iterdir()] == ["part one.ipynb"]


def test_another_notebook_that_is_too_large_to_be_graded_is_not_copied(
    course: Path, tmp_path: Path
) -> None:
    for name in PARTS:
        copied(course, f"ps1/{name}.ipynb", tmp_path / name / "ada" / f"{name}.ipynb")
    taken_in(course, tmp_path / PARTS[0])
    os.truncate(course / "submitted" / "ada" / "ps1" / "part one.ipynb", 2**40)
    taken_in(course, tmp_path / PARTS[1])
    assert handed_in(course) == {"ada/ps1": ["part two.ipynb"]}
    kept = course / ".autograder" / "earlier" / "ps1" / "ada" / "001" / "part one.ipynb"
    assert kept.stat().st_size == 2**40


def test_one_notebook_twice_is_refused_and_the_other_is_taken(course: Path, tmp_path: Path) -> None:
    ada = tmp_path / "in" / "ada"
    copied(course, "ps1/part one.ipynb", ada / "part one.ipynb", ada / "part one-1.ipynb")
    copied(course, "ps1/part two.ipynb", ada / "part two.ipynb")
    found = taken_in(course, tmp_path / "in")
    assert [one.reason.partition(";")[0] for one in found.refused] == [
        "is one of 2 notebooks of ps1/part one by one student"
    ] * 2
    assert handed_in(course) == {"ada/ps1": ["part two.ipynb"]}


def test_a_folder_says_which_assignment_where_cells_and_names_are_the_same(
    course: Path, tmp_path: Path
) -> None:
    copied(course, "ps1/part one.ipynb", course / "source" / "ps3" / "part one.ipynb")
    copied(course, "ps1/part one.ipynb", tmp_path / "in" / "bob" / "ps3" / "part one.ipynb")
    taken_in(course, tmp_path / "in")
    assert handed_in(course) == {"bob/ps3": ["part one.ipynb"]}
