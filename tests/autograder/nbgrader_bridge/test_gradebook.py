"""The gradebook holds what nbgrader would have written, all of a submission or nothing of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from nbgrader.api import Course, Gradebook
from nbgrader.apps.api import NbGraderAPI
from nbgrader.converters import GenerateAssignment
from sqlalchemy import event
from traitlets.config import Config

from autograder.course_directory import CourseDirectory, load_course
from autograder.environment import own_programs_first
from autograder.lessons.model import Lesson, find_lesson
from autograder.nbgrader_bridge.gradebook import GradebookReader, GradebookWriter, ManualMark
from autograder.nbgrader_bridge.gradebook_errors import GradebookError, NoGradebook
from autograder.nbgrader_bridge.registration import register
from autograder.records.model import Status, SubmissionRecord
from tests.autograder import tiny
from tests.autograder.classroom import SLUG, classroom, double, flatten, record, tiny_lesson

own_programs_first()
FULL = ManualMark(4.0, "all of it")


@pytest.fixture
def course(tmp_path: Path) -> CourseDirectory:
    return classroom(tmp_path)[0]


@pytest.fixture
def lesson(course: CourseDirectory) -> Lesson:
    return find_lesson(course.root, SLUG)


@pytest.fixture
def writer(course: CourseDirectory) -> Iterator[GradebookWriter]:
    with GradebookWriter(course) as writer:
        yield writer


def score_by_hand(course: CourseDirectory, points: float, words: str) -> None:
    """Give points and a comment as formgrader does."""
    with Gradebook(course.db_url, course.course_id) as gradebook:
        grade = gradebook.find_grade("test-flatten", SLUG, SLUG, "ada")
        grade.manual_score, grade.needs_manual_grade = points, False
        gradebook.find_comment("flatten", SLUG, SLUG, "ada").manual_comment = words
        gradebook.db.commit()


def cells_in(course: CourseDirectory) -> dict[str, object]:
    """What the gradebook knows of the lesson's cells, without the random ids."""
    with Gradebook(course.db_url, course.course_id) as gradebook:
        notebook = gradebook.find_notebook(SLUG, SLUG)
        return {
            "sources": sorted(
                (c.name, c.cell_type, c.locked, c.source, c.checksum) for c in notebook.source_cells
            ),
            "grades": sorted((c.name, c.max_score, c.cell_type) for c in notebook.grade_cells),
            "solutions": sorted(c.name for c in notebook.solution_cells),
            "kernel": notebook.kernelspec,
        }


def test_a_lesson_is_registered_as_nbgrader_registers_it(
    course: CourseDirectory, tmp_path: Path
) -> None:
    theirs = tiny.build(tmp_path / "theirs")
    config = Config()
    config.CourseDirectory.root = str(theirs)
    assert NbGraderAPI(config=config).generate_assignment(SLUG)["success"]
    assert cells_in(course) == cells_in(load_course(theirs))


def test_registering_again_changes_nothing(course: CourseDirectory, lesson: Lesson) -> None:
    before = cells_in(course)
    register(lesson, course)
    assert cells_in(course) == before


def test_steps_that_a_configuration_names_are_taken_as_nbgraders_own(
    course: CourseDirectory, lesson: Lesson
) -> None:
    before = cells_in(course)
    steps = GenerateAssignment(config=course.config).preprocessors
    named = [f"{step.__module__}.{step.__qualname__}" for step in steps]
    course.config.GenerateAssignment.preprocessors = named
    register(lesson, course)
    assert cells_in(course) == before


def test_a_changed_exercise_text_reaches_the_gradebook(course: CourseDirectory) -> None:
    text = json.dumps(tiny.notebook()).replace("secret_of_flatten", "another_name")
    tiny.write(course.root, text)
    register(find_lesson(course.root, SLUG), course)
    assert "another_name" not in str(cells_in(course)["sources"])  # solutions are cleared
    tiny.write(course.root, text.replace("check.score(2)", "check.score(2.0)"))
    register(find_lesson(course.root, SLUG), course)
    assert "check.score(2.0)" in str(cells_in(course)["sources"])


def test_exercises_cannot_vanish_once_there_are_submissions(
    course: CourseDirectory, lesson: Lesson, writer: GradebookWriter
) -> None:
    writer.write(record("ada"), lesson)
    notebook = tiny.notebook()
    notebook["cells"] = [c for c in notebook["cells"] if "double" not in c["id"]]
    tiny.write(course.root, notebook)
    with pytest.raises(GradebookError, match="changed after submissions were entered"):
        register(find_lesson(course.root, SLUG), course)


def test_points_status_and_time_are_entered(writer: GradebookWriter, lesson: Lesson) -> None:
    when = "2026-01-10T12:00:00+00:00"
    writer.write(record("ada", flatten(3.0), double(), submitted_at=when), lesson)
    found = writer.entries(tiny_lesson())["ada"]
    assert found.auto == {"test-flatten": 3.0, "test-double": 2.0}
    assert (found.score, found.submitted_at) == (5.0, "2026-01-10T12:00:00")
    assert found.waiting == frozenset()


def test_an_untouched_stub_is_no_response_in_nbgraders_words(
    course: CourseDirectory, writer: GradebookWriter, lesson: Lesson
) -> None:
    writer.write(record("ada", flatten(0, attempted=False), double()), lesson)
    with Gradebook(course.db_url, course.course_id) as gradebook:
        assert gradebook.find_comment("flatten", SLUG, SLUG, "ada").auto_comment == "No response."
        assert gradebook.find_comment("double", SLUG, SLUG, "ada").auto_comment is None


def test_points_and_comments_of_a_person_survive_a_regrade_and_ask_for_a_look(
    course: CourseDirectory, writer: GradebookWriter, lesson: Lesson
) -> None:
    writer.write(record("ada", flatten(1.0), double()), lesson)
    score_by_hand(course, 3.5, "nearly")
    writer.write(record("ada", flatten(4.0), double()), lesson)
    found = writer.entries(tiny_lesson())["ada"]
    assert found.points["test-flatten"] == 3.5
    assert (found.auto["test-flatten"], found.comments) == (4.0, {"flatten": "nearly"})
    assert found.waiting == {"test-flatten"}


def test_points_and_comments_are_given_to_one_question_and_a_blank_leaves_what_is_there(
    writer: GradebookWriter, lesson: Lesson
) -> None:
    for student in ("ada", "bob", "cy"):
        writer.write(record(student, flatten(0, manual=True), double()), lesson)
    marks = {"ada": ManualMark(3.0, "well said"), "bob": ManualMark(None, "half"), "dan": FULL}
    assert writer.give(tiny_lesson(), tiny_lesson().exercise("flatten"), marks) == {"dan"}
    assert (
        writer.give(
            tiny_lesson(), tiny_lesson().exercise("flatten"), {"ada": ManualMark(None, None)}
        )
        == set()
    )
    found = writer.entries(tiny_lesson())
    assert {one: found[one].points["test-flatten"] for one in found} == {
        "ada": 3,
        "bob": 0,
        "cy": 0,
    }
    assert {one for one in found if found[one].manual} == {"ada"}
    assert {one for one in found if found[one].waiting} == {"bob", "cy"}
    said = {"ada": {"flatten": "well said"}, "bob": {"flatten": "half"}, "cy": {}}
    assert {one: found[one].comments for one in found} == said


@pytest.mark.parametrize("status", [Status.MALFORMED, Status.TAMPERED])
def test_what_only_a_person_can_judge_waits_for_one(
    writer: GradebookWriter, lesson: Lesson, status: Status
) -> None:
    writer.write(record("ada", flatten(0, status=status), double(0, status=status)), lesson)
    assert writer.entries(tiny_lesson())["ada"].waiting == {"test-flatten", "test-double"}


def test_a_fault_of_the_grader_is_no_zero_and_replaces_the_old_grade(
    writer: GradebookWriter, lesson: Lesson
) -> None:
    writer.write(record("ada"), lesson)
    lost = Status.INFRASTRUCTURE
    writer.write(record("ada", flatten(0, status=lost), double(0, status=lost)), lesson)
    found = writer.entries(tiny_lesson())["ada"]
    assert found.auto == {"test-flatten": None, "test-double": None}
    assert found.waiting == {"test-flatten", "test-double"}


def test_the_status_of_an_exercise_stands_in_its_comment(
    course: CourseDirectory, writer: GradebookWriter, lesson: Lesson
) -> None:
    slow = flatten(0, status=Status.TIMEOUT, notes=("It ran longer than 30 s.",))
    writer.write(record("ada", slow, double()), lesson)
    with Gradebook(course.db_url, course.course_id) as gradebook:
        comment = gradebook.find_comment("flatten", SLUG, SLUG, "ada").auto_comment
    assert comment == "timeout. It ran longer than 30 s."


def test_a_late_submission_gets_the_penalty_that_the_course_configures(
    course: CourseDirectory, lesson: Lesson
) -> None:
    course.config.LateSubmissionPlugin.penalty_method = "zero"
    with Gradebook(course.db_url, course.course_id) as gradebook:
        gradebook.update_or_create_assignment(SLUG, duedate="2026-01-10 11:00:00 UTC")
    with GradebookWriter(course) as writer:
        writer.write(record("ada", submitted_at="2026-01-10T12:00:00+00:00"), lesson)
        writer.write(record("bob", submitted_at="2026-01-10T10:00:00+00:00"), lesson)
        late, timely = writer.entries(tiny_lesson())["ada"], writer.entries(tiny_lesson())["bob"]
    assert (late.seconds_late, late.penalty, late.score) == (3600, 6.0, 0.0)
    assert (timely.seconds_late, timely.penalty, timely.score) == (0, 0.0, 6.0)


def test_a_submission_is_entered_completely_or_not_at_all(
    writer: GradebookWriter, lesson: Lesson, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(GradebookWriter, "_penalise", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        writer.write(record("ada"), lesson)
    assert (writer.entries(tiny_lesson()), "ada" in writer.names()) == ({}, False)
    monkeypatch.undo()
    writer.write(record("ada"), lesson)
    assert writer.entries(tiny_lesson())["ada"].score == 6.0


def test_marking_stale_makes_old_grades_wait_and_the_new_grade_ends_that(
    writer: GradebookWriter, lesson: Lesson
) -> None:
    writer.write(record("ada"), lesson)
    writer.write(record("bob"), lesson)
    writer.mark_stale(SLUG, ["ada"])
    waiting = {name: bool(one.waiting) for name, one in writer.entries(tiny_lesson()).items()}
    assert waiting == {"ada": True, "bob": False}
    writer.write(record("ada"), lesson)
    assert not writer.entries(tiny_lesson())["ada"].waiting


def test_a_roster_gives_students_their_names_once(
    writer: GradebookWriter, course: CourseDirectory
) -> None:
    roster = course.root / "students.csv"
    roster.write_text("id,first_name,last_name,email\nada,Ada,Lovelace,a@b.c\nbob,,,\n")
    writer.enrol(roster)
    writer.enrol(roster)
    assert writer.names() == {"ada": ("Ada", "Lovelace"), "bob": ("", "")}


def test_a_roster_gives_students_their_address_and_their_number_in_the_lms(
    writer: GradebookWriter, course: CourseDirectory
) -> None:
    roster = course.root / "students.csv"
    roster.write_text("id,email,lms_user_id,room\nada,a@b.c,55,101\n,x@y.z,56,102\n")
    writer.enrol(roster)
    with Gradebook(course.db_url, course.course_id) as gradebook:
        (ada,) = gradebook.students
        assert (ada.id, ada.email, ada.lms_user_id) == ("ada", "a@b.c", "55")


def test_a_gradebook_that_is_made_is_that_of_the_course(tmp_path: Path) -> None:
    config = 'c = get_config()\nc.CourseDirectory.course_id = "mine"\n'
    (tiny.build(tmp_path) / "nbgrader_config.py").write_text(config)
    course = load_course(tmp_path)
    GradebookWriter(course).close()
    with GradebookReader(course) as reader:  # nbgrader's own would add the course that it is given
        assert [one.id for one in reader._gradebook.db.query(Course)] == ["mine"]


def test_names_and_notes_of_any_characters_are_kept(
    writer: GradebookWriter, lesson: Lesson
) -> None:
    name = "o'neil; DROP TABLE student; -- é"
    writer.write(replace(record(name), student=name), lesson)
    assert writer.entries(tiny_lesson())[name].score == 6.0


def test_an_unwritable_gradebook_says_where_why_and_what_to_do(course: CourseDirectory) -> None:
    (course.root / "gradebook.db").unlink()
    (course.root / "gradebook.db").mkdir()
    with pytest.raises(GradebookError, match=r"(?s)gradebook\.db: .*unable to open.*permission"):
        GradebookWriter(course)


def test_a_gradebook_that_another_program_holds_is_named_as_locked(
    course: CourseDirectory,
    lesson: Lesson,
    writer: GradebookWriter,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from sqlalchemy.exc import OperationalError

    def held(*_: object) -> SubmissionRecord:
        raise OperationalError("INSERT", {}, Exception("database is locked"))

    monkeypatch.setattr(Gradebook, "update_or_create_student", held)
    with pytest.raises(GradebookError, match=r"(?s)is locked.*close it \(formgrader.*Nothing is"):
        writer.write(record("ada"), lesson)


def test_a_password_in_the_address_is_never_shown(tmp_path: Path) -> None:
    tiny.build(tmp_path)
    with pytest.raises(GradebookError) as caught:
        GradebookWriter(load_course(tmp_path, db="postgresql+nodriver://me:secret@localhost/x"))
    assert "secret" not in str(caught.value)


def test_an_address_that_is_none_is_explained(tmp_path: Path) -> None:
    tiny.build(tmp_path)
    with pytest.raises(GradebookError, match="sqlite:///FILE or postgresql"):
        GradebookWriter(load_course(tmp_path, db="gradebook.db"))


def queries(writer: GradebookWriter, action: Callable[[], object]) -> int:
    """How often `action` asks the database."""
    asked: list[str] = []

    def ask(*arguments: object) -> None:
        asked.append(str(arguments[2]))

    engine = writer._gradebook.engine
    event.listen(engine, "before_cursor_execute", ask)
    try:
        action()
    finally:
        event.remove(engine, "before_cursor_execute", ask)
    return len(asked)


def test_a_class_is_read_in_as_few_queries_as_one_learner(
    writer: GradebookWriter, lesson: Lesson
) -> None:
    writer.write(record("ada"), lesson)
    alone = queries(writer, lambda: writer.entries(tiny_lesson()))
    for student in ("bob", "cleo", "dan", "eve"):
        writer.write(record(student), lesson)
    assert queries(writer, lambda: writer.entries(tiny_lesson())) == alone
    assert len(writer.entries(tiny_lesson())) == 5


def test_the_names_of_a_lessons_cells_are_read_once(
    writer: GradebookWriter, lesson: Lesson
) -> None:
    writer.write(record("ada"), lesson)
    with writer._transaction() as gradebook:
        (notebook,) = gradebook.assignment_submissions(SLUG)[0].notebooks
        assert {one.cell_id for one in notebook.grades} < writer._cells[notebook.notebook_id].keys()
        assert queries(writer, lambda: writer._names_of_cells(notebook)) == 0
        writer._cells[notebook.notebook_id].popitem()  # of a cell that came later
        names = writer._names_of_cells(notebook)
    assert {"test-flatten", "test-double"} <= set(names.values())


def test_a_file_that_holds_no_gradebook_is_none(course: CourseDirectory, tmp_path: Path) -> None:
    empty = tmp_path / "empty.db"
    empty.touch()
    elsewhere = load_course(course.root, db=f"sqlite:///{empty}")
    with pytest.raises(NoGradebook) as caught:
        GradebookReader(elsewhere)
    assert str(empty) in caught.value.place
