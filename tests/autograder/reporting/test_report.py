"""The report and the CSV of a class: a missing judgement is never passed off as a zero."""

from __future__ import annotations

import csv
import html
import io
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from nbgrader.api import Gradebook

from autograder.course_directory import CourseDirectory
from autograder.errors import UsageError
from autograder.lessons.model import Lesson, find_lesson
from autograder.records.journal import Journal
from autograder.records.model import CheckRecord, ExerciseRecord, Status, SubmissionRecord
from autograder.records.runner import Job
from autograder.reporting import export_csv, feedback, report
from autograder.reporting.class_results import class_results
from autograder.reporting.export_csv import grades_csv, inert
from autograder.reporting.feedback import write_pages
from autograder.reporting.report import page_of, view_of
from autograder.reporting.statistics import (
    belief_measures,
    correlation,
    exercise_measures,
    section_measures,
)
from tests.autograder.classroom import (
    SLUG,
    FakeRunner,
    classroom,
    double,
    flatten,
    graded,
    hand_in,
    record,
)

LOST = Status.MALFORMED


def believing(*ids: str) -> ExerciseRecord:
    """`flatten` with one failed check for each of these misconceptions."""
    checks = tuple(CheckRecord(f"not {id_}", False, misconception=id_) for id_ in ids)
    return flatten(1.0, checks=(*checks, CheckRecord("values", True)))


def given(job: Job) -> SubmissionRecord:
    """A class of very different learners."""
    return {
        "ada": record("ada"),
        "bob": record("bob", believing("order-of-memory"), double()),
        "cleo": record("cleo", flatten(0, attempted=False), double(0)),
        "dan": record("dan", flatten(0, status=LOST), double(0, status=LOST), status=LOST),
    }[job.student]


@pytest.fixture
def course(tmp_path: Path) -> CourseDirectory:
    place_, _ = classroom(tmp_path, "ada", "bob", "cleo", "dan")
    (tmp_path / "students.csv").write_text(
        "id,first_name,last_name,email\nada,Ada,=cmd()\nbob,<b>Bob</b>,B\nzoe,Zoe,Z\n"
    )
    graded(place_, FakeRunner(given))
    return place_


@pytest.fixture
def lesson(course: CourseDirectory) -> Lesson:
    return find_lesson(course.root, SLUG)


def table(course: CourseDirectory, lesson: Lesson) -> dict[str, dict[str, str]]:
    """The CSV by student."""
    rows = csv.DictReader(io.StringIO(grades_csv(lesson, class_results(course, lesson))))
    return {row["student"]: row for row in rows}


# The CSV.


def test_the_csv_has_a_column_an_exercise(course: CourseDirectory, lesson: Lesson) -> None:
    ada = table(course, lesson)["ada"]
    assert (ada["flatten"], ada["double"], ada["score"], ada["max"]) == ("4", "2", "6", "6")
    assert (ada["status"], ada["first_name"]) == ("graded", "Ada")


def test_the_csv_names_a_reason_where_nothing_was_judged(
    course: CourseDirectory, lesson: Lesson
) -> None:
    found = table(course, lesson)
    assert found["cleo"]["flatten"] == "not attempted"
    assert found["cleo"]["double"] == "0"  # tried, and wrong
    dan = found["dan"]
    assert (dan["status"], dan["score"], dan["flatten"]) == ("malformed", "", "malformed")


def test_somebody_of_the_roster_who_handed_nothing_in_is_listed(
    course: CourseDirectory, lesson: Lesson
) -> None:
    zoe = table(course, lesson)["zoe"]
    assert (zoe["status"], zoe["score"], zoe["flatten"]) == ("not handed in", "", "")


def test_a_name_never_becomes_a_formula(course: CourseDirectory, lesson: Lesson) -> None:
    assert table(course, lesson)["ada"]["last_name"] == "'=cmd()"
    assert [inert(one) for one in ("=1", "+1", "-1", "@x", "\tx", "-", "5")] == [
        "'=1", "'+1", "'-1", "'@x", "'\tx", "-", "5",
    ]  # fmt: skip


def test_no_name_reaches_a_terminal_with_its_control_characters(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "eve\x1b]0;gotcha\x07\x9b2J"
    course, lesson = classroom(tmp_path, name)
    graded(course, FakeRunner(lambda job: record(job.student, status=Status.CRASHED)))
    export_csv.run(tmp_path, (lesson,), out=Path("-"))
    feedback.run(tmp_path, (lesson,))
    said = "".join(capsys.readouterr())
    assert "eve�]0;gotcha��2J" in said
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", said)


def test_points_of_a_person_count(course: CourseDirectory, lesson: Lesson) -> None:
    with Gradebook(course.db_url, course.course_id) as gradebook:
        gradebook.find_grade("test-flatten", SLUG, SLUG, "dan").manual_score = 3.0
        gradebook.db.commit()
    dan = table(course, lesson)["dan"]
    assert (dan["flatten"], dan["double"], dan["score"]) == ("3", "malformed", "3")


def test_a_late_submission_says_by_how_many_hours(course: CourseDirectory, lesson: Lesson) -> None:
    with Gradebook(course.db_url, course.course_id) as gradebook:
        gradebook.update_or_create_assignment(SLUG, duedate="2026-01-10 10:30:00 UTC")
    assert table(course, lesson)["ada"]["hours_late"] == "1.5"


def test_a_newer_submission_makes_the_grade_stale(course: CourseDirectory, lesson: Lesson) -> None:
    hand_in(course.root, "ada", "{}")
    assert table(course, lesson)["ada"]["status"] == "stale"


def test_a_submission_that_was_taken_away_keeps_its_grade(
    course: CourseDirectory, lesson: Lesson
) -> None:
    before = table(course, lesson)["ada"]
    shutil.rmtree(course.submitted("ada", SLUG))
    Journal(course.state).begin(SLUG, ["ada"])  # by a run that never ended
    assert table(course, lesson)["ada"] == before


def test_the_export_prints_or_writes(
    course: CourseDirectory, lesson: Lesson, capsys: pytest.CaptureFixture[str]
) -> None:
    assert export_csv.run(course.root, (lesson,), out=Path("-")) == 0
    printed = capsys.readouterr().out
    assert export_csv.run(course.root, (lesson,)) == 0
    assert (course.root / "report" / f"{SLUG}.csv").read_text() == printed


# The report.


def text_of(page: str) -> str:
    """What a reader sees of a page, on one line."""
    return " ".join(
        html.unescape(re.sub(r"<style>.*?</style>|<[^>]*>", " ", page, flags=re.S)).split()
    )


def test_the_report_counts_and_names_whom_to_look_into(
    course: CourseDirectory, lesson: Lesson
) -> None:
    found = text_of(page_of("class", [view_of(course, lesson)]))
    assert "4 handed in" in found
    assert "1 submission to look into" in found
    assert "dan malformed The file is no notebook." in found
    assert "Handed nothing in Zoe Z" in found


def test_the_report_ranks_misconceptions_and_names_the_section(
    course: CourseDirectory, lesson: Lesson
) -> None:
    found = text_of(page_of("class", [view_of(course, lesson)]))
    assert "1 “Flattening follows memory order” 33 % of the class" in found
    assert "teach again: Flattening" in found


def test_names_are_escaped(course: CourseDirectory, lesson: Lesson) -> None:
    found = page_of("<class>", [view_of(course, lesson)])
    assert "<b>Bob</b>" not in found
    assert "&lt;b&gt;Bob&lt;/b&gt;" in found
    assert "&lt;class&gt;" in found


def test_the_report_is_one_file_without_a_network(course: CourseDirectory, lesson: Lesson) -> None:
    found = page_of("class", [view_of(course, lesson)])
    assert "default-src 'none'" in found
    assert not re.search(r"(src|href)=\"(https?:)?//|<link|<script", found)
    assert 'name="viewport"' in found


def test_the_heat_map_tells_not_attempted_from_wrong_and_from_not_judged(
    course: CourseDirectory, lesson: Lesson
) -> None:
    heat = {row.student: cells for row, cells in view_of(course, lesson).heat}
    assert [one.text for one in heat["cleo"]] == ["–", "0"]
    assert [(one.step, one.title) for one in heat["dan"]] == [
        (None, "dan, flatten: not readable"),
        (None, "dan, double: not readable"),
    ]
    assert [one.step for one in heat["ada"]] == [4, 4]


@pytest.mark.parametrize(
    ("points", "step"), [(0, 0), (0.1, 1), (1.9, 1), (2.0, 2), (2.9, 2), (3.0, 3), (4.0, 4)]
)
def test_the_steps_of_the_heat_map_are_none_half_most_and_all(
    tmp_path: Path, points: float, step: int
) -> None:
    course, lesson = classroom(tmp_path, "ada")
    graded(course, FakeRunner(lambda job: record(job.student, flatten(points), double())))
    ((_, cells),) = view_of(course, lesson).heat
    assert cells[0].step == step


def test_the_command_writes_page_and_tables(
    course: CourseDirectory, lesson: Lesson, capsys: pytest.CaptureFixture[str]
) -> None:
    assert report.run(course.root, (lesson,), as_json=True) == 0
    printed = json.loads(capsys.readouterr().out)
    assert Path(printed["report"]).is_file()
    assert all(Path(one).is_file() for one in printed["tables"])
    assert printed["lessons"][0]["need_a_person"] == ["dan"]


def test_several_lessons_lead_to_the_feedback_pages_that_there_are(
    course: CourseDirectory, lesson: Lesson, capsys: pytest.CaptureFixture[str]
) -> None:
    (page,) = write_pages(course, lesson, "ada")
    out = course.root / "elsewhere" / "deep"
    assert report.run(course.root, (lesson, lesson), out=out) == 0
    found = re.findall(r'<a href="([^#"]*)">', (out / "index.html").read_text())
    assert found == [f"../../feedback/ada/{SLUG}/{SLUG}.html"] * 2
    assert (out / found[0]).resolve() == page


def test_the_numbers_say_who_needs_you(
    course: CourseDirectory, lesson: Lesson, capsys: pytest.CaptureFixture[str]
) -> None:
    assert report.run(course.root, (lesson,), as_json=True) == 0
    people = {one["student"]: one for one in json.loads(capsys.readouterr().out)["learners"]}
    assert people["dan"]["needs_you"] == [{"reason": "unreadable", "lessons": [SLUG]}]
    assert people["zoe"]["needs_you"] == [{"reason": "never handed anything in", "lessons": []}]
    assert (people["ada"]["needs_you"], people["ada"]["mean"]) == ([], 1.0)


def test_without_grades_there_is_no_report(tmp_path: Path) -> None:
    _, lesson = classroom(tmp_path)
    with pytest.raises(UsageError, match=r"(?s)nothing was graded.*`autograder grade` first"):
        report.run(tmp_path, (lesson,))


def test_the_same_class_gives_the_same_page(course: CourseDirectory, lesson: Lesson) -> None:
    assert page_of("c", [view_of(course, lesson)]) == page_of("c", [view_of(course, lesson)])


# The measures.


def test_ease_and_discrimination_of_an_exercise(lesson: Lesson) -> None:
    pairs = [(4, 2), (4, 2), (3, 2), (1, 0), (0, 0), (0, 1)]
    class_ = [record(str(i), flatten(a), double(b)) for i, (a, b) in enumerate(pairs)]
    one, other = exercise_measures(lesson, class_)
    assert (one.ease, one.full, one.judged) == (0.5, 2, 6)
    expected = float(np.corrcoef(np.array(pairs).T)[0, 1])
    assert one.discrimination == pytest.approx(expected)
    assert other.discrimination == pytest.approx(expected)


def test_a_correlation_needs_a_class_that_differs() -> None:
    assert correlation([1, 2, 3, 4], [1, 2, 3, 4]) is None
    assert correlation([1, 1, 1, 1, 1], [1, 2, 3, 4, 5]) is None
    assert correlation([1, 2, 3, 4, 5], [5, 4, 3, 2, 1]) == pytest.approx(-1)


def test_nobody_is_counted_whose_work_was_not_judged(lesson: Lesson) -> None:
    lost = record("bob", flatten(0, status=LOST), double(0, status=LOST), status=LOST)
    measure, _ = exercise_measures(lesson, [record("ada"), lost])
    assert (measure.judged, measure.ease) == (1, 1.0)


def test_a_learner_counts_once_for_a_misconception_and_a_section(lesson: Lesson) -> None:
    class_ = [
        record("ada", believing("x", "x", "y"), double()),
        record("bob", believing("x"), double()),
        record("cleo"),
    ]
    first, second = belief_measures(class_, {})
    assert (first.explanation.id, first.learners, first.share) == ("x", ("ada", "bob"), 2 / 3)
    assert second.learners == ("ada",)
    assert section_measures([first, second]) == ()
