"""nbgrader's task cells: their points count wherever points do, and wait for a person."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from autograder.cli import main
from autograder.course_directory import CourseDirectory, load_course
from autograder.lessons.lint.lesson import lint_lesson
from autograder.lessons.model import find_lesson
from autograder.nbgrader_bridge.gradebook import GradebookWriter, ManualMark
from autograder.records.journal import Journal
from autograder.records.runner import Job, task_record
from autograder.reporting.class_results import class_results
from autograder.reporting.feedback import write_pages
from autograder.runners.nbgrader import StockRunner
from tests.autograder import tiny
from tests.autograder.classroom import SLUG, graded, hand_in
from tests.autograder.engine.exam import engine
from tests.pictures import DOT

TASK = """\
## Plot something

Plot what you like, and say why.

=== BEGIN MARK SCHEME ===

- 4 points: a plot.

=== END MARK SCHEME ==="""
WORK = "I like [this](x): it is **red**."


def task_cell() -> dict[str, Any]:
    about = {"grade": False, "solution": False, "task": True, "locked": True, "points": 10}
    about |= {"grade_id": "plot", "schema_version": 3}
    return {**tiny.text("plot", TASK), "metadata": {"nbgrader": about}}


def source() -> dict[str, Any]:
    found = tiny.notebook()
    found["cells"][-1:-1] = [task_cell()]
    return found


def submission(*own: dict[str, Any]) -> dict[str, Any]:
    """The source's own solution, with these cells below the task."""
    found = source()
    found["cells"][-1:-1] = own
    return found


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> CourseDirectory:
    """Ada did the task, Bob did not; both solved the rest."""
    root = tiny.build(tmp_path_factory.mktemp("tasks"))
    tiny.write(root, source())
    own = tiny.text("own", WORK)
    own["attachments"] = {"plot.png": {"image/png": DOT}}
    hand_in(root, "ada", submission(own, tiny.code("own-2", "x = 1")), "2026-01-10 12:00:00 UTC")
    hand_in(root, "bob", submission(), "2026-01-10 12:00:00 UTC")
    result = graded(load_course(root), engine())  # type: ignore[arg-type]
    assert result.trouble is None
    return load_course(root)


@pytest.fixture
def printed(course: CourseDirectory, capsys: pytest.CaptureFixture[str]) -> Any:
    """What a command prints, and what it says besides."""

    def run(*words: str) -> tuple[str, str]:
        main.main([*words, "--course", str(course.root)])
        return capsys.readouterr()

    return run


def give(course: CourseDirectory, student: str, points: float) -> None:
    with GradebookWriter(course) as gradebook:
        lesson = find_lesson(course.root, SLUG)
        gradebook.give(lesson, lesson.exercise("plot"), {student: ManualMark(points, "Nice.")})


def test_no_heading_of_a_scheme_is_the_title(tmp_path: Path) -> None:
    found = source()
    scheme = "=== BEGIN MARK SCHEME ===\n## Expected: 4711 bytes\n=== END MARK SCHEME ==="
    (cell,) = (one for one in found["cells"] if one["id"] == "plot")
    cell["source"] = f"How many bytes?\n\n{scheme}"
    folder = tmp_path / "source" / SLUG
    folder.mkdir(parents=True)
    (folder / f"{SLUG}.ipynb").write_text(json.dumps(found))
    assert "4711" not in find_lesson(tmp_path, SLUG).exercise("plot").title


def test_it_is_an_exercise_whose_scheme_is_not_shown(course: CourseDirectory) -> None:
    task = find_lesson(course.root, SLUG).exercise("plot")
    assert (task.points, task.manual, task.is_task, task.title) == (
        10,
        True,
        True,
        "Plot something",
    )
    assert task.task.strip().endswith("say why.")
    assert find_lesson(course.root, SLUG).points == 16


def test_no_lesson_of_ours_has_one(course: CourseDirectory) -> None:
    found = lint_lesson(course.root, find_lesson(course.root, SLUG))
    assert any("task cell of nbgrader" in one.cause for one in found)


def test_it_always_waits_for_a_person(course: CourseDirectory) -> None:
    for record in Journal(course.state).records(SLUG):
        mine = record.exercise("plot")
        assert mine is not None
        assert (mine.manual, mine.attempted, mine.score, mine.max) == (True, True, 0.0, 10.0)
        assert (record.score, record.max) == (6.0, 16.0)


def test_gradebook_and_journal_agree_at_once(course: CourseDirectory) -> None:
    lesson = find_lesson(course.root, SLUG)
    assert [row.stale for row in class_results(course, lesson)] == [False, False]


def test_the_page_has_the_learners_work_and_not_the_scheme(course: CourseDirectory) -> None:
    (path,) = write_pages(course, find_lesson(course.root, SLUG), "ada")
    page = path.read_text()
    assert "10 of these points are given by a person" in page
    assert "I like [this](x): it is **red**.\n\nx = 1" in page
    assert f'src="data:image/png;base64,{DOT}"' in page
    assert "MARK SCHEME" not in page
    assert "a plot." not in page


def test_a_sheet_has_the_work_and_the_page_beside_it_the_scheme(
    course: CourseDirectory, printed: Any
) -> None:
    printed("export", "--questions")
    sheet = (course.report / "questions" / f"{SLUG}-plot.csv").read_text("utf-8-sig")
    page = (course.report / "questions" / f"{SLUG}-plot.html").read_text()
    assert WORK in sheet
    assert "4 points: a plot." in page
    assert f'src="data:image/png;base64,{DOT}"' in page


def test_points_are_alike_in_table_export_moodle_and_canvas(
    course: CourseDirectory, printed: Any
) -> None:
    table, _ = printed("grade", "1")
    lines = [line.split() for line in table.splitlines()]
    assert lines[0] == ["student", "lesson", "status", "score", "max", "waiting", "seconds"]
    assert lines[1][3:6] == ["6", "16", "10"]
    assert "to be read by a person: 2 (20 points)" in table

    give(course, "ada", 9.5)
    table, _ = printed("grade", "1")
    lines = [line.split() for line in table.splitlines()]
    assert (lines[1][3:5], lines[2][3:6]) == (["15.5", "16"], ["6", "16", "10"])
    assert "to be read by a person: 1 (10 points)" in table
    (ada, bob) = json.loads(printed("grade", "1", "--json")[0])
    assert (ada["score"], ada["max"], ada["waiting"]) == (15.5, 16, 0)
    assert (bob["score"], bob["max"], bob["waiting"]) == (6, 16, 10)

    csv, _ = printed("export", "1", "--out", "-")
    assert ",graded,15.5,16,4,2,9.5," in csv
    assert ",graded,6,16,4,2,waits for a person," in csv
    moodle, said = printed("export", "1", "--format", "moodle", "--out", "-")
    assert "graded,15.5,16,-" in moodle
    assert f"{SLUG}: not all points yet: bob: plot to be read" in said
    canvas, _ = printed("export", "1", "--format", "canvas", "--out", "-")
    assert "Points Possible,,,,,16" in canvas
    assert ",ada,,15.5" in canvas


@pytest.mark.exhaustive("stock nbgrader grades; its points come beside the engine's")
def test_stock_nbgrader_grades_a_notebook_with_a_task(tmp_path: Path) -> None:
    root = _course(tmp_path)
    folder = hand_in(root, "ada", submission())
    job = Job("ada", find_lesson(root, SLUG), folder / f"{SLUG}.ipynb", folder)
    (outcome,) = StockRunner(jobs=1).run_many([job])
    assert outcome.record.exercise("plot") == task_record(job.lesson.exercise("plot"))


def _course(root: Path) -> Path:
    tiny.build(root)
    tiny.write(root, source())
    return root
