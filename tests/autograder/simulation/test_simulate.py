"""A simulated class is the same for the same seed, varied, and never written over real work."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from autograder.course_directory import load_course
from autograder.errors import SimulationError
from autograder.lessons.cells import saved_notebook
from autograder.lessons.model import find_lesson, select_lessons
from autograder.lessons.regions import without_markers
from autograder.simulation.faults import FAULTS, SLIPS, answer_name, slipped
from autograder.simulation.simulate import MARK, SimulatedCourse, simulate
from tests.autograder import tiny

Make = Callable[..., SimulatedCourse]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    course = tiny.build(tmp_path_factory.mktemp("course"))
    (course / "nbgrader_config.py").write_text("c = get_config()\n")
    (course / "source/01-tiny/numbers.csv").write_text("1,2\n")
    return course


@pytest.fixture(scope="module")
def make(course: Path) -> Make:
    """A function that simulates; the class edition, which takes seconds, is built only once."""
    lessons = select_lessons(course)
    from autograder.lessons.release import class_editions

    released = class_editions(course, lessons)

    def simulated(out: Path, students: int = 20, **more: Any) -> SimulatedCourse:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("autograder.simulation.simulate.class_editions", lambda *_: released)
            return simulate(course, lessons, out=out, students=students, **more)

    return simulated


def content(directory: Path) -> dict[str, bytes]:
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


def handed_in(directory: Path, student: str) -> dict[str, str]:
    """The source of each cell of a submission, by id."""
    path = directory / "submitted" / student / "01-tiny/01-tiny.ipynb"
    return {one["id"]: "".join(one["source"]) for one in json.loads(path.read_text())["cells"]}


def test_the_same_seed_gives_the_same_class(make: Make, tmp_path: Path) -> None:
    for name in ("a", "b"):
        make(tmp_path / name / "class", 8, seed=3, faults=0.25)
    assert content(tmp_path / "a/class") == content(tmp_path / "b/class")


def test_another_seed_gives_another_class(make: Make, tmp_path: Path) -> None:
    one, other = make(tmp_path / "a", seed=1), make(tmp_path / "b", seed=2)
    assert one.submissions != other.submissions


def test_a_larger_class_contains_the_smaller_one(make: Make, tmp_path: Path) -> None:
    small, large = make(tmp_path / "a", 5), make(tmp_path / "b", 9)
    assert large.submissions[:5] == small.submissions


def test_a_class_has_good_weak_and_broken_submissions(make: Make, tmp_path: Path) -> None:
    made = make(tmp_path / "class", 60)
    assert {one.profile for one in made.submissions} == {"good", "middling", "weak", "broken"}
    titles = {title for one in made.submissions for title in one.answers.values()}
    assert "reshape to minus one" in titles  # right
    assert "always copies" in titles  # wrong
    assert "stub" in titles
    assert titles & set(SLIPS)


def test_a_submission_holds_the_answers_that_are_noted_for_it(make: Make, tmp_path: Path) -> None:
    made = make(tmp_path / "class", 60)
    wanted = ("through a list", "return torch.tensor([v for row in x.tolist() for v in row])")
    one = next(one for one in made.submissions if one.answers["flatten"] == wanted[0])
    assert wanted[1] in handed_in(tmp_path / "class", one.student)["flatten"]
    left = next(one for one in made.submissions if one.answers["double"] == "stub")
    assert "# YOUR CODE HERE" in handed_in(tmp_path / "class", left.student)["double"]


def test_learners_hand_in_the_class_edition(make: Make, tmp_path: Path) -> None:
    make(tmp_path / "class", 3)
    for student in ("student-001", "student-002", "student-003"):
        assert "check.dtype" not in handed_in(tmp_path / "class", student)["test-double"]


def test_the_directory_is_a_course_directory(make: Make, course: Path, tmp_path: Path) -> None:
    make(tmp_path / "class", 2)
    files = content(tmp_path / "class")
    assert {"nbgrader_config.py", "release/01-tiny/01-tiny.ipynb", MARK} <= files.keys()
    source = "source/01-tiny/01-tiny.ipynb"
    assert files[source] == (course / source).read_bytes()
    assert files["submitted/student-002/01-tiny/numbers.csv"] == b"1,2\n"
    timestamp = files["submitted/student-001/01-tiny/timestamp.txt"].decode()
    assert timestamp.startswith("2026-01-1")
    assert timestamp.endswith(" UTC\n")


def test_an_invented_class_stays_out_of_a_sites_gradebook(
    make: Make, course: Path, tmp_path: Path
) -> None:
    make(tmp_path / "class", 2)
    config = tmp_path / "class" / "nbgrader_config.py"
    config.write_text(f"c = get_config()\nc.CourseDirectory.db_url = 'x'\n{config.read_text()}")
    assert load_course(tmp_path / "class").db_url == f"sqlite:///{tmp_path}/class/gradebook.db"


def test_claims_that_the_package_does_not_have_come_along(make: Make, tmp_path: Path) -> None:
    make(tmp_path / "class", 1)
    assert (tmp_path / "class/course/lessons/tiny/claims.toml").read_text() == tiny.claims()


def test_everybody_has_a_name_of_their_own(make: Make, tmp_path: Path) -> None:
    make(tmp_path / "class", 40)
    rows = list(csv.DictReader((tmp_path / "class/students.csv").read_text().splitlines()))
    assert [row["id"] for row in rows[:2]] == ["student-001", "student-002"]
    assert len({(row["first_name"], row["last_name"]) for row in rows}) == 40


def test_a_share_of_faults_gives_that_many_different_ones(make: Make, tmp_path: Path) -> None:
    made = make(tmp_path / "class", 40, faults=0.1)
    faults = [one.fault for one in made.submissions if one.fault]
    assert len(faults) == len(set(faults)) == 4
    assert "Faults: " in made.sentence


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_leaves_a_submission_that_differs(course: Path, fault: str) -> None:
    lesson = find_lesson(course, "1")
    fresh = tiny.notebook()
    spoiled = FAULTS[fault](tiny.notebook(), lesson.exercise("double"))
    assert spoiled != saved_notebook(fresh)
    assert b"NAME(" not in spoiled


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_put_into_the_function_that_is_asked_for(course: Path, slip: str) -> None:
    one = find_lesson(course, "1").exercise("double")
    assert answer_name(one) == "double"
    assert "double(" in slipped(slip, one)
    assert slipped(slip, one) != without_markers(one.answer_source)


def test_a_simulated_course_is_replaced_as_a_whole(make: Make, tmp_path: Path) -> None:
    make(tmp_path / "class", 3)
    (tmp_path / "class/gradebook.db").write_text("old")
    make(tmp_path / "class", 2)
    assert not (tmp_path / "class/gradebook.db").exists()
    students = sorted(path.name for path in (tmp_path / "class/submitted").iterdir())
    assert students == ["student-001", "student-002"]


def test_an_interrupted_simulation_may_be_repeated(make: Make, tmp_path: Path) -> None:
    (tmp_path / MARK).write_text('{"kind": "simulated course"}')
    assert len(make(tmp_path, 1).submissions) == 1


@pytest.mark.parametrize("mark", [None, "{}", "no JSON", "[]"])
def test_a_directory_that_was_not_simulated_is_left_as_it_is(
    make: Make, tmp_path: Path, mark: str | None
) -> None:
    (tmp_path / "work.txt").write_text("mine")
    if mark is not None:
        (tmp_path / MARK).write_text(mark)
    with pytest.raises(SimulationError, match="no simulated course, so it is left as it is"):
        make(tmp_path, 1)
    assert (tmp_path / "work.txt").read_text() == "mine"


def test_a_file_or_a_link_in_the_way_is_left_as_it_is(make: Make, tmp_path: Path) -> None:
    make(tmp_path / "class", 1)
    (tmp_path / "link").symlink_to(tmp_path / "class")
    (tmp_path / "file").write_text("mine")
    for name in ("link", "file"):
        with pytest.raises(SimulationError):
            make(tmp_path / name, 1)
    assert (tmp_path / "file").read_text() == "mine"
    assert (tmp_path / "class" / MARK).is_file()


def test_the_course_itself_is_never_filled(make: Make, course: Path) -> None:
    for out in (course, course.parent):
        with pytest.raises(SimulationError, match="the course itself lies there"):
            make(out, 1)


def test_a_lesson_without_answers_cannot_be_simulated(tmp_path: Path) -> None:
    course = tiny.build(tmp_path / "course")
    (course / "autograder/answers/01-tiny.py").unlink()
    with pytest.raises(SimulationError, match="has no answers to make submissions from"):
        simulate(course, select_lessons(course), out=tmp_path / "class", students=1)
    assert not (tmp_path / "class").exists()
