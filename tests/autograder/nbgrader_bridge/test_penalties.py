"""Late penalties follow the due date, extensions and points by hand, and nothing is run for it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
from nbformat.v4 import new_notebook
from nbgrader.api import Gradebook
from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import AssignLatePenalties
from traitlets.config import Config

from autograder.course_directory import CourseDirectory, load_course
from autograder.lessons.model import find_lesson
from autograder.nbgrader_bridge.gradebook import GradebookReader, GradebookWriter
from autograder.nbgrader_bridge.penalties import LatePolicy, PolicyError, seconds_late
from autograder.reporting import export_csv, feedback
from autograder.reporting.feedback import write_pages
from autograder.submissions.class_list import RosterError, read_extensions
from tests.autograder.classroom import (
    SLUG,
    FakeRunner,
    answered,
    double,
    flatten,
    graded,
    hand_in,
    record,
    tiny_lesson,
)
from tests.autograder.grading.test_sync import LATE, changed, entry, strict

ROSTER = "id,first_name,extension_{}\nada,Ada,{}\nbob,Bob,\n"


def late_class(root: Path) -> CourseDirectory:
    """Two learners who came 30 hours late, graded: nothing for both."""
    course = strict(root, "ada", "bob")
    for student in ("ada", "bob"):
        hand_in(root, student, answered(), LATE)
    graded(course)
    return course


def due(course: CourseDirectory, when: str) -> None:
    changed(course, lambda book: book.update_or_create_assignment(SLUG, duedate=when))


def scores(course: CourseDirectory) -> tuple[float, float]:
    return entry(course, "ada").score, entry(course, "bob").score


def penalty_of_nbgrader(course: CourseDirectory) -> float | None:
    """What nbgrader's own step enters when it grades again."""
    config = course.config.copy()
    names = {"notebook": SLUG, "assignment": SLUG, "student": "ada", "db_url": course.db_url}
    step = AssignLatePenalties(config=config)
    step.log.setLevel("ERROR")
    step.preprocess(new_notebook(), {"nbgrader": names})
    with Gradebook(course.db_url, course.course_id) as book:
        return book.find_submission_notebook(SLUG, SLUG, "ada").late_submission_penalty


def test_a_due_date_moved_after_grading_changes_penalties_without_running_anything(
    tmp_path: Path,
) -> None:
    course = late_class(tmp_path)
    assert scores(course) == (0.0, 0.0)
    due(course, "2026-01-12 12:00:00 UTC")
    result = graded(course, runner := FakeRunner())
    assert (runner.ran, scores(course)) == ([], (6.0, 6.0))
    assert result.news == (
        f"{SLUG}: the due date, an extension or points by hand changed, and with them late "
        "penalties; nothing was run again: ada 6 → 0, bob 6 → 0",
    )
    due(course, "2026-01-10 12:00:00 UTC")
    graded(course)
    assert scores(course) == (0.0, 0.0)


def test_whoever_is_graded_again_gets_the_new_penalty_with_the_grade(tmp_path: Path) -> None:
    course = late_class(tmp_path)
    due(course, "2026-01-12 12:00:00 UTC")
    result = graded(course, regrade=True)
    assert (result.news, scores(course)) == ((), (6.0, 6.0))


def test_the_class_list_gives_one_learner_more_time(tmp_path: Path) -> None:
    course = late_class(tmp_path)
    (tmp_path / "students.csv").write_text(ROSTER.format("01", "1 day 12 hours"))
    graded(course, runner := FakeRunner())
    assert (runner.ran, scores(course)) == ([], (6.0, 0.0))
    assert entry(course, "ada").seconds_late == 0


def test_whoever_has_more_time_has_it_in_the_run_that_grades_first(tmp_path: Path) -> None:
    course = late_class(tmp_path)
    (tmp_path / "students.csv").write_text(ROSTER.format("01", "2 days"))
    changed(course, lambda book: book.remove_submission(SLUG, "ada"))
    graded(course, regrade=True)
    assert scores(course) == (6.0, 0.0)


def test_feedback_and_export_honour_an_extension(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    course, lesson = late_class(tmp_path), find_lesson(tmp_path, SLUG)
    (tmp_path / "students.csv").write_text(ROSTER.format(SLUG, "2 days"))
    graded(course)
    ada, bob = (page.read_text() for page in write_pages(course, lesson))
    assert ("came late" in ada, "came late" in bob) == (False, True)
    export_csv.run(tmp_path, (lesson,), out=Path("-"))
    lines = [line.split(",") for line in capsys.readouterr().out.splitlines()[1:]]
    assert [(line[0], line[5], line[10]) for line in lines] == [
        ("ada", "6", "0"),
        ("bob", "0", "30"),
    ]


def test_an_extension_taken_out_of_the_class_list_is_taken_back(tmp_path: Path) -> None:
    course = late_class(tmp_path)
    for cell, expected in (("2 days", 6.0), ("", 0.0)):
        (tmp_path / "students.csv").write_text(ROSTER.format("tiny", cell))
        graded(course)
        assert scores(course) == (expected, 0.0)


def test_an_extension_granted_in_the_gradebook_holds(tmp_path: Path) -> None:
    course = late_class(tmp_path)
    (tmp_path / "students.csv").write_text("id,first_name\nada,Ada\n")
    changed(course, lambda book: book.grant_extension(SLUG, "ada", days=2))
    graded(course)
    graded(course, regrade=True)
    assert scores(course) == (6.0, 0.0)


def test_an_extension_waits_for_a_due_date(tmp_path: Path) -> None:
    course = late_class(tmp_path)
    (tmp_path / "students.csv").write_text(ROSTER.format("1", "2 days"))
    changed(course, lambda book: setattr(book.find_assignment(SLUG), "duedate", None))
    graded(course)
    with Gradebook(course.db_url, course.course_id) as book:  # nbgrader fails on the one alone
        assert book.find_submission(SLUG, "ada").total_seconds_late == 0
    due(course, "2026-01-10 12:00:00 UTC")
    graded(course)
    assert scores(course) == (6.0, 0.0)


def test_an_extension_in_a_gradebook_without_due_date_stops_nothing(tmp_path: Path) -> None:
    course = late_class(tmp_path)
    changed(course, lambda book: book.grant_extension(SLUG, "ada", days=2))
    changed(course, lambda book: setattr(book.find_assignment(SLUG), "duedate", None))
    assert graded(course).trouble is None
    assert scores(course) == (6.0, 6.0)


@pytest.mark.parametrize("by_hand", [1.0, 4.0])
def test_points_by_hand_come_before_the_penalty_as_in_nbgrader(
    tmp_path: Path, by_hand: float
) -> None:
    course = late_class(tmp_path)

    def mark(book: Gradebook) -> None:
        book.find_grade("test-flatten", SLUG, SLUG, "ada").manual_score = by_hand

    changed(course, mark)
    theirs = penalty_of_nbgrader(course)
    changed(course, lambda book: setattr(
        book.find_submission_notebook(SLUG, SLUG, "ada"), "late_submission_penalty", 0.25
    ))  # fmt: skip
    graded(course)
    assert (entry(course).penalty, theirs) == (by_hand + 2.0, by_hand + 2.0)


def test_a_penalty_of_before_is_told_and_no_learner_reads_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    course, lesson = late_class(tmp_path), find_lesson(tmp_path, SLUG)
    config = "c = get_config()\nc.LateSubmissionPlugin.penalty_method = 'zero'\n"
    (tmp_path / "nbgrader_config.py").write_text(config)
    changed(course, lambda book: book.grant_extension(SLUG, "ada", days=2))
    assert feedback.run(tmp_path, (lesson,)) == 1
    printed = capsys.readouterr().err
    assert f"run `autograder grade {SLUG}`: ada\n" in printed
    assert [path.name for path in (tmp_path / "feedback").iterdir()] == ["bob"]


@pytest.mark.parametrize(
    ("cell", "hours"),
    [("2 days", 48), ("1 week", 168), ("1d 12h", 36), ("90 min", 1.5), ("0.5 hours", 0.5)],
)
def test_an_extension_is_a_number_and_a_unit(tmp_path: Path, cell: str, hours: float) -> None:
    (tmp_path / "students.csv").write_text(ROSTER.format("tiny", cell))
    found = read_extensions(tmp_path / "students.csv", [SLUG])
    assert found == {SLUG: {"ada": timedelta(hours=hours), "bob": None}}


@pytest.mark.parametrize(
    ("column", "cell", "message"),
    [
        ("1", "soon", "the extension_1 of ada is no span of time: 'soon'"),
        ("1", "2", "the extension_1 of ada is no span of time: '2'"),
        ("1", "-2 days", "the extension_1 of ada is no span of time: '-2 days'"),
        ("1", f"{10**40} weeks", "the extension_1 of ada is no span of time"),
        ("tinny", "2 days", "the column 'extension_tinny' names no lesson"),
    ],
)
def test_a_slip_in_the_class_list_is_told_and_stops_no_grading(
    tmp_path: Path, column: str, cell: str, message: str
) -> None:
    course = strict(tmp_path, "ada")
    (tmp_path / "students.csv").write_text(ROSTER.format(column, cell))
    result = graded(course)
    assert isinstance(result.trouble, RosterError)
    assert message in str(result.trouble)
    assert [one.score for one in result.records] == [6.0]
    (tmp_path / "students.csv").write_text(ROSTER.format("1", "2 days"))
    graded(course, runner := FakeRunner())
    assert (runner.ran, entry(course).score) == ([], 6.0)


def test_a_class_list_in_another_encoding_stops_no_grading(tmp_path: Path) -> None:
    course = strict(tmp_path, "ada")
    (tmp_path / "students.csv").write_bytes("id,first_name\nada,Zoë\n".encode("latin-1"))
    result = graded(course)
    assert "Save it as CSV in UTF-8" in str(result.trouble)
    assert [one.score for one in result.records] == [6.0]


BROKEN = """
from nbgrader.plugins import LateSubmissionPlugin
class Mine(LateSubmissionPlugin):
    def late_submission_penalty(self, student_id, score, total_seconds_late):
        return 1 / 0
c = get_config()
c.AssignLatePenalties.plugin_class = Mine
"""


def test_a_plugin_that_fails_is_told_and_stops_no_grading(tmp_path: Path) -> None:
    course = strict(tmp_path, "ada", "bob")
    (tmp_path / "nbgrader_config.py").write_text(BROKEN)
    hand_in(tmp_path, "ada", answered(), LATE)
    result = graded(load_course(tmp_path))
    said = "the plugin for late penalties failed for ada, late by 1.2 days: ZeroDivisionError"
    assert said in str(result.trouble)
    assert [one.score for one in result.records] == [6.0, 6.0]
    (tmp_path / "nbgrader_config.py").unlink()
    assert graded(course, runner := FakeRunner()).trouble is None
    assert (runner.ran, scores(course)) == ([], (0.0, 6.0))


def test_a_time_that_the_plugin_cannot_take_keeps_nobody_elses_grade_out(tmp_path: Path) -> None:
    course = strict(tmp_path, "bob")
    failing = BROKEN.replace("1 / 0", "1 / 0 if student_id == 'aaron' else 1.0")
    (tmp_path / "nbgrader_config.py").write_text(failing)
    for student in ("aaron", "bob"):
        hand_in(tmp_path, student, answered(), LATE)
    for _ in range(2):
        result = graded(load_course(tmp_path))
        assert "failed for aaron" in str(result.trouble)
        assert entry(course, "bob").score == 6.0 - 1.0
        with GradebookReader(course) as reader:
            assert reader.entries(tiny_lesson()).keys() == {"bob"}


class Remembers(LateSubmissionPlugin):  # type: ignore[misc]
    """Takes off nothing, and keeps what it was asked."""

    asked: ClassVar[list[tuple[str, float, float]]] = []

    def late_submission_penalty(self, student_id: str, score: float, late: float) -> float:
        self.asked.append((student_id, score, late))
        return 0.0


def test_whoever_reads_entries_asks_the_plugin_about_each_learners_own_points(
    tmp_path: Path,
) -> None:
    course = strict(tmp_path, "ada")
    hand_in(tmp_path, "ada", answered(), LATE)
    graded(course, FakeRunner(lambda job: record("ada", flatten(0.0), double(1.0))))
    course.config.AssignLatePenalties.plugin_class = Remembers
    Remembers.asked.clear()
    with GradebookReader(course) as reader:
        reader.entries(tiny_lesson())
    assert Remembers.asked == [("ada", 1.0, 30 * 3600.0)]


# The policy alone.


class Asks(LateSubmissionPlugin):  # type: ignore[misc]
    """Takes off what the learner's name says."""

    def late_submission_penalty(self, student_id: str, score: float, late: float) -> Any:
        if student_id == "echo":
            return score / late
        return {"none": None, "words": "half"}.get(student_id, student_id)


@pytest.fixture
def policy() -> LatePolicy:
    config = Config()
    config.AssignLatePenalties.plugin_class = Asks
    return LatePolicy(config)


@pytest.mark.parametrize(
    ("asked", "taken"),
    [("1.5", 1.5), ("0", 0.0), ("-1", 0.0), ("6", 6.0), ("6.5", 6.0), ("none", None)],
)
def test_a_penalty_lies_between_nothing_and_all_points(
    policy: LatePolicy, asked: str, taken: float | None
) -> None:
    assert policy.penalty(asked, 6.0, 0.1) == taken


def test_the_plugin_hears_points_and_seconds(policy: LatePolicy) -> None:
    assert policy.penalty("echo", 6.0, 4.0) == 1.5


@pytest.mark.parametrize("seconds", [0.0, -1.0])
def test_who_is_in_time_is_asked_for_nothing(policy: LatePolicy, seconds: float) -> None:
    assert policy.penalty("words", 6.0, seconds) is None


def test_a_plugin_that_gives_no_number_is_named_with_its_remedy(policy: LatePolicy) -> None:
    with pytest.raises(PolicyError) as caught:
        policy.penalty("words", 6.0, 1.0)
    assert caught.value.cause == (
        "the plugin for late penalties failed for words, late by 0.0 days: ValueError: could not "
        "convert string to float: 'half'"
    )
    assert caught.value.place == "nbgrader_config.py"
    assert caught.value.remedy == (
        "Mend AssignLatePenalties.plugin_class or its settings, then run `autograder grade` "
        "again: what was graded is in the journal."
    )


def test_a_plugin_that_cannot_be_imported_is_named_at_once() -> None:
    config = Config()
    config.AssignLatePenalties.plugin_class = "no_such_module.Policy"
    with pytest.raises(PolicyError, match=r"late penalties failed: TraitError: .*no_such_mod"):
        LatePolicy(config)


def test_lateness_is_nbgraders_own_where_there_is_a_due_date() -> None:
    late = SimpleNamespace(assignment=SimpleNamespace(duedate="then"), total_seconds_late=90)
    assert seconds_late(late) == 90.0
    late.assignment.duedate = None
    assert seconds_late(late) == 0.0


class TakesAPoint(LateSubmissionPlugin):  # type: ignore[misc]
    """Takes a point off bob, and two off whoever else is late."""

    def late_submission_penalty(self, student_id: str, score: float, late: float) -> float:
        return 1.0 if student_id == "bob" else 2.0


def test_a_penalty_is_entered_from_the_first_second_on_for_whom_the_plugin_names(
    tmp_path: Path,
) -> None:
    course = strict(tmp_path, "ada", "bob", "cleo")
    course.config.AssignLatePenalties.plugin_class = TakesAPoint
    lesson = find_lesson(course.root, SLUG)
    with GradebookWriter(course) as writer:
        for student, second in (("ada", "12:00:01"), ("bob", "12:00:01"), ("cleo", "12:00:00")):
            writer.write(record(student, submitted_at=f"2026-01-10T{second}+00:00"), lesson)
        found = writer.entries(tiny_lesson())
    assert {name: one.penalty for name, one in found.items()} == {"ada": 2, "bob": 1, "cleo": 0}


def test_whoever_is_left_out_keeps_the_penalty_and_nobody_after_them_does(tmp_path: Path) -> None:
    course = late_class(tmp_path)
    due(course, "2026-01-12 18:00:00 UTC")
    with GradebookWriter(course) as writer:
        (change,) = writer.penalise(tiny_lesson(), leave=["ada"], failed=[])
    assert (change.student, scores(course)) == ("bob", (0.0, 6.0))
