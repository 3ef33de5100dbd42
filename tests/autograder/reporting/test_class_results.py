"""Nobody is lost between journal and gradebook: points count wherever they are known."""

from __future__ import annotations

import csv
import html
import io
import json
import re
import warnings
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from nbgrader.apps.api import NbGraderAPI

from autograder.cli import main
from autograder.course_directory import CourseDirectory
from autograder.lessons.model import Lesson, find_lesson
from autograder.nbgrader_bridge.gradebook import GradebookWriter
from autograder.nbgrader_bridge.gradebook_entry import FROM_GRADEBOOK
from autograder.records.journal import Journal
from autograder.reporting import feedback, report
from autograder.reporting.class_results import WAITING, LearnerResult, class_results
from autograder.reporting.export_csv import grades_csv
from autograder.reporting.report import page_of, view_of
from tests.autograder.classroom import (
    SLUG,
    FakeRunner,
    answered,
    classroom,
    double,
    flatten,
    graded,
    hand_in,
    record,
    tiny_lesson,
)
from tests.autograder.grading.test_sync import changed, graded_while_locked

Captured = pytest.CaptureFixture[str]


def forget(course: CourseDirectory, student: str) -> None:
    """Lose the journal's entry."""
    (Journal(course.state).root / SLUG / f"{student}.json").unlink()


@pytest.fixture
def course(tmp_path: Path) -> CourseDirectory:
    """Ada is known to the gradebook alone, bob to the journal too; eve waits."""
    found, _ = classroom(tmp_path, "ada", "bob")
    (tmp_path / "students.csv").write_text("id,first_name\nada,Ada\nbob,Bob\nzoe,Zoe\n")
    graded(found, FakeRunner(lambda job: record(job.student, flatten(2.5), double())))
    forget(found, "ada")
    hand_in(tmp_path, "eve", answered())
    return found


@pytest.fixture
def lesson(course: CourseDirectory) -> Lesson:
    return find_lesson(course.root, SLUG)


def row_of(course: CourseDirectory, student: str) -> LearnerResult:
    rows = {row.student: row for row in class_results(course, find_lesson(course.root, SLUG))}
    return rows[student]


def table(course: CourseDirectory, lesson: Lesson) -> dict[str, dict[str, str]]:
    """The CSV by student."""
    rows = csv.DictReader(io.StringIO(grades_csv(lesson, class_results(course, lesson))))
    return {row["student"]: row for row in rows}


def text_of(page: str) -> str:
    """What a reader sees of a page, on one line."""
    bare = re.sub(r"<style>.*?</style>|<[^>]*>", " ", page, flags=re.S)
    return " ".join(html.unescape(bare).split())


def test_points_that_only_the_gradebook_knows_are_exported(
    course: CourseDirectory, lesson: Lesson
) -> None:
    ada = table(course, lesson)["ada"]
    assert (ada["status"], ada["score"], ada["flatten"]) == ("graded", "4.5", "2.5")
    assert ada["submitted_at"] == table(course, lesson)["bob"]["submitted_at"]


@pytest.mark.parametrize("form", ["csv", "moodle", "canvas"])
def test_every_export_says_whose_points_cannot_be_explained(
    course: CourseDirectory, form: str, capsys: Captured
) -> None:
    assert main.main(["export", "--course", str(course.root), "--format", form]) == 0
    printed = capsys.readouterr().err
    assert f"{SLUG}: points from the gradebook alone, checks and misconceptions" in printed
    assert printed.splitlines()[0].endswith(": ada")


def test_feedback_gives_those_points_and_says_what_is_missing(
    course: CourseDirectory, lesson: Lesson, capsys: Captured
) -> None:
    assert feedback.run(course.root, (lesson,), student="ada") == 0
    page = course.feedback("ada", SLUG) / f"{SLUG}.html"
    found = text_of(page.read_text())
    assert "4.5 of 6 points" in found
    assert FROM_GRADEBOOK in found


def test_a_class_that_is_in_the_gradebook_alone_gets_feedback(
    course: CourseDirectory, lesson: Lesson, capsys: Captured
) -> None:
    forget(course, "bob")
    assert feedback.run(course.root, (lesson,)) == 0
    assert f"{SLUG}: 2 pages\n" in capsys.readouterr().out


def test_the_report_counts_them_and_names_them(
    course: CourseDirectory, lesson: Lesson, capsys: Captured
) -> None:
    found = text_of(page_of("class", [view_of(course, lesson)]))
    assert "3 handed in" in found
    assert (
        "checks and misconceptions are not on record, so nothing below explains them: Ada" in found
    )
    report.run(course.root, (lesson,), as_json=True)
    (numbers,) = json.loads(capsys.readouterr().out)["lessons"]
    assert (numbers["from_gradebook_alone"], numbers["mean"]) == (["ada"], 0.75)


def test_a_submission_from_outside_the_class_list_waits(
    course: CourseDirectory, lesson: Lesson
) -> None:
    eve = table(course, lesson)["eve"]
    assert (eve["status"], eve["score"], eve["flatten"]) == (WAITING, "", "")
    assert table(course, lesson)["zoe"]["status"] == "not handed in"


def test_the_report_lists_who_waits_and_who_is_absent(
    course: CourseDirectory, lesson: Lesson
) -> None:
    found = text_of(page_of("class", [view_of(course, lesson)]))
    assert "eve handed in, not yet graded It is not graded yet: run grade ." in found
    assert found.endswith("Handed nothing in Zoe")


def test_a_submission_that_the_gradebook_knows_without_points_waits(
    course: CourseDirectory, lesson: Lesson
) -> None:
    def ungraded(book: Gradebook) -> None:
        for cell in ("test-flatten", "test-double"):
            book.find_grade(cell, SLUG, SLUG, "ada").auto_score = None

    changed(course, ungraded)
    assert (row_of(course, "ada").status, row_of(course, "ada").score) == (WAITING, None)


def test_points_by_hand_alone_count(course: CourseDirectory) -> None:
    def by_hand(book: Gradebook) -> None:
        flat = book.find_grade("test-flatten", SLUG, SLUG, "ada")
        flat.auto_score, flat.manual_score = None, 3.5

    changed(course, by_hand)
    ada = row_of(course, "ada")
    assert (ada.score, ada.points_of("flatten", "test-flatten")) == (5.5, 3.5)


def test_extra_points_count_in_feedback_as_they_do_in_the_gradebook(
    course: CourseDirectory, lesson: Lesson
) -> None:
    def more(book: Gradebook) -> None:
        book.find_grade("test-double", SLUG, SLUG, "bob").extra_credit = 1.0

    changed(course, more)
    (page,) = feedback.write_pages(course, lesson, "bob")
    assert "5.5 of 6 points" in text_of(page.read_text())
    assert (row_of(course, "bob").score, table(course, lesson)["bob"]["double"]) == (5.5, "3")


def test_points_by_hand_count_in_the_reports_numbers(
    course: CourseDirectory, lesson: Lesson
) -> None:
    def by_hand(book: Gradebook) -> None:
        for student in ("ada", "bob"):
            grade = book.find_grade("test-flatten", SLUG, SLUG, student)
            grade.manual_score = 4.0

    changed(course, by_hand)
    view = view_of(course, lesson)
    assert view.centre == (1.0, 1.0)
    assert [one.ease for one in view.measures] == [1.0, 1.0]


def test_a_grade_that_did_not_reach_the_gradebook_is_stale_everywhere(
    course: CourseDirectory, lesson: Lesson, capsys: Captured
) -> None:
    hand_in(course.root, "bob", answered(flatten="def flatten(x): ..."))
    graded_while_locked(course, FakeRunner(lambda job: record(job.student, flatten(0), double())))
    assert row_of(course, "bob").status == "stale"
    assert "run `grade` again" in row_of(course, "bob").reasons[0]
    assert feedback.run(course.root, (lesson,), student="bob") == 1
    assert f"run `autograder grade {SLUG}`: bob" in capsys.readouterr().err
    assert not course.feedback("bob", SLUG).exists()
    graded(course)
    assert row_of(course, "bob").status == "graded"


def test_whoever_gets_no_page_amid_a_regrade_is_named(
    course: CourseDirectory, lesson: Lesson, capsys: Captured
) -> None:
    Journal(course.state).begin(SLUG, ["bob"])
    with GradebookWriter(course) as writer:
        writer.mark_stale(SLUG, ["bob"])
    assert row_of(course, "bob").unfinished
    assert feedback.run(course.root, (lesson,), student="bob") == 1
    assert f"run `autograder grade {SLUG}`: bob" in capsys.readouterr().err


@pytest.mark.exhaustive("what stock nbgrader graded")
def test_what_stock_nbgrader_graded_is_exported_and_explained_as_far_as_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    course, lesson = classroom(tmp_path, "ada")
    wrong = {"flatten": "def flatten(x):\n    return x.clone().reshape(-1)"}
    hand_in(tmp_path, "bob", answered(**wrong))
    hand_in(tmp_path, "cleo", {**answered(), "cells": _untouched()})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nbgrader's own, of SQLAlchemy
        monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))
        for student in ("ada", "bob", "cleo"):
            assert NbGraderAPI(config=course.config).autograde(SLUG, student)["success"]
    found = table(course, lesson)
    with GradebookWriter(course) as writer:
        scores = {name: one.score for name, one in writer.entries(tiny_lesson()).items()}
    assert {name: float(row["score"]) for name, row in found.items()} == pytest.approx(
        scores, abs=0.01
    )
    assert (found["ada"]["score"], found["cleo"]["flatten"]) == ("6", "not attempted")
    assert 0 < scores["bob"] < 6
    assert len(feedback.write_pages(course, lesson)) == 3


def _untouched() -> list[object]:
    """The cells of a learner who left both exercises as they were."""
    stub = "# YOUR CODE HERE\nraise NotImplementedError()"
    cells = answered()["cells"]
    for cell in cells:
        source, begin, _ = cell["source"].partition("    ### BEGIN SOLUTION")
        if begin:
            cell["source"] = source + "    " + stub.replace("\n", "\n    ")
    return cells
