"""Grades in the forms that Moodle and Canvas import; a status never becomes a 0."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from pathlib import Path

import pytest

from autograder.cli import main
from autograder.course_directory import load_course
from autograder.lessons.model import find_lesson
from autograder.lms import LMS
from autograder.lms.identities import LmsStudent
from autograder.lms.interface import GradeLine
from autograder.nbgrader_bridge.gradebook import GradebookWriter
from autograder.records.model import Status
from autograder.records.runner import Job
from autograder.reporting.class_results import LearnerResult, class_results
from autograder.reporting.lms.grades import lms_csv, unknown_to, without_points
from autograder.submissions.class_list import Student
from autograder.submissions.matching import known_students
from tests.autograder import tiny
from tests.autograder.classroom import (
    SLUG,
    FakeRunner,
    classroom,
    double,
    flatten,
    graded,
    record,
)

ROSTER = "id,first_name,last_name,email\nada,Ada,Lovelace,ada@uni.example\nnone,No,Body,\n"


def gives(job: Job) -> object:
    if job.student == "bob":
        return record("bob", flatten(2.5), double(0.0))
    if job.student == "sick":
        broken = {"status": Status.INFRASTRUCTURE, "attempted": False}
        exercises = flatten(0.0, **broken), double(0.0, **broken)
        return record("sick", *exercises, status=Status.INFRASTRUCTURE)
    return record(job.student)


@pytest.fixture
def rows(tmp_path: Path) -> tuple[LearnerResult, ...]:
    """A class of four: full points, some, a fault of the grader, nothing handed in."""
    course, lesson = classroom(tmp_path, "ada", "bob", "sick")
    (tmp_path / "students.csv").write_text(ROSTER)
    graded(course, FakeRunner(gives))  # type: ignore[arg-type]
    return class_results(course, lesson)


def table(
    root: Path,
    lms: str,
    rows: Iterable[LearnerResult],
    people: dict[str, LmsStudent] | None = None,
) -> list[dict[str, str]]:
    """The lines of the file, by heading."""
    students = known_students(load_course(root))
    text = lms_csv(LMS[lms], find_lesson(root, SLUG), rows, students, people or {})
    return list(csv.DictReader(text.splitlines()))


def test_moodle_gets_every_column_that_its_worksheet_needs(
    tmp_path: Path, rows: tuple[LearnerResult, ...]
) -> None:
    lines = table(tmp_path, "moodle", rows, {"ada": LmsStudent("moodle", "Ada Lovelace", "7")})
    (ada,) = [line for line in lines if line["ID number"] == "ada"]
    assert ada == {
        "Identifier": "Participant 7",
        "Full name": "Ada Lovelace",
        "ID number": "ada",
        "Email address": "ada@uni.example",
        "Status": "graded",
        "Grade": "6",
        "Maximum Grade": "6",
        "Last modified (grade)": "-",
    }


def test_what_was_not_judged_has_no_grade_and_says_why(
    tmp_path: Path, rows: tuple[LearnerResult, ...]
) -> None:
    lines = {line["ID number"]: line for line in table(tmp_path, "moodle", rows)}
    found = {name: (line["Status"], line["Grade"]) for name, line in lines.items()}
    assert found == {
        "ada": ("graded", "6"),
        "bob": ("graded", "2.5"),
        "none": ("not handed in", ""),
        "sick": ("infrastructure", ""),
    }


def test_canvas_gets_its_heading_and_the_points_possible(
    tmp_path: Path, rows: tuple[LearnerResult, ...]
) -> None:
    text = lms_csv(LMS["canvas"], find_lesson(tmp_path, SLUG), rows, {}, {})
    assert text.splitlines()[:2] == [
        "Student,ID,SIS User ID,SIS Login ID,Section,01-tiny",
        "    Points Possible,,,,,6",
    ]


def test_canvas_gets_only_those_with_points(
    tmp_path: Path, rows: tuple[LearnerResult, ...]
) -> None:
    students = {"bob": Student("bob", lms_user_id="55")}
    people = {"ada": LmsStudent("canvas", "lovelaceada", "77")}
    text = lms_csv(LMS["canvas"], find_lesson(tmp_path, SLUG), rows, students, people)
    assert sorted(text.splitlines()[2:]) == ['"Lovelace, Ada",77,,ada,,6', "bob,55,,bob,,2.5"]


def test_a_name_on_github_is_no_number_of_canvas(
    tmp_path: Path, rows: tuple[LearnerResult, ...]
) -> None:
    students = {"ada": Student("ada", lms_user_id="adalove")}
    people = {"ada": LmsStudent("canvas", "lovelaceada", "77")}
    text = lms_csv(LMS["canvas"], find_lesson(tmp_path, SLUG), rows, students, people)
    assert '"Lovelace, Ada",77,,ada,,6' in text.splitlines()


def test_who_is_left_out_is_named_with_the_reason(rows: tuple[LearnerResult, ...]) -> None:
    assert sorted(without_points(rows)) == ["none: not handed in", "sick: infrastructure"]


def test_a_learner_who_got_nothing_has_a_zero_that_was_earned(tmp_path: Path) -> None:
    course, lesson = classroom(tmp_path, "zoe")
    graded(course, FakeRunner(lambda job: record("zoe", flatten(0.0), double(0.0))))
    (line,) = table(tmp_path, "moodle", class_results(course, lesson))
    assert (line["Status"], line["Grade"]) == ("graded", "0")


def test_no_name_ends_in_what_moodle_reads_with_the_next_sign() -> None:
    row = LMS["moodle"].grade_table(
        "x", 4.0, [GradeLine("mal", "Mal", "Lory, jr.\\", "", "", "7", "graded", 4.0, 4.0)]
    )[1]
    assert row[1] == "Mal Lory, jr./"


def test_a_name_that_is_a_formula_is_harmless(tmp_path: Path) -> None:
    course, lesson = classroom(tmp_path, "eve")
    graded(course)
    (tmp_path / "list.csv").write_text("id,first_name,last_name\neve,=1+1,\n")
    with GradebookWriter(course) as gradebook:
        gradebook.enrol(tmp_path / "list.csv")
    (line,) = table(tmp_path, "moodle", class_results(course, lesson))
    assert line["Full name"] == "'=1+1"


def test_the_command_writes_a_file_a_lesson(
    tmp_path: Path, rows: tuple[LearnerResult, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".autograder/lms").mkdir(parents=True)
    known = {"bob": {"lms": "canvas", "name": "b", "number": "9"}}
    (tmp_path / ".autograder/lms/02-other.json").write_text(json.dumps(known))
    assert main.main(["export", "--format", "canvas", "--course", str(tmp_path)]) == 0
    path, said = tmp_path / f"report/{SLUG}-canvas.csv", capsys.readouterr()
    assert said.out == f"{path}\n"
    assert "01-tiny: without points: sick: infrastructure\n" in said.err
    assert "bob,9,,bob,,2.5" in path.read_text()


def test_one_file_for_several_lessons_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tiny.build(tmp_path)
    tiny.build(tmp_path, "02-tiny")
    words = ["export", "--format", "moodle", "--out", "all.csv", "--course", str(tmp_path)]
    assert main.main(words) == 2
    assert "moodle reads one file a lesson" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("lms", "told"),
    [("moodle", ["Moodle will not know whose points these are: bob"]), ("canvas", [])],
)
def test_whose_points_an_lms_cannot_place_is_told(
    rows: tuple[LearnerResult, ...], lms: str, told: list[str]
) -> None:
    students = {"ada": Student("ada", email="ada@uni.example", lms_user_id="7")}
    people = {"bob": LmsStudent(lms, "Bob", "8")} if lms == "canvas" else {}
    assert unknown_to(LMS[lms], rows, students, people) == told
