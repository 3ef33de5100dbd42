"""A question in words goes all the way: released, handed in, run, read by a person, given back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook

from autograder.answer_bank.gate import lesson_gate
from autograder.course_directory import CourseDirectory, CourseDirectoryError, load_course
from autograder.errors import ReleaseError
from autograder.lessons.lint.lesson import lint_lesson
from autograder.lessons.model import Lesson, find_lesson, read_lesson
from autograder.lessons.release import build_editions, build_release, refuse_leaks
from autograder.lms import LMS
from autograder.nbgrader_bridge.gradebook import GradebookWriter
from autograder.records.journal import Journal
from autograder.records.model import ExerciseRecord
from autograder.records.runner import Runner
from autograder.reporting import report
from autograder.reporting.class_results import class_results
from autograder.reporting.export_csv import grades_csv
from autograder.reporting.feedback import write_pages
from autograder.reporting.lms import grades
from autograder.reporting.tables import summary
from autograder.runners.nbgrader import StockRunner
from autograder.simulation.simulate import simulate
from tests.autograder import tiny
from tests.autograder.classroom import SLUG, answered, empty_gradebook, graded, hand_in, tiny_lesson
from tests.autograder.engine.exam import engine
from tests.exhaustive import sampled
from tests.pictures import DOT

SECRET_PICTURE = "QUJD" * 100
WORDS = "The caller's own tensor changes.\n\n<b>Everybody</b> who holds it sees that."
RUNNERS: dict[str, Callable[[], Runner]] = {"engine": engine, "stock": lambda: StockRunner(jobs=1)}


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    course = tiny.build(tmp_path_factory.mktemp("course"))
    tiny.write(course, tiny.notebook_with_words())
    return course


@pytest.fixture(scope="module")
def lesson(course: Path) -> Lesson:
    return find_lesson(course, "1")


@pytest.fixture(scope="module")
def released(course: Path, lesson: Lesson) -> dict[str, bytes]:
    return build_release(course, [lesson])


def submission(released: dict[str, bytes], why: str | None) -> dict[str, Any]:
    """The released notebook, solved, with these words; None leaves the stub."""
    notebook: dict[str, Any] = json.loads(released[f"{SLUG}/{SLUG}.ipynb"])
    solved = {cell["id"]: cell["source"] for cell in answered()["cells"]}
    for cell in notebook["cells"]:
        if cell["id"] in ("flatten", "double"):
            cell["source"] = solved[cell["id"]]
        elif cell["id"] == "why" and why is not None:
            cell["source"] = why
    return notebook


@pytest.fixture(
    scope="module", params=sampled(RUNNERS, "engine", why="questions in words with stock nbgrader")
)
def classes(
    request: pytest.FixtureRequest,
    released: dict[str, bytes],
    tmp_path_factory: pytest.TempPathFactory,
) -> CourseDirectory:
    """Ada has written something, Bob has not; graded by the engine or by stock nbgrader."""
    root = tiny.build(tmp_path_factory.mktemp(request.param))
    tiny.write(root, tiny.notebook_with_words())
    (root / "gradebook.db").write_bytes(empty_gradebook())
    hand_in(root, "ada", submission(released, WORDS), "2026-01-10 12:00:00 UTC")
    hand_in(root, "bob", submission(released, None), "2026-01-10 12:00:00 UTC")
    assert graded(load_course(root), RUNNERS[request.param]()).trouble is None  # type: ignore[arg-type]
    return load_course(root)


def why_of(course: CourseDirectory, student: str) -> ExerciseRecord:
    entry = Journal(course.state).read(SLUG, student)
    assert entry is not None
    found = entry.record.exercise("why")
    assert found is not None
    return found


def give(course: CourseDirectory, points: float, comment: str) -> None:
    """What a teacher does in formgrader."""
    with Gradebook(course.db_url, course.course_id) as gradebook:
        grade = gradebook.find_grade("why", SLUG, SLUG, "ada")
        grade.manual_score, grade.needs_manual_grade = points, False
        gradebook.find_comment("why", SLUG, SLUG, "ada").manual_comment = comment
        gradebook.db.commit()


# The source and its editions.


def test_it_is_an_exercise_that_a_person_grades(course: Path, lesson: Lesson) -> None:
    why = lesson.exercise("why")
    assert (why.manual, why.words, why.points, why.section) == (True, True, 3, "doubling")
    assert (lesson.points, why.stub) == (9, "YOUR ANSWER HERE")
    assert lint_lesson(course, lesson) == ()


def test_the_class_edition_has_the_question_and_no_model_answer(
    lesson: Lesson, released: dict[str, bytes]
) -> None:
    content = released[f"{SLUG}/{SLUG}.ipynb"]
    cells = {one["id"]: one for one in json.loads(content)["cells"]}
    assert "".join(cells["why"]["source"]) == "YOUR ANSWER HERE"
    assert "Why does it matter?" in "".join(cells["why-task"]["source"])
    assert b"Marking" not in content
    refuse_leaks(lesson, content)


def test_the_self_study_edition_folds_the_model_answer_with_its_marking(
    released: dict[str, bytes],
) -> None:
    notebook = json.loads(released[f"self-study/{SLUG}.ipynb"])
    cells = {one["id"]: "".join(one["source"]) for one in notebook["cells"]}
    assert cells["why"] == "*Your answer: double-click here and write.*"
    assert cells["why-solution"].startswith("<details><summary>A model answer to why")
    assert "writes into the storage" in cells["why-solution"]
    assert "**Marking**" in cells["why-solution"]
    assert "SOLUTION" not in "".join(cells.values())
    assert 'by_hand={\n        "why": 3,\n    },' in cells["your-progress"]


@pytest.mark.parametrize(
    ("model", "points", "cause"),
    [
        ("YOUR ANSWER HERE", 3, "it has no model answer with a marking scheme"),
        ("### BEGIN SOLUTION\nBecause.\n### END SOLUTION", 3, "no model answer with a marking"),
        ("### BEGIN SOLUTION\nBecause.", 3, "is never ended"),
        (tiny.MODEL, 0, "it gives no points"),
        (f"Think hard.\n{tiny.MODEL}", 3, "a learner would find more than the stub"),
    ],
)
def test_what_is_missing_in_the_source_is_named(
    tmp_path: Path, model: str, points: float, cause: str
) -> None:
    notebook = tiny.notebook()
    notebook["cells"][-1:-1] = tiny.words("why", model, points)
    course = tiny.build(tmp_path)
    found = lint_lesson(course, read_lesson(tiny.write(course, notebook)))
    assert [cause in one.cause for one in found] == [True]


def test_it_needs_a_task_cell_that_says_how_long_it_takes(tmp_path: Path) -> None:
    notebook = tiny.notebook()
    notebook["cells"][-1:-1] = tiny.words("why")[1:]
    course = tiny.build(tmp_path)
    (found,) = lint_lesson(course, read_lesson(tiny.write(course, notebook)))
    assert found.cause == "it has no task cell"


def test_the_gate_asks_no_answers_for_it(course: Path, lesson: Lesson) -> None:
    assert {case.exercise.name for case in lesson_gate(course, lesson).cases} == {
        "flatten",
        "double",
    }


def test_a_simulated_class_writes_about_it(course: Path, lesson: Lesson, tmp_path: Path) -> None:
    made = simulate(course, [lesson], out=tmp_path / "out", students=40, seed=1)
    sources = {one.answers["why"] for one in made.submissions}
    assert sources == {"the model answer", "its first sentence", "stub"}
    for one in made.submissions:
        path = tmp_path / "out/submitted" / one.student / SLUG / f"{SLUG}.ipynb"
        cells = {c["id"]: "".join(c["source"]) for c in json.loads(path.read_text())["cells"]}
        assert "Marking" not in cells["why"]
        assert (
            cells["why"]
            == {
                "the model answer": "Doubling in place writes into the storage of the argument. "
                "Whoever still holds it sees the write.",
                "its first sentence": "Doubling in place writes into the storage of the argument.",
                "stub": "YOUR ANSWER HERE",
            }[one.answers["why"]]
        )


# Graded, by both runners.


def test_words_wait_for_a_person_and_a_stub_is_not_attempted(classes: CourseDirectory) -> None:
    ada, bob = why_of(classes, "ada"), why_of(classes, "bob")
    assert (ada.manual, ada.attempted, ada.score, ada.max) == (True, True, 0.0, 3.0)
    assert (bob.manual, bob.attempted, bob.score, bob.max) == (True, False, 0.0, 3.0)


def test_the_gradebook_knows_no_points_for_words_and_none_for_a_stub(
    classes: CourseDirectory,
) -> None:
    with GradebookWriter(classes) as writer:
        found = writer.entries(tiny_lesson())
    assert (found["ada"].auto["why"], found["bob"].auto["why"]) == (None, 0.0)
    assert (found["ada"].waiting, found["bob"].waiting) == (frozenset({"why"}), frozenset())
    assert (found["ada"].score, found["bob"].score) == (6.0, 6.0)


def test_the_table_and_the_export_say_what_waits(classes: CourseDirectory) -> None:
    lesson = find_lesson(classes.root, SLUG)
    records = Journal(classes.state).records(SLUG)
    words = "to be read by a person: 1 (3 points)"
    assert summary(records) == f"2 submissions: 2 graded · mean 100 % · {words}"
    ada, bob = grades_csv(lesson, class_results(classes, lesson)).splitlines()[1:]
    assert "4,2,waits for a person" in ada
    assert "4,2,not attempted" in bob


def test_an_export_to_an_lms_names_those_whose_words_are_unread(
    classes: CourseDirectory, capsys: pytest.CaptureFixture[str]
) -> None:
    lesson = find_lesson(classes.root, SLUG)
    assert grades.run(classes.root, (lesson,), LMS["canvas"], out=Path("-")) == 0
    assert capsys.readouterr().err.splitlines() == [
        f"{SLUG}: Canvas will not know whose points these are: ada, bob",
        f"{SLUG}: not all points yet: ada: why to be read",
    ]


def test_the_report_counts_what_is_to_be_read_and_needs_nobody_else(
    classes: CourseDirectory,
) -> None:
    view = report.view_of(classes, find_lesson(classes.root, SLUG))
    assert (view.unread, view.to_look_at, view.centre) == ((("why", 1),), (), (1.0, 1.0))
    page = report.page_of("class", [view])
    assert "1 answer to <code>why</code>" in page
    assert "<b>1</b>answer to read</div>" in page
    assert "<b>0</b>submissions to look into</div>" in page
    why = next(one for one in view.measures if one.exercise.name == "why")
    assert (why.attempted, why.judged, why.ease, why.verdict) == (1, 2, None, "points by hand")


def test_the_page_shows_the_words_and_that_they_wait(classes: CourseDirectory) -> None:
    page = page_for(classes, "ada")
    assert "6 <span" in page
    assert "of 9 points" in page
    assert (
        "3 of these points are given by a person. Nobody has read that part of your work yet."
        in page
    )
    assert "&lt;b&gt;Everybody&lt;/b&gt; who holds it sees that." in page
    assert "Your teacher reads this answer; the points come later." in page
    assert "✎ to be read by a person · – of 3" in page
    assert "You left this one as it was." in page_for(classes, "bob")
    assert "Marking" not in page


def page_for(course: CourseDirectory, student: str) -> str:
    (path,) = write_pages(course, find_lesson(course.root, SLUG), student)
    return path.read_text()


def test_points_and_a_comment_come_back_and_survive_a_regrade(classes: CourseDirectory) -> None:
    give(classes, 2.5, "Say whose storage it is.")
    runner = "stock" if classes.root.name.startswith("stock") else "engine"
    graded(classes, RUNNERS[runner](), regrade=True)  # type: ignore[arg-type]
    with GradebookWriter(classes) as writer:
        found = writer.entries(tiny_lesson())["ada"]
    assert (found.points["why"], found.score, found.manual) == (2.5, 8.5, frozenset({"why"}))
    ada = next(
        row
        for row in class_results(classes, find_lesson(classes.root, SLUG))
        if row.student == "ada"
    )
    assert (ada.unread, ada.reasons) == ((), ("Waits for points by hand: why.",))  # another look
    page = page_for(classes, "ada")
    assert "8.5 <span" in page
    assert "✎ read by a person · 2.5 of 3" in page
    assert "Say whose storage it is." in page
    assert "Nobody has read that part" not in page


# What was put into an answer stays in it; what was taken out of one is a setting.


PICTURE = {"drawing.png": {"image/png": DOT}}


def handed_in_by(root: Path, released: dict[str, bytes], **students: Any) -> CourseDirectory:
    """A class in which each student changed the cells of the notebook before handing it in."""
    tiny.build(root)
    tiny.write(root, tiny.notebook_with_words())
    (root / "gradebook.db").write_bytes(empty_gradebook())
    for student, change in students.items():
        notebook = submission(released, "First, ![it](attachment:drawing.png)")
        change(
            notebook["cells"], next(n for n, c in enumerate(notebook["cells"]) if c["id"] == "why")
        )
        hand_in(root, student, notebook, "2026-01-10 12:00:00 UTC")
    return load_course(root)


def with_picture(cells: list[dict[str, Any]], at: int) -> None:
    cells[at]["attachments"] = PICTURE


def split(cells: list[dict[str, Any]], at: int) -> None:
    cells.insert(at + 1, {**cells[at], "id": "half", "source": "and second."})


def emptied(cells: list[dict[str, Any]], at: int) -> None:
    cells[at]["source"] = ""


def test_pictures_and_halves_reach_whoever_marks_and_the_learner(
    released: dict[str, bytes], tmp_path: Path
) -> None:
    course = handed_in_by(tmp_path, released, ada=with_picture, bob=split)
    assert graded(course, engine()).trouble is None  # type: ignore[arg-type]
    folder = course.autograded("ada", SLUG)
    cells = json.loads((folder / f"{SLUG}.ipynb").read_text())["cells"]
    assert [cell["attachments"] for cell in cells if "attachments" in cell] == [PICTURE]
    assert f'src="data:image/png;base64,{DOT}"' in page_for(course, "ada")
    assert "and second." in page_for(course, "bob")
    with GradebookWriter(course) as writer:
        comment = writer.entries(tiny_lesson())["bob"].auto_comments["why"]
    assert comment == "It was put together from 2 cells."


@pytest.mark.parametrize(("setting", "waits"), [("person", True), ("zero", False)])
def test_what_an_emptied_answer_is_worth_is_the_courses_setting(
    released: dict[str, bytes], tmp_path: Path, setting: str, waits: bool
) -> None:
    (tmp_path / "nbgrader_config.py").write_text(
        f"c = get_config()\nc.Autograder.empty_answers = {setting!r}\n"
    )
    course = handed_in_by(tmp_path, released, ada=emptied)
    assert graded(course, engine()).trouble is None  # type: ignore[arg-type]
    why = why_of(course, "ada")
    assert (why.attempted, why.score, bool(why.notes)) == (waits, 0.0, waits)
    with GradebookWriter(course) as writer:
        assert ("why" in writer.entries(tiny_lesson())["ada"].waiting) is waits


def test_a_setting_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "nbgrader_config.py").write_text("get_config().Autograder.empty_answers = 0\n")
    with pytest.raises(CourseDirectoryError, match=r'(?s)empty_answers is 0.*"person".*"zero"'):
        load_course(tmp_path)


def test_our_own_course_gives_nothing_for_an_emptied_answer() -> None:
    assert load_course(Path(__file__).parents[3]).empty_is_zero


def test_a_picture_of_the_model_answer_is_handed_out_with_it_alone(tmp_path: Path) -> None:
    notebook = tiny.notebook_with_words()
    why = next(cell for cell in notebook["cells"] if cell["id"] == "why")
    why["attachments"] = {"model.png": {"image/png": SECRET_PICTURE}}
    why["source"] = why["source"].replace(
        "**Marking**", "![m](attachment:model.png)\n\n**Marking**"
    )
    task = next(cell for cell in notebook["cells"] if cell["id"] == "why-task")
    task["source"] += "\n\n![t](attachment:task.png)"
    task["attachments"] = {"task.png": {"image/png": "aGVsbG8="}}
    course = tiny.build(tmp_path)
    lesson = read_lesson(tiny.write(course, notebook))
    (found,) = lint_lesson(course, lesson)
    assert "a picture is attached to the model answer (model.png)" in found.cause
    files = build_editions(course, [lesson])
    class_edition, alone = files[f"{SLUG}/{SLUG}.ipynb"], files[f"self-study/{SLUG}.ipynb"]
    assert SECRET_PICTURE.encode() not in class_edition
    assert b'"task.png"' in class_edition
    with_pictures = [one["id"] for one in json.loads(alone)["cells"] if "attachments" in one]
    assert with_pictures == ["why-task", "why-solution"]
    leaky = json.loads(class_edition)
    leaky["cells"][0]["attachments"] = why["attachments"]
    with pytest.raises(ReleaseError, match="would publish"):
        refuse_leaks(lesson, json.dumps(leaky).encode())
