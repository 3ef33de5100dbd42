"""`grade`, `export`, `feedback` and `report` in courses of nbgrader's own, as typed there."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from nbgrader.apps import QuickStartApp

from autograder.cli.main import main
from autograder.course_directory import load_course
from autograder.lessons.assignments import find_assignment
from autograder.records.journal import Journal
from autograder.records.model import Status
from autograder.reporting.class_results import class_results
from tests.autograder import foreign

Points = Mapping[str, float | None]


def quickstart(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The course that `nbgrader quickstart course101` makes, with the user guide's submissions."""
    monkeypatch.chdir(folder)
    QuickStartApp.clear_instance()
    QuickStartApp.launch_instance(["course101"])
    QuickStartApp.clear_instance()
    course = folder / "course101"
    shutil.copytree(foreign.USER_GUIDE / "submitted", course / "submitted")
    monkeypatch.chdir(course)
    return course


def user_guide(folder: Path) -> Path:
    """The same without what nbgrader's own commands add, which takes seconds."""
    for name in ("source", "submitted"):
        shutil.copytree(foreign.USER_GUIDE / name, folder / name)
    return folder


def points(db: str, assignment: str, student: str) -> dict[str, Points]:
    """Notebook → grade id → the points that the grader gave; None where a person has to."""
    with Gradebook(db) as gradebook:
        submission = gradebook.find_submission(assignment, student)
        return {
            notebook.name: {one.name: one.auto_score for one in notebook.grades}
            for notebook in submission.notebooks
        }


def table(path: Path) -> dict[str, dict[str, str]]:
    """The lines of an exported CSV, by student."""
    with path.open(newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def files(root: Path) -> dict[str, bytes]:
    """The records of a course, byte by byte."""
    found = (root / ".autograder" / "journal").rglob("*.json")
    return {path.name: path.read_bytes() for path in found}


@pytest.mark.exhaustive("whole runs of a course")
def test_the_course_that_nbgrader_quickstart_makes_is_graded_at_the_first_try(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    course = quickstart(tmp_path, monkeypatch)
    for command in ("grade", "export", "feedback", "report"):
        assert main([command, "ps1"]) == 0

    # As `nbgrader autograde` gave them: see the differential test below.
    first = points(f"sqlite:///{course}/gradebook.db", "ps1", "bitdiddle")
    assert first["problem1"] | {"cell-938593c4a215c6cc": None} == {
        "correct_squares": 0.0,
        "squares_invalid_input": 1.0,
        "correct_sum_of_squares": 0.0,
        "sum_of_squares_uses_squares": 0.5,
        "sum_of_squares_equation": None,
        "sum_of_squares_application": 0.0,
        "cell-938593c4a215c6cc": None,
    }
    assert first["problem2"] == {"part-a": None, "part-b": None}

    rows = table(course / "report" / "ps1.csv")
    assert (rows["bitdiddle"]["score"], rows["hacker"]["score"]) == ("1.5", "3")
    assert rows["hacker"]["problem1.correct_squares"] == "1"
    assert rows["hacker"]["problem2.part-a"] == "waits for a person"
    for student in ("bitdiddle", "hacker"):
        for name in ("problem1", "problem2"):
            assert (course / "feedback" / student / "ps1" / f"{name}.html").is_file()
            assert (course / "autograded" / student / "ps1" / f"{name}.ipynb").is_file()
    assert (course / "report" / "index.html").is_file()

    directory = load_course(course)
    found = class_results(directory, find_assignment(directory, "ps1"))
    assert [(row.student, row.status) for row in found] == [
        ("bitdiddle", "graded"),
        ("hacker", "graded"),
    ]
    exercises = Journal(directory.state).records("ps1")[0].exercises
    assert not any(one.isolated for one in exercises if not one.manual)

    before = files(course)
    capsys.readouterr()
    assert main(["grade", "ps1"]) == 0
    assert "Nothing has changed" in capsys.readouterr().err
    assert files(course) == before


CONFIG = """\
c = get_config()
c.CourseDirectory.source_directory = "master"
c.CourseDirectory.release_directory = "out"
c.CourseDirectory.submitted_directory = "in"
c.CourseDirectory.autograded_directory = "done"
c.CourseDirectory.feedback_directory = "back"
c.CourseDirectory.directory_structure = "{nbgrader_step}/{assignment_id}/{student_id}"
c.CourseDirectory.db_url = "sqlite:///grades/book.db"
c.ClearSolutions.code_stub = {"python": "pass  # yours"}
c.ClearSolutions.begin_solution_delimeter = "(("
c.ClearSolutions.end_solution_delimeter = "))"
c.ClearHiddenTests.begin_test_delimeter = "[["
c.ClearHiddenTests.end_test_delimeter = "]]"
c.IncludeHeaderFooter.header = "master/header.ipynb"
c.AssignLatePenalties.plugin_class = "half.HalfOff"
c.Autograde.exclude_overwriting = {"Week 1": ["helper.py"]}
"""
PLUGIN = """\
from nbgrader.plugins import BasePlugin

class HalfOff(BasePlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return score / 2
"""
SOLVED = "def area(r):\n    # ((\n    return PI * r * r\n    # ))"
TEST = "import helper\nassert helper.close(area(1), 3)\n# [[\nassert area(2) == 12  # hidden\n# ]]"

DATA_TEST = 'assert open("data.txt").read() == "1"'


def build_odd_course(root: Path) -> None:
    """A course in which nothing has nbgrader's usual name."""
    (root / "grades").mkdir()
    (root / "nbgrader_config.py").write_text(CONFIG)
    (root / "half.py").write_text(PLUGIN)
    master = root / "master" / "Week 1"
    foreign.write(root / "master", "header", foreign.cell("pi", "PI = 3", locked=True))
    area = [foreign.answer("area", SOLVED), foreign.test_of("circle", TEST, 4)]
    foreign.write(master, "Part one", *area, foreign.by_hand("why", "Because.", 1))
    foreign.write(master, "Part two", foreign.test_of("circle", DATA_TEST, 2))
    (master / "helper.py").write_text("raise RuntimeError('theirs is used')")
    (master / "data.txt").write_text("1")


def hand_in(root: Path, student: str, answer: str, when: str) -> None:
    """Hand in the odd course's assignment as learners got it, with this answer."""
    folder = root / "in" / "Week 1" / student
    header = foreign.cell("pi", "PI = 3", locked=True)
    visible = foreign.test_of("circle", "import helper\nassert helper.close(area(1), 3)", 4)
    cells = [header, foreign.answer("area", answer), visible]
    foreign.write(folder, "Part one", *cells, foreign.by_hand("why", "As it is round.", 1))
    foreign.write(folder, "Part two", header, foreign.test_of("circle", DATA_TEST, 2))
    (folder / "helper.py").write_text("def close(a, b):\n    return abs(a - b) < 1\n")
    (folder / "data.txt").write_text("changed")
    (folder / "timestamp.txt").write_text(when)


@pytest.mark.exhaustive("a course whose configuration changes everything")
def test_a_course_whose_configuration_changes_every_name_is_graded_the_same_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build_odd_course(tmp_path)
    hand_in(tmp_path, "ada", "def area(r):\n    return PI * r * r", "2026-01-10 12:00:00 UTC")
    hand_in(tmp_path, "bob", "def area(r):\n    return 3", "2026-01-12 12:00:00 UTC")
    hand_in(tmp_path, "cy", "def area(r):\n    pass  # yours", "2026-01-10 12:00:00 UTC")
    db = f"sqlite:///{tmp_path}/grades/book.db"
    with Gradebook(db) as gradebook:
        gradebook.add_assignment("Week 1", duedate="2026-01-11 12:00:00 UTC")
    monkeypatch.chdir(tmp_path)
    for command in ("grade", "export", "feedback", "report"):
        assert main([command, "Week 1"]) == 0

    assert points(db, "Week 1", "ada") == {
        "Part one": {"circle": 4.0, "why": None},
        "Part two": {"circle": 2.0},
    }
    assert points(db, "Week 1", "bob")["Part one"]["circle"] == 0.0
    rows = table(tmp_path / "report" / "Week 1.csv")
    assert {name: (row["status"], row["score"]) for name, row in rows.items()} == {
        "ada": ("graded", "6"),
        "bob": ("graded", "1"),  # late: half of it
        "cy": ("graded", "2"),
    }
    assert rows["cy"]["Part one.circle"] == "not attempted"
    page = (tmp_path / "back" / "Week 1" / "bob" / "Part one.html").read_text()
    assert "area" in page
    assert "12  # hidden" not in page
    assert (tmp_path / "done" / "Week 1" / "ada" / "Part two.ipynb").is_file()
    helper = (tmp_path / "done" / "Week 1" / "ada" / "helper.py").read_text()
    assert helper.startswith("def close")
    assert (tmp_path / "done" / "Week 1" / "ada" / "data.txt").read_text() == "1"
    records = Journal(load_course(tmp_path).state).records("Week 1")
    assert [note for one in records for note in one.notes if "was changed" in note] == []


@pytest.mark.exhaustive("a notebook of several is missing, or is none")
def test_a_notebook_that_is_missing_costs_only_its_own_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    course = user_guide(tmp_path)
    monkeypatch.chdir(course)
    (course / "submitted" / "hacker" / "ps1" / "problem2.ipynb").unlink()
    (course / "submitted" / "bitdiddle" / "ps1" / "problem2.ipynb").write_text("{")
    assert main(["grade", "ps1"]) == 1
    first, second = Journal(load_course(course).state).records("ps1")
    assert (first.status, first.score) == (Status.MALFORMED, 1.5)
    assert (second.status, second.score) == (Status.GRADED, 3.0)
    assert any("problem2: problem2.ipynb is not in the submission" in one for one in second.notes)
    found = points(f"sqlite:///{course}/gradebook.db", "ps1", "hacker")
    assert found["problem2"] == {"part-a": 0.0, "part-b": 0.0}


@pytest.mark.exhaustive("whole gradings")
def test_a_notebook_that_an_assignment_gets_later_is_entered_for_everybody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for number in (1, 2):
        cells = foreign.answer("a", "x = 1"), foreign.test_of("t", "assert x == 1", number)
        for folder in ("source", "submitted/ada"):
            foreign.write(tmp_path / folder / "ps1", f"p{number}", *cells)
        assert main(["grade", "ps1"]) == 0
    found = points(f"sqlite:///{tmp_path}/gradebook.db", "ps1", "ada")
    assert found == {"p1": {"t": 1.0}, "p2": {"t": 2.0}}


def test_a_bad_source_beside_a_good_one_is_told_and_the_good_one_is_graded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bad, good = tmp_path / "source" / "bad", tmp_path / "source" / "good"
    foreign.write(bad, "p", foreign.test_of("twice", "", 1), foreign.test_of("twice", "", 1))
    foreign.write(good, "p", foreign.test_of("once", "assert True", 1))
    for name in ("bad", "good"):
        folder = tmp_path / "submitted" / "ada" / name
        folder.mkdir(parents=True)
        shutil.copy(tmp_path / "source" / name / "p.ipynb", folder)
    monkeypatch.chdir(tmp_path)
    assert main(["grade"]) == 1
    said = capsys.readouterr()
    assert "Duplicate grade id: twice" in said.err
    assert "1 submission: 1 graded" in said.out
    assert points(f"sqlite:///{tmp_path}/gradebook.db", "good", "ada") == {"p": {"once": 1.0}}
    assert main(["grade", "bad"]) == 1
