"""Whatever the gradebook lacks or has otherwise is entered by the next run, whoever asked."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from nbgrader.api import Gradebook

from autograder.course_directory import CourseDirectory, load_course
from autograder.grading import sync
from autograder.grading.pipeline import GradingResult, grade
from autograder.lessons.model import find_lesson
from autograder.nbgrader_bridge.gradebook import GradebookWriter
from autograder.nbgrader_bridge.gradebook_entry import GradebookEntry
from autograder.nbgrader_bridge.gradebook_errors import GradebookError
from autograder.records.journal import Journal, JournalError
from autograder.records.model import Status
from autograder.submissions.discovery import find_submissions
from tests.autograder import tiny
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
from tests.autograder.grading.test_pipeline import killed_in

LATE = "2026-01-11 18:00:00 UTC"  # 30 hours after the due date


def entry(course: CourseDirectory, student: str = "ada") -> GradebookEntry:
    """What the gradebook says of the student."""
    with GradebookWriter(course) as writer:
        return writer.entries(tiny_lesson())[student]


def changed(course: CourseDirectory, change: Callable[[Gradebook], None]) -> None:
    """Change the gradebook as another program does."""
    with Gradebook(course.db_url, course.course_id) as gradebook:
        change(gradebook)
        gradebook.db.commit()


def strict(root: Path, *students: str) -> CourseDirectory:
    """A course that gives nothing for a late submission, due on 10 January at noon."""
    course, _ = classroom(root, *students)
    course.config.LateSubmissionPlugin.penalty_method = "zero"
    due = "2026-01-10 12:00:00 UTC"
    changed(course, lambda book: book.update_or_create_assignment(SLUG, duedate=due))
    return course


def graded_while_locked(course: CourseDirectory, runner: FakeRunner | None = None) -> None:
    """Grade while another program holds the gradebook."""

    def locked(*_: object) -> None:
        raise GradebookError("database is locked")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(GradebookWriter, "write", locked)
        assert graded(course, runner).trouble is not None


def graded_for(course: CourseDirectory, student: str) -> GradingResult:
    """What `grade --student` does."""
    lesson = find_lesson(course.root, SLUG)
    return grade(course, find_submissions(course, (lesson,), student), FakeRunner())


def test_a_late_resubmission_with_the_same_points_is_late_after_a_locked_gradebook(
    tmp_path: Path,
) -> None:
    course = strict(tmp_path, "ada")
    graded(course)
    assert entry(course).score == 6.0
    hand_in(tmp_path, "ada", answered(), LATE)
    graded_while_locked(course)
    graded(course, runner := FakeRunner())
    found = entry(course)
    assert (runner.ran, found.submitted_at) == ([], "2026-01-11T18:00:00")
    assert (found.seconds_late, found.penalty, found.score) == (30 * 3600, 6.0, 0.0)
    assert not found.waiting


def test_a_grade_whose_entry_was_killed_is_entered(tmp_path: Path) -> None:
    course = strict(tmp_path, "ada", "bob")
    graded(course)
    hand_in(tmp_path, "ada", answered(), LATE)
    killed_in(lambda: graded(course), GradebookWriter, "write", at=0, after=False)
    assert entry(course).waiting == {"test-flatten", "test-double"}
    graded_for(course, "bob")
    found = entry(course)
    assert (found.score, found.penalty, found.waiting) == (0.0, 6.0, frozenset())
    assert not list((course.state / "unentered").iterdir())


def test_what_one_run_could_not_enter_the_next_one_enters_whoever_it_is_for(
    tmp_path: Path,
) -> None:
    course = strict(tmp_path, "ada", "bob")
    graded(course)
    hand_in(tmp_path, "ada", answered(), LATE)
    graded_while_locked(course)
    result = graded_for(course, "bob")
    assert (entry(course).score, entry(course).waiting) == (0.0, frozenset())
    assert result.news[0] == f"{SLUG}: entered now, as the gradebook had not: ada"


def test_a_list_that_cannot_be_written_again_does_not_hide_what_the_gradebook_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    course, _ = classroom(tmp_path, "ada")
    written = iter([sync.write_json])

    def full(path: Path, data: object) -> None:
        once = next(written, None)
        if once is None:
            raise JournalError("cannot be written: No space left on device")
        once(path, data)

    monkeypatch.setattr(sync, "write_json", full)
    graded_while_locked(course)
    monkeypatch.undo()
    assert graded(course).trouble is None
    assert entry(course).score == 6.0


def without_response(book: Gradebook) -> None:
    book.find_comment("flatten", SLUG, SLUG, "ada").auto_comment = "No response."


def fewer_points(book: Gradebook) -> None:
    book.find_grade("test-flatten", SLUG, SLUG, "ada").auto_score = 1.0


def no_points(book: Gradebook) -> None:
    book.find_grade("test-double", SLUG, SLUG, "ada").auto_score = None


def waiting(book: Gradebook) -> None:
    book.find_grade("test-flatten", SLUG, SLUG, "ada").needs_manual_grade = True


def earlier(book: Gradebook) -> None:
    book.update_or_create_submission(SLUG, "ada", timestamp="2026-01-09 12:00:00 UTC")


def no_penalty(book: Gradebook) -> None:
    book.find_submission_notebook(SLUG, SLUG, "ada").late_submission_penalty = None


def other_maximum(book: Gradebook) -> None:
    book.find_graded_cell("test-flatten", SLUG, SLUG).max_score = 40.0


def no_submission(book: Gradebook) -> None:
    book.remove_submission(SLUG, "ada")


CHANGES = [
    *(without_response, fewer_points, no_points, waiting),
    *(earlier, no_penalty, other_maximum, no_submission),
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda one: one.__name__)
def test_what_another_program_changed_is_put_right(
    tmp_path: Path, change: Callable[[Gradebook], None]
) -> None:
    course = strict(tmp_path, "ada", "bob")
    hand_in(tmp_path, "ada", answered(), LATE)
    graded(course)
    before = entry(course)
    changed(course, change)
    graded_for(course, "bob")
    assert entry(course) == before
    with Gradebook(course.db_url, course.course_id) as book:
        assert book.find_graded_cell("test-flatten", SLUG, SLUG).max_score == 4.0


def test_nothing_is_entered_where_the_gradebook_has_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    course = strict(tmp_path, "ada")
    notes = ("It ran longer than 30 s.",)
    slow = flatten(1 / 3, status=Status.TIMEOUT, notes=notes)
    graded(course, FakeRunner(lambda job: record("ada", slow, double(0, attempted=False))))
    monkeypatch.setattr(GradebookWriter, "write", lambda *_: pytest.fail("it was all there"))
    assert graded(course).news == ()


def test_what_a_person_decided_in_formgrader_is_left_alone(tmp_path: Path) -> None:
    course, _ = classroom(tmp_path, "ada")
    doubt = {"status": Status.TAMPERED}
    graded(course, FakeRunner(lambda job: record("ada", flatten(0, **doubt), double())))

    def decide(book: Gradebook) -> None:
        read = book.find_grade("test-flatten", SLUG, SLUG, "ada")
        given = book.find_grade("test-double", SLUG, SLUG, "ada")
        read.needs_manual_grade = given.needs_manual_grade = False
        given.manual_score = 0.5

    changed(course, decide)
    assert graded(course).news == ()
    assert (entry(course).waiting, entry(course).score) == (frozenset(), 0.5)


def test_points_by_hand_for_an_answer_that_changed_meanwhile_wait_for_another_look(
    tmp_path: Path,
) -> None:
    course, _ = classroom(tmp_path, "ada")
    words = flatten(0.0, manual=True)
    graded(course, FakeRunner(lambda job: record("ada", words, double())))

    def mark(book: Gradebook) -> None:
        grade = book.find_grade("test-flatten", SLUG, SLUG, "ada")
        grade.manual_score, grade.needs_manual_grade = 3.0, False

    changed(course, mark)
    hand_in(tmp_path, "ada", answered(flatten="other words"), "2026-01-10 12:00:00 UTC")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(GradebookWriter, "mark_stale", lambda *_: None)
        graded_while_locked(course, FakeRunner(lambda job: record("ada", words, double())))
    # What a killed run had not entered stays on the list.
    killed_in(lambda: graded(course), GradebookWriter, "write", at=0, after=False)
    assert graded(course, runner := FakeRunner()).trouble is None
    assert (runner.ran, entry(course).waiting) == ([], {"test-flatten"})


def test_a_submission_without_a_time_does_not_keep_that_of_an_earlier_one(tmp_path: Path) -> None:
    course = strict(tmp_path, "ada")
    folder = hand_in(tmp_path, "ada", answered(), LATE)
    graded(course)
    (folder / "timestamp.txt").unlink()
    graded(course)
    found = entry(course)
    assert (found.submitted_at, found.penalty, found.score) == (None, 0.0, 6.0)


def test_a_record_of_an_earlier_source_is_not_entered_over_what_is_there(tmp_path: Path) -> None:
    course, _ = classroom(tmp_path, "ada", "bob")
    graded(course)
    tiny.write(tmp_path, json.dumps(tiny.notebook()).replace("Two exercises", "2 exercises"))
    journal = Journal(course.state)
    kept = journal.read(SLUG, "ada")
    assert kept is not None
    journal.write(replace(kept.record, exercises=()), kept.run)
    graded_for(course, "bob")
    assert entry(course).score == 6.0


def test_a_gradebook_that_cannot_be_opened_is_told_and_nothing_has_to_be_closed(
    tmp_path: Path,
) -> None:
    classroom(tmp_path)
    elsewhere = load_course(tmp_path, db=f"sqlite:///{tmp_path / 'none' / 'gradebook.db'}")
    with sync.GradebookSync(elsewhere) as books:
        assert isinstance(books.trouble, GradebookError)


def test_the_gradebook_is_closed_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    course, _ = classroom(tmp_path)
    closed: list[GradebookWriter] = []
    with sync.GradebookSync(course) as books:
        writer = books._use()
        monkeypatch.setattr(writer, "close", lambda: closed.append(writer))
    monkeypatch.undo()
    writer.close()
    assert closed == [writer]
