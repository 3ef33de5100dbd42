"""`grade` runs what has to be run, survives whatever stops it, and never loses a grade."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbgrader.api import Gradebook

from autograder.cli import grade as command
from autograder.course_directory import CourseDirectory, load_course
from autograder.errors import UsageError
from autograder.grading import pipeline as grading
from autograder.grading.autograded import write_autograded
from autograder.lessons.model import find_lesson
from autograder.nbgrader_bridge.gradebook import GradebookWriter
from autograder.nbgrader_bridge.gradebook_errors import GradebookError
from autograder.records.journal import Journal, JournalError
from autograder.records.model import Status, SubmissionRecord
from autograder.records.runner import Job, Outcome
from autograder.runners.choice import choose_runner
from autograder.submissions.discovery import find_submissions
from tests.autograder import tiny
from tests.autograder.classroom import (
    SLUG,
    FakeRunner,
    answered,
    classroom,
    double,
    empty_gradebook,
    flatten,
    graded,
    hand_in,
    record,
    tiny_lesson,
)
from tests.exhaustive import sampled


def scores(course: CourseDirectory) -> dict[str, float]:
    """Student → points in the gradebook."""
    with GradebookWriter(course) as writer:
        return {name: one.score for name, one in writer.entries(tiny_lesson()).items()}


def everything(course: CourseDirectory) -> dict[str, Any]:
    """All that a run leaves behind, without random ids and run names."""
    with GradebookWriter(course) as writer:
        entries, names = writer.entries(tiny_lesson()), writer.names()
    notebooks = sorted((course.root / "autograded").rglob("*.ipynb"))
    return {
        "entries": entries,
        "names": names,
        "records": Journal(course.state).records(SLUG),
        "pending": Journal(course.state).pending(SLUG),
        "notebooks": {str(one.relative_to(course.root)): one.read_text() for one in notebooks},
    }


# What is run.


def test_everyone_is_graded_entered_and_left_with_a_notebook(tmp_path: Path) -> None:
    course, _ = classroom(tmp_path, "ada", "bob")
    done = graded(course, FakeRunner(lambda job: record(job.student, flatten(3.0), double())))
    assert [one.status for one in done.records] == [Status.GRADED] * 2
    assert scores(course) == {"ada": 5.0, "bob": 5.0}
    assert (course.autograded("ada", SLUG) / f"{SLUG}.ipynb").is_file()


def test_what_did_not_change_is_not_run_again(tmp_path: Path) -> None:
    course, _ = classroom(tmp_path, "ada", "bob")
    first, second = graded(course), graded(course, runner := FakeRunner())
    assert runner.ran == []
    assert second.records == first.records


def test_a_new_submission_is_graded_again_and_the_others_are_not(tmp_path: Path) -> None:
    course, _ = classroom(tmp_path, "ada", "bob")
    graded(course)
    hand_in(tmp_path, "bob", answered(flatten="def flatten(x): ..."))
    graded(course, runner := FakeRunner(lambda job: record(job.student, flatten(0.0), double())))
    assert runner.ran == ["bob"]
    assert scores(course) == {"ada": 6.0, "bob": 2.0}


def test_a_changed_lesson_is_graded_again_for_everyone(tmp_path: Path) -> None:
    course, _ = classroom(tmp_path, "ada", "bob")
    graded(course)
    tiny.write(tmp_path, json.dumps(tiny.notebook()).replace("Two exercises", "2 exercises"))
    graded(course, runner := FakeRunner())
    assert runner.ran == ["ada", "bob"]


def test_regrade_runs_everyone(tmp_path: Path) -> None:
    course, _ = classroom(tmp_path, "ada", "bob")
    graded(course)
    graded(course, runner := FakeRunner(), regrade=True)
    assert runner.ran == ["ada", "bob"]


def test_a_fault_of_the_grader_is_tried_again_by_the_next_run(tmp_path: Path) -> None:
    course, _ = classroom(tmp_path, "ada")
    lost = Status.INFRASTRUCTURE
    graded(
        course, FakeRunner(lambda job: record(job.student, flatten(0, status=lost), status=lost))
    )
    graded(course, runner := FakeRunner())
    assert (runner.ran, scores(course)) == (["ada"], {"ada": 6.0})


# What cannot be run, and what never came back.


def test_a_submission_without_a_notebook_is_recorded_and_never_run(tmp_path: Path) -> None:
    course, _ = classroom(tmp_path, "ada")
    (hand_in(tmp_path, "bob", "{}") / f"{SLUG}.ipynb").unlink()
    done = graded(course, runner := FakeRunner())
    missing = done.records[1]
    assert (runner.ran, missing.status) == (["ada"], Status.MISSING)
    assert [(one.id, one.status, one.max) for one in missing.exercises] == [
        ("flatten", Status.MISSING, 4.0),
        ("double", Status.MISSING, 2.0),
    ]
    page = (course.autograded("bob", SLUG) / f"{SLUG}.ipynb").read_text()
    assert "not executed: missing" in page


class SilentRunner(FakeRunner):
    def run_many(self, jobs: Iterable[Job]) -> Iterator[Outcome]:
        yield from super().run_many(list(jobs)[:1])


def test_a_submission_that_the_workers_forget_is_the_graders_fault(tmp_path: Path) -> None:
    course, _ = classroom(tmp_path, "ada", "bob")
    done = graded(course, SilentRunner())
    assert [one.status for one in done.records] == [Status.GRADED, Status.INFRASTRUCTURE]
    assert "without an answer" in done.records[1].notes[0]


def test_an_exercise_that_a_record_leaves_out_is_the_graders_fault(tmp_path: Path) -> None:
    course, _ = classroom(tmp_path, "ada")
    done = graded(course, FakeRunner(lambda job: record(job.student, flatten())))
    assert [(one.id, str(one.status)) for one in done.records[0].exercises] == [
        ("flatten", "graded"),
        ("double", "infrastructure"),
    ]


def test_notes_of_the_intake_stand_in_the_record(tmp_path: Path) -> None:
    course, _ = classroom(tmp_path, "ada")
    folder = course.submitted("ada", SLUG)
    (folder / f"{SLUG}.ipynb").rename(folder / "mine.ipynb")
    assert "handed in as mine.ipynb" in graded(course).records[0].notes[0]


# A gradebook that refuses.


def test_digests_and_time_are_those_of_the_intake_whatever_a_runner_says(tmp_path: Path) -> None:
    course, lesson = classroom(tmp_path, "ada")
    made_up = {"submission_digest": "x", "source_digest": "y", "submitted_at": "2020-01-01"}
    (found,) = graded(course, FakeRunner(lambda job: record(job.student, **made_up))).records
    (submission,) = find_submissions(course, (lesson,))
    assert not {*made_up} & {field.name for field in fields(Job)}
    assert (found.submission_digest, found.source_digest) == (submission.digest, lesson.digest)
    assert found.submitted_at == "2026-01-10T12:00:00+00:00"


def test_a_gradebook_that_refuses_costs_nothing_and_is_caught_up_later(tmp_path: Path) -> None:
    course, _ = classroom(tmp_path, "ada", "bob")
    (tmp_path / "gradebook.db").unlink()
    (tmp_path / "gradebook.db").mkdir()
    done = graded(course)
    assert isinstance(done.trouble, GradebookError)
    assert [one.score for one in done.records] == [6.0, 6.0]
    (tmp_path / "gradebook.db").rmdir()
    (tmp_path / "gradebook.db").write_bytes(empty_gradebook())
    again = graded(course, runner := FakeRunner())
    assert (again.trouble, runner.ran, scores(course)) == (None, [], {"ada": 6.0, "bob": 6.0})


def test_a_gradebook_that_refuses_in_the_middle_is_caught_up_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    course, _ = classroom(tmp_path, "ada", "bob", "cleo")
    write, calls = GradebookWriter.write, iter(range(9))

    def full(self: GradebookWriter, *about: Any) -> None:
        if next(calls) == 1:
            raise GradebookError("database or disk is full")
        write(self, *about)

    monkeypatch.setattr(GradebookWriter, "write", full)
    assert "disk is full" in str(graded(course).trouble)
    assert scores(course) == {"ada": 6.0}
    assert graded(course).trouble is None
    assert scores(course) == {"ada": 6.0, "bob": 6.0, "cleo": 6.0}


def test_a_lost_gradebook_is_made_again_from_the_journal(tmp_path: Path) -> None:
    course, _ = classroom(tmp_path, "ada", "bob")
    graded(course)
    (tmp_path / "gradebook.db").unlink()
    graded(course, runner := FakeRunner())
    assert (runner.ran, scores(course)) == ([], {"ada": 6.0, "bob": 6.0})


def test_a_full_disk_stops_the_run_and_the_next_one_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    course, _ = classroom(tmp_path, "ada", "bob")
    write, calls = Journal.write, iter(range(9))

    def full(self: Journal, *about: Any) -> None:
        if next(calls) == 1:
            raise JournalError("cannot be written: No space left on device")
        write(self, *about)

    monkeypatch.setattr(Journal, "write", full)
    with pytest.raises(JournalError, match="No space"):
        graded(course)
    graded(course, runner := FakeRunner())
    assert (runner.ran, scores(course)) == (["bob"], {"ada": 6.0, "bob": 6.0})


# Manual grades.


def test_a_persons_points_survive_a_regrade(tmp_path: Path) -> None:
    course, _ = classroom(tmp_path, "ada")
    graded(course)
    with Gradebook(course.db_url, course.course_id) as gradebook:
        gradebook.find_grade("test-double", SLUG, SLUG, "ada").manual_score = 0.5
        gradebook.db.commit()
    graded(course, regrade=True)
    assert scores(course) == {"ada": 4.5}


# kill -9.

INSIDE = (GradebookWriter, "_penalise")  # the transaction
STEPS: list[tuple[object, str]] = [
    (Journal, "begin"),
    (GradebookWriter, "mark_stale"),
    (grading, "write_autograded"),
    (Journal, "write"),
    (GradebookWriter, "write"),
    INSIDE,
    (Journal, "finish"),
]


def killed_in(work: Callable[[], object], place_: object, name: str, at: int, after: bool) -> None:
    """Do `work` in a process of its own that ends by SIGKILL at call number `at` of a function."""
    child = os.fork()
    if child:
        assert os.waitpid(child, 0)[1] in (signal.SIGKILL, 0)  # 0: that call never came
        return
    function, calls = getattr(place_, name), iter(range(99))

    def deadly(*args: Any, **kwargs: Any) -> Any:
        fatal = next(calls) == at
        if fatal and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        result = function(*args, **kwargs)
        if fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(place_, name, deadly)
    work()
    os._exit(0)


def give(points: float) -> FakeRunner:
    """A runner that gives everyone these points in `flatten`."""
    return FakeRunner(lambda job: record(job.student, flatten(points), double(), seconds=1.0))


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(
    "step",
    sampled(STEPS, INSIDE, why="a run that is killed at each step"),
    ids=[name for _, name in STEPS],
)
def test_a_run_after_kill_9_ends_with_what_an_uninterrupted_one_gives(
    tmp_path: Path, step: tuple[object, str], after: bool
) -> None:
    place_, name = step
    students = ("ada", "bob", "cleo")
    whole, _ = classroom(tmp_path / "whole", *students)
    broken, _ = classroom(tmp_path / "broken", *students)
    for course in (whole, broken):
        graded(course, give(1.0))
    graded(whole, give(3.0), regrade=True)

    killed_in(lambda: graded(broken, give(3.0), regrade=True), place_, name, at=1, after=after)
    killed_in(lambda: graded(broken, give(3.0)), place_, name, at=0, after=after)
    graded(broken, give(3.0), regrade=name in ("begin", "finish") and not after)
    assert everything(broken) == everything(whole)


@pytest.mark.exhaustive("a run that is killed at each write")
def test_no_write_that_is_killed_leaves_a_file(tmp_path: Path) -> None:
    # One after the other, as many as the first run has: the disk hears of each with `fsync`.
    course, _ = classroom(tmp_path, "ada")
    left = []
    for at in range(9):
        killed_in(lambda: graded(course), os, "fsync", at=at, after=True)
        left.append({path.parent.name for path in tmp_path.rglob(".*.tmp")})
        graded(course)
        assert not list(tmp_path.rglob(".*.tmp"))
        shutil.rmtree(course.state)
    assert {".autograder", "unentered", SLUG} <= set().union(*left)
    assert left[-1] == set()


def test_a_regrade_that_is_killed_leaves_the_old_grades_marked(tmp_path: Path) -> None:
    course, _ = classroom(tmp_path, "ada", "bob")
    graded(course, give(1.0))
    killed_in(lambda: graded(course, give(3.0), regrade=True), Journal, "write", at=1, after=False)
    assert Journal(course.state).due(SLUG) == {"bob"}
    with GradebookWriter(course) as writer:
        found = writer.entries(tiny_lesson())
    assert {name: bool(one.waiting) for name, one in found.items()} == {"ada": False, "bob": True}


# The command.


def test_the_command_prints_a_table_and_ends_in_0(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, lesson = classroom(tmp_path, "ada")
    monkeypatch.setattr(command, "choose_runner", lambda *_, **__: FakeRunner())
    assert command.run(tmp_path, (lesson,)) == 0
    head, ada, _, last = capsys.readouterr().out.splitlines()
    assert head.split() == ["student", "lesson", "status", "score", "max", "seconds"]
    assert ada.split() == ["ada", SLUG, "graded", "6", "6", "0.50"]
    assert last == "1 submission: 1 graded · mean 100 %"


def test_the_command_prints_json_and_ends_in_1_where_a_person_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    course, lesson = classroom(tmp_path, "ada")
    (course.submitted("ada", SLUG) / f"{SLUG}.ipynb").unlink()
    monkeypatch.setattr(command, "choose_runner", lambda *_, **__: FakeRunner())
    assert command.run(tmp_path, (lesson,), as_json=True) == 1
    (found,) = json.loads(capsys.readouterr().out)
    assert (found["student"], found["status"], found["max"]) == ("ada", "missing", 6.0)


def test_grades_are_printed_before_the_gradebooks_trouble_is_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, lesson = classroom(tmp_path, "ada")
    (tmp_path / "gradebook.db").unlink()
    (tmp_path / "gradebook.db").mkdir()
    monkeypatch.setattr(command, "choose_runner", lambda *_, **__: FakeRunner())
    with pytest.raises(GradebookError, match="Nothing is lost"):
        command.run(tmp_path, (lesson,))
    assert "ada" in capsys.readouterr().out


def test_stock_nbgrader_runs_learners_code_only_when_told_to() -> None:
    with pytest.raises(UsageError, match=r"(?s)access to all your files.*--no-sandbox"):
        choose_runner("stock", jobs=None, sandbox=True, scheduler=None)


def test_a_name_cannot_rewrite_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    from autograder.reporting.tables import grades_table

    assert "\x1b" not in grades_table([record("\x1b[2Jada")])


def test_a_very_long_name_does_not_widen_the_table() -> None:
    from autograder.reporting.tables import grades_table

    assert grades_table([record("x" * 251)]).splitlines()[1].split()[0] == "x" * 39 + "…"


def test_what_was_not_judged_is_a_dash_and_never_a_zero() -> None:
    from autograder.reporting.tables import grades_table

    lost = Status.MALFORMED
    one: SubmissionRecord = record("ada", flatten(0, status=lost), status=lost)
    assert grades_table([one]).splitlines()[1].split()[2:5] == ["malformed", "–", "4"]


# The notebooks.


def test_the_submissions_files_come_along_and_links_do_not(tmp_path: Path) -> None:
    course, _ = classroom(tmp_path, "ada")
    folder = course.submitted("ada", SLUG)
    (folder / "more").mkdir()
    (folder / "more" / "data.txt").write_text("1")
    (folder / "secret.txt").symlink_to("/etc/passwd")
    graded(course)
    copied = {path.name for path in course.autograded("ada", SLUG).rglob("*") if path.is_file()}
    assert copied == {f"{SLUG}.ipynb", "timestamp.txt", "data.txt"}


def test_an_executed_notebook_is_read_only_and_can_be_replaced(tmp_path: Path) -> None:
    course, lesson = classroom(tmp_path, "ada")
    graded(course)

    (submission,) = find_submissions(course, (lesson,))
    notebook = nbformat.v4.new_notebook()
    folder = write_autograded(course, submission, record(), {SLUG: notebook})
    path = folder / f"{SLUG}.ipynb"
    assert path.stat().st_mode & 0o777 == 0o444
    assert nbformat.read(path, as_version=4).cells == []


def test_half_a_character_in_a_notebook_leaves_it_a_text(tmp_path: Path) -> None:
    course, lesson = classroom(tmp_path, "ada")
    (submission,) = find_submissions(course, (lesson,))
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("an \ud83d end")])
    path = write_autograded(course, submission, record(), {SLUG: notebook}) / f"{SLUG}.ipynb"
    assert nbformat.read(path, as_version=4).cells[0].source == "an ? end"


def test_a_course_that_is_not_there_is_named() -> None:
    with pytest.raises(Exception, match="no such course directory"):
        load_course(Path("/nowhere/at/all"))


def test_a_broken_configuration_is_named_with_its_cause(tmp_path: Path) -> None:
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\nc.X = 1 / 0\n")
    with pytest.raises(Exception, match=r"nbgrader_config\.py: cannot be run: ZeroDivisionError"):
        load_course(tmp_path)


def test_the_configuration_of_another_root_does_not_lend_its_gradebook(tmp_path: Path) -> None:
    classroom(tmp_path)
    lines = ["c = get_config()", "c.CourseDirectory.root = '/elsewhere'"]
    lines.append("c.CourseDirectory.db_url = 'sqlite:////elsewhere/gradebook.db'")
    (tmp_path / "nbgrader_config.py").write_text("\n".join(lines))
    assert load_course(tmp_path).db_url == f"sqlite:///{tmp_path / 'gradebook.db'}"
    assert find_lesson(tmp_path, SLUG).slug == SLUG


# One learner's folder never stops the others.


def files_of(course: CourseDirectory, student: str) -> set[str]:
    """What lies in the autograded folder of a student."""
    folder = course.autograded(student, SLUG)
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_files_of_an_earlier_submission_do_not_stay_in_autograded(tmp_path: Path) -> None:
    course, _ = classroom(tmp_path, "ada")
    folder = course.submitted("ada", SLUG)
    (folder / "old.txt").write_text("1")
    graded(course)
    (folder / "old.txt").rename(folder / "new.txt")
    graded(course)
    assert files_of(course, "ada") == {f"{SLUG}.ipynb", "timestamp.txt", "new.txt"}
    assert [path.name for path in course.autograded("ada", "").iterdir()] == [SLUG]


@pytest.mark.parametrize("first", ["file", "folder"])
def test_a_file_that_becomes_a_folder_and_the_reverse_is_graded(tmp_path: Path, first: str) -> None:
    course, _ = classroom(tmp_path, "ada")
    data = course.submitted("ada", SLUG) / "data"
    for kind in (first, "file" if first == "folder" else "folder"):
        shutil.rmtree(data, ignore_errors=True)
        data.unlink(missing_ok=True)
        target = data if kind == "file" else data / "inside.txt"
        target.parent.mkdir(exist_ok=True)
        target.write_text(kind)
        assert graded(course).records[0].status is Status.GRADED
    assert {name for name in files_of(course, "ada") if name.startswith("data")} == {
        str(target.relative_to(data.parent))
    }


def test_what_a_killed_run_left_in_autograded_goes_away(tmp_path: Path) -> None:
    course, _ = classroom(tmp_path, "ada")
    for name in (".new-1", ".old-1"):
        (course.autograded("ada", name) / "locked").mkdir(parents=True)
        (course.autograded("ada", name) / "locked").chmod(0)
    graded(course)
    assert [path.name for path in course.autograded("ada", "").iterdir()] == [SLUG]


def test_an_executed_notebook_that_cannot_be_written_is_that_learners_trouble_alone(
    tmp_path: Path,
) -> None:
    course, _ = classroom(tmp_path, "ada", "bob")
    (course.autograded("ada", "").parent).mkdir(parents=True)
    (tmp_path / "autograded" / "ada").write_text("a file in the way of a folder")
    ada, bob = graded(course).records
    assert (ada.status, bob.status) == (Status.INFRASTRUCTURE, Status.GRADED)
    assert ada.notes[-1].startswith("Its grade could not be kept. The executed notebook cannot be")
    (tmp_path / "autograded" / "ada").unlink()
    assert graded(course).records[0].status is Status.GRADED


def test_notes_that_quote_a_learners_bytes_can_be_entered(tmp_path: Path) -> None:
    course, _ = classroom(tmp_path, "ada")
    odd = double(notes=("it said \0 and \ud800",))
    done = graded(course, FakeRunner(lambda job: record(job.student, flatten(), odd)))
    assert done.trouble is None
    assert done.records[0].exercises[1].notes == ("it said � and \\ud800",)


def test_a_submission_deleted_in_the_middle_of_a_run_is_owed_no_longer(tmp_path: Path) -> None:
    course, _ = classroom(tmp_path, "ada", "bob")
    Journal(course.state).begin(SLUG, ["ada", "bob"])
    shutil.rmtree(tmp_path / "submitted" / "bob")
    graded(course)
    assert Journal(course.state).pending(SLUG) is None


# Who needs you.


def test_the_table_ends_with_who_needs_you_and_why() -> None:
    from autograder.reporting.tables import grades_table

    lost = Status.MISSING
    ada = record("ada", flatten(0, status=lost), status=lost, notes=(f"{SLUG}.ipynb is gone.",))
    assert grades_table([ada, record("bob")]).splitlines()[-1] == (
        f"1 needs you: ada (missing: {SLUG}.ipynb is gone)"
    )
    slow = double(0, status=Status.TIMEOUT, notes=("Its test ran longer than it may.",))
    zoe = record("zoe\n", flatten(), slow, status=Status.TIMEOUT)
    assert grades_table([ada, zoe]).splitlines()[-1] == (
        f"2 need you: ada (missing: {SLUG}.ipynb is gone) · "
        "zoe� (timeout: Its test ran longer than it may)"
    )


def test_where_nobody_needs_you_nothing_is_said() -> None:
    from autograder.reporting.tables import needing_you

    assert needing_you([record("ada")]) == []


def test_of_many_who_need_you_the_first_are_named_and_the_reasons_are_short() -> None:
    from autograder.reporting.tables import needing_you

    lost = Status.MALFORMED
    one: SubmissionRecord = record("ada", flatten(0), status=lost, notes=("x" * 500,))
    (line,) = needing_you([one] * 50)
    assert line.startswith("50 need you: ada (malformed: xxx")
    assert line.endswith("…) · and 30 more, see `autograder report`")
    assert len(line) < 20 * 150
