"""A course comes back from its backup, points by hand included, or nothing changes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder.cli import main
from autograder.course_directory import CourseDirectory, load_course
from autograder.grading import backup
from autograder.grading.backup import BackupError, back_up
from autograder.grading.restore import restore as bring_back
from autograder.lessons.model import find_lesson
from autograder.lms.identities import lms_students
from autograder.nbgrader_bridge.database_address import OtherGradebook
from autograder.nbgrader_bridge.gradebook import GradebookWriter
from autograder.nbgrader_bridge.gradebook_copy import put_back
from autograder.nbgrader_bridge.gradebook_errors import GradebookError
from autograder.records.journal import Journal, JournalError, only_grader
from autograder.reporting.class_results import class_results
from autograder.reporting.export_csv import grades_csv
from tests.autograder.classroom import (
    SLUG,
    FakeRunner,
    classroom,
    double,
    flatten,
    graded,
    record,
    tiny_lesson,
)
from tests.exhaustive import sampled

ROSTER = "id,first_name,last_name,email\nada,Ada,Lovelace,ada@uni.example\nbob,Bob,Ross,\n"
LMS = {"ada": {"lms": "moodle", "name": "Ada Lovelace", "number": "7"}}


def by_hand(course: CourseDirectory, points: float = 3.5, words: str = "nearly") -> None:
    """Points, a comment, a due date and an extension, as people give them."""
    with Gradebook(course.db_url, course.course_id) as gradebook:
        gradebook.update_or_create_assignment(SLUG, duedate="2026-01-09 12:00:00 UTC")
        gradebook.grant_extension(SLUG, "ada", days=1, hours=2)
        grade = gradebook.find_grade("test-flatten", SLUG, SLUG, "ada")
        grade.manual_score, grade.needs_manual_grade = points, False
        gradebook.find_comment("flatten", SLUG, SLUG, "ada").manual_comment = words
        gradebook.db.commit()


@pytest.fixture
def course(tmp_path: Path) -> CourseDirectory:
    """A class of two, graded; ada has points by hand."""
    course, _ = classroom(tmp_path / "course", "ada", "bob")
    (course.root / "students.csv").write_text(ROSTER)
    (course.state / "lms").mkdir(parents=True)
    (course.state / "lms" / f"{SLUG}.json").write_text(json.dumps(LMS))
    graded(course, FakeRunner(lambda job: record(job.student, flatten(1.0), double())))
    by_hand(course)
    return course


def csv_of(course: CourseDirectory) -> str:
    lesson = find_lesson(course.root, SLUG)
    return grades_csv(lesson, class_results(course, lesson))


def destroy(course: CourseDirectory) -> None:
    """What a lost disk takes; submissions and sources are elsewhere."""
    shutil.rmtree(course.state)
    (course.root / "gradebook.db").unlink()
    (course.root / "students.csv").unlink()


def everything(course: CourseDirectory) -> dict[str, bytes]:
    """All that a restore may change."""
    kept = [p for p in course.state.rglob("*") if p.is_file() and "backups" not in p.parts]
    kept = [p for p in kept if p.name != "lock"]
    found = [*kept, course.root / "students.csv", course.root / "gradebook.db"]
    return {str(p.relative_to(course.root)): p.read_bytes() for p in found if p.is_file()}


def test_backup_destroy_restore_export_gives_the_same_file(
    course: CourseDirectory, tmp_path: Path
) -> None:
    before, file = csv_of(course), tmp_path / "kept.zip"
    back_up(course, file)
    destroy(course)
    bring_back(course, file)
    assert csv_of(course) == before
    assert "ada,Lovelace,Ada,01-tiny,graded,5.5,6,3.5,2" in before


def test_comments_extensions_and_who_is_who_come_back(
    course: CourseDirectory, tmp_path: Path
) -> None:
    back_up(course, tmp_path / "kept.zip")
    destroy(course)
    bring_back(course, tmp_path / "kept.zip")
    with Gradebook(course.db_url, course.course_id) as gradebook:
        found = gradebook.find_submission(SLUG, "ada")
        assert (found.extension.days, found.total_seconds_late) == (1, 0)
        assert gradebook.find_comment("flatten", SLUG, SLUG, "ada").manual_comment == "nearly"
    assert lms_students(course, SLUG)["ada"].number == "7"
    assert (course.root / "students.csv").read_text() == ROSTER


def test_nothing_is_graded_again_after_a_restore(course: CourseDirectory, tmp_path: Path) -> None:
    back_up(course, tmp_path / "kept.zip")
    destroy(course)
    bring_back(course, tmp_path / "kept.zip")
    runner = FakeRunner()
    graded(course, runner)
    assert runner.ran == []


def test_a_backup_says_what_it_holds(course: CourseDirectory, tmp_path: Path) -> None:
    contents = back_up(course, tmp_path / "kept.zip")
    assert list(contents.lines) == [
        "  gradebook: 2 submissions, 1 points and 1 comments by hand",
        "  journal: 2 records",
        "  roster: students.csv",
        "  who is who in the LMS: 1 lessons",
    ]


def test_a_backup_is_for_its_owner_alone(course: CourseDirectory, tmp_path: Path) -> None:
    back_up(course, tmp_path / "kept.zip")
    assert stat.S_IMODE((tmp_path / "kept.zip").stat().st_mode) == 0o600


def test_a_course_that_was_never_graded_can_be_backed_up(tmp_path: Path) -> None:
    course, _ = classroom(tmp_path / "course")
    (course.root / "gradebook.db").unlink()
    contents = back_up(course, tmp_path / "kept.zip")
    assert (contents.parts, contents.gradebook) == ((), None)


def test_file_names_that_are_no_utf8_come_back(course: CourseDirectory, tmp_path: Path) -> None:
    odd = course.state / "earlier-notes" / os.fsdecode(b"na\xefve")
    odd.parent.mkdir()
    odd.write_text("kept")
    back_up(course, tmp_path / "kept.zip")
    destroy(course)
    bring_back(course, tmp_path / "kept.zip")
    assert odd.read_text() == "kept"


def test_a_backup_of_an_open_gradebook_is_consistent(
    course: CourseDirectory, tmp_path: Path
) -> None:
    with Gradebook(course.db_url, course.course_id) as gradebook:
        gradebook.find_grade("test-flatten", SLUG, SLUG, "bob").manual_score = 2.0
        gradebook.db.flush()  # not committed: no part of any backup
        assert "1 points" in str(back_up(course, tmp_path / "kept.zip").gradebook)


@pytest.mark.parametrize("action", ["backup", "restore"])
def test_a_gradebook_that_is_locked_ends_it_and_says_so(
    course: CourseDirectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, action: str
) -> None:
    monkeypatch.setattr("autograder.nbgrader_bridge.gradebook_copy._WAIT_S", 0.3)
    back_up(course, tmp_path / "kept.zip")
    before = csv_of(course)
    other = sqlite3.connect(course.root / "gradebook.db", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE" if action == "backup" else "BEGIN IMMEDIATE")
    try:
        with pytest.raises(GradebookError, match="locked"):
            if action == "backup":
                back_up(course, tmp_path / "another.zip")
            else:
                put_back(course, unpacked(tmp_path / "kept.zip"))
    finally:
        other.rollback()
        other.close()
    assert csv_of(course) == before


def unpacked(file: Path) -> Path:
    """The gradebook in a backup."""
    with zipfile.ZipFile(file) as archive:
        return Path(archive.extract("gradebook.db", file.parent / "out"))


def test_what_is_brought_back_to_another_database_is_found_there(
    course: CourseDirectory, tmp_path: Path
) -> None:
    before = csv_of(course)
    back_up(course, tmp_path / "kept.zip")
    destroy(course)
    other = load_course(course.root, db=f"sqlite:///{tmp_path / 'other.db'}")
    bring_back(other, tmp_path / "kept.zip")
    assert csv_of(other) == before
    graded(other, FakeRunner(lambda job: record(job.student, flatten(1.0), double())))
    with pytest.raises(OtherGradebook, match=r"other\.db"):
        graded(course, FakeRunner(lambda job: record(job.student)))


def test_an_existing_file_is_replaced_only_when_told(
    course: CourseDirectory, tmp_path: Path
) -> None:
    (tmp_path / "kept.zip").write_text("mine")
    with pytest.raises(BackupError, match=r"is there already\n.*--force"):
        back_up(course, tmp_path / "kept.zip")
    assert (tmp_path / "kept.zip").read_text() == "mine"
    back_up(course, tmp_path / "kept.zip", force=True)
    assert zipfile.is_zipfile(tmp_path / "kept.zip")


def test_neither_runs_beside_grade(course: CourseDirectory, tmp_path: Path) -> None:
    back_up(course, tmp_path / "kept.zip")
    with only_grader(course.state):
        with pytest.raises(JournalError, match="at work on this course"):
            back_up(course, tmp_path / "second.zip")
        with pytest.raises(JournalError, match="at work on this course"):
            bring_back(course, tmp_path / "kept.zip", force=True)
    assert not (tmp_path / "second.zip").exists()


def test_a_full_disk_leaves_no_backup_and_says_so(
    course: CourseDirectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(backup, "_add", full)
    with pytest.raises(BackupError, match=r"No space left on device\n.*Make room"):
        back_up(course, tmp_path / "kept.zip")
    assert list(tmp_path.glob("*kept*")) == []


@pytest.mark.exhaustive("a backup that is killed")
def test_a_killed_backup_leaves_nothing_under_its_name_and_the_next_one_works(
    course: CourseDirectory,
) -> None:
    file = course.state / "backups" / "kept.zip"
    code = (
        "import os, signal, sys; from pathlib import Path\n"
        "from autograder.course_directory import load_course\n"
        "from autograder.grading import backup\n"
        "backup.read_contents = lambda _: os.kill(os.getpid(), signal.SIGKILL)\n"
        "backup.back_up(load_course(Path(sys.argv[1])), Path(sys.argv[2]))\n"
    )
    command = [sys.executable, "-c", code, str(course.root), str(file)]
    assert subprocess.run(command, cwd=Path(__file__).parents[3]).returncode == -signal.SIGKILL
    assert not file.exists()
    back_up(course, file)
    assert [path.name for path in file.parent.iterdir()] == ["kept.zip"]


def test_what_is_there_is_kept_unless_told_otherwise(
    course: CourseDirectory, tmp_path: Path
) -> None:
    back_up(course, tmp_path / "kept.zip")
    before = everything(course)
    with pytest.raises(BackupError) as caught:
        bring_back(course, tmp_path / "kept.zip")
    records = "records in .autograder/ (gradebook, journal, lms)"
    cause = f"the course has a gradebook, {records}, students.csv"
    assert caught.value.cause == f"{cause} already"
    assert everything(course) == before


def test_force_backs_up_first_what_it_replaces(course: CourseDirectory, tmp_path: Path) -> None:
    back_up(course, tmp_path / "kept.zip")
    by_hand(course, 4.0, "now all of it")
    (course.root / "students.csv").write_text(ROSTER + "eve,Eve,Late,\n")
    later = csv_of(course)
    _, (safe,) = bring_back(course, tmp_path / "kept.zip", force=True)
    assert (csv_of(course) == later, "3.5" in csv_of(course)) == (False, True)
    bring_back(course, safe, force=True)
    assert csv_of(course) == later


def test_those_who_have_the_gradebook_open_see_what_was_restored(
    course: CourseDirectory, tmp_path: Path
) -> None:
    back_up(course, tmp_path / "kept.zip")
    by_hand(course, 4.0)
    with GradebookWriter(course) as open_before:
        bring_back(course, tmp_path / "kept.zip", force=True)
        assert open_before.entries(tiny_lesson())["ada"].points["test-flatten"] == 3.5


def test_a_damaged_gradebook_is_moved_aside_and_replaced(
    course: CourseDirectory, tmp_path: Path
) -> None:
    before = csv_of(course)
    back_up(course, tmp_path / "kept.zip")
    (course.root / "gradebook.db").write_bytes(b"no database at all")
    _, (safe, broken) = bring_back(course, tmp_path / "kept.zip", force=True)
    assert csv_of(course) == before
    assert broken.read_bytes() == b"no database at all"
    assert zipfile.ZipFile(safe).testzip() is None


def test_an_emptied_gradebook_is_replaced(course: CourseDirectory, tmp_path: Path) -> None:
    before = csv_of(course)
    back_up(course, tmp_path / "kept.zip")
    (course.root / "gradebook.db").write_bytes(b"")
    bring_back(course, tmp_path / "kept.zip", force=True)
    assert csv_of(course) == before


def rewritten(file: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    """A copy of the archive with other entries; their checksums are right."""
    with zipfile.ZipFile(file) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    change(entries)
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return file


def manifest(change: Callable[[dict[str, object]], None]) -> Callable[[dict[str, bytes]], None]:
    def changed(entries: dict[str, bytes]) -> None:
        data = json.loads(entries["manifest.json"])
        change(data)
        entries["manifest.json"] = json.dumps(data).encode()

    return changed


def renamed(path: str) -> Callable[[dict[str, bytes]], None]:
    return manifest(lambda data: data["parts"][0].update(path=path))  # type: ignore[index]


RECORD = f"state/journal/{SLUG}/ada.json"
SPOILT: dict[str, tuple[Callable[[dict[str, bytes]], None], str]] = {
    "another record": (lambda e: e.update({RECORD: b"{}"}), f"{RECORD} is not what was backed up"),
    "no gradebook": (lambda e: e.pop("gradebook.db"), "gradebook.db cannot be read"),
    "one file more": (lambda e: e.update({"more": b""}), "holds more, of which its manifest says"),
    "no manifest": (lambda e: e.pop("manifest.json"), "its manifest cannot be read"),
    "a time that is none": (manifest(lambda m: m.update(made_at=5)), "its manifest cannot be read"),
    "a later format": (manifest(lambda m: m.update(format=2)), "a later version of autograder"),
    "out of the course": (renamed("state/../../../x"), "names a file that no backup holds"),
    "an absolute path": (renamed("/etc/cron.d/x"), "names a file that no backup holds"),
    "a lesson": (renamed("source/01-tiny/01-tiny.ipynb"), "names a file that no backup holds"),
    "the lock": (renamed("state/lock"), "names a file that no backup holds"),
}


@pytest.mark.parametrize("spoilt", SPOILT)
def test_a_backup_that_was_changed_is_refused_and_changes_nothing(
    course: CourseDirectory, tmp_path: Path, spoilt: str
) -> None:
    change, cause = SPOILT[spoilt]
    back_up(course, tmp_path / "kept.zip")
    rewritten(tmp_path / "kept.zip", change)
    before = everything(course)
    with pytest.raises(BackupError, match=cause):
        bring_back(course, tmp_path / "kept.zip", force=True)
    assert everything(course) == before


@pytest.mark.parametrize("share", [0.0, 0.3, 0.99])
def test_a_backup_that_was_cut_short_is_refused(
    course: CourseDirectory, tmp_path: Path, share: float
) -> None:
    file = tmp_path / "kept.zip"
    back_up(course, file)
    file.write_bytes(file.read_bytes()[: int(file.stat().st_size * share)])
    before = everything(course)
    with pytest.raises(BackupError, match=r"cannot be read as a backup.*\n.*copied completely"):
        bring_back(course, file, force=True)
    assert everything(course) == before


@pytest.mark.parametrize("moves", sampled(range(5), 2, why="a restore that dies at each move"))
def test_a_restore_that_dies_between_two_moves_is_finished_by_the_same_command(
    course: CourseDirectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moves: int
) -> None:
    back_up(course, tmp_path / "kept.zip")
    before, rename, left = csv_of(course), Path.rename, moves
    by_hand(course, 0.0, "wrong")

    def dies(self: Path, target: Path) -> Path:
        nonlocal left
        left -= 1
        if left < 0:
            raise OSError(5, "Input/output error")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", dies)
    if moves < 4:  # journal and lms out, journal and lms in
        with pytest.raises(BackupError, match="the same command with --force"):
            bring_back(course, tmp_path / "kept.zip", force=True)
    monkeypatch.undo()
    bring_back(course, tmp_path / "kept.zip", force=True)
    assert csv_of(course) == before


def test_a_database_that_other_courses_share_is_not_overwritten(
    course: CourseDirectory, tmp_path: Path
) -> None:
    back_up(course, tmp_path / "kept.zip")
    with Gradebook(course.db_url, "chemistry") as other:
        other.add_assignment("acids")
    with pytest.raises(GradebookError, match="also holds the course chemistry"):
        bring_back(course, tmp_path / "kept.zip", force=True)
    assert "3.5" in csv_of(course)


def test_the_command_goes_there_and_back(
    course: CourseDirectory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--course", str(course.root)]
    assert main.main(["backup", *where]) == 0
    file = Path(capsys.readouterr().out.splitlines()[0])
    assert file.parent == course.state / "backups"
    shutil.copy(file, tmp_path / "elsewhere.zip")
    destroy(course)
    assert (
        main.main(["backup", "--restore", str(tmp_path / "elsewhere.zip"), *where, "--json"]) == 0
    )
    assert json.loads(capsys.readouterr().out)["gradebook"].startswith("2 submissions, 1 points")
    assert len(Journal(course.state).records(SLUG)) == 2
    assert not (course.state / "restoring").exists()


def test_two_files_are_wrong_usage(
    course: CourseDirectory, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["backup", "a.zip", "--restore", "b.zip", "--course", str(course.root)]
    assert main.main(words) == 2
    assert "exclude each other" in capsys.readouterr().err


@pytest.mark.exhaustive("a gradebook in another database")
def test_the_rows_of_a_gradebook_are_the_same_in_another_database(
    course: CourseDirectory, tmp_path: Path
) -> None:
    """As between SQLite and PostgreSQL: by rows, not by file."""
    from autograder.nbgrader_bridge.gradebook_copy import _engine, _rows_of, put_back

    with _engine(course.db_url) as engine:
        rows = _rows_of(engine)
    (tmp_path / "gradebook.json").write_text(json.dumps(rows))
    other = load_course(course.root, db=f"sqlite:///{tmp_path / 'other.db'}")
    put_back(other, tmp_path / "gradebook.json")
    with _engine(other.db_url) as engine:
        assert _rows_of(engine) == rows
    assert csv_of(other) == csv_of(course)


def test_tables_of_another_nbgrader_are_not_filled(course: CourseDirectory, tmp_path: Path) -> None:
    from autograder.nbgrader_bridge.gradebook_copy import _engine, _rows_of, put_back

    with _engine(course.db_url) as engine:
        rows = {**_rows_of(engine), "version": "0badcafe"}
    (tmp_path / "gradebook.json").write_text(json.dumps(rows))
    with pytest.raises(GradebookError, match=r"of version \w+, those of the backup of 0badcafe"):
        put_back(course, tmp_path / "gradebook.json")
    assert "3.5" in csv_of(course)
