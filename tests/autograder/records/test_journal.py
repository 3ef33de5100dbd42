"""The journal keeps whole records, knows what a run still owes, and belongs to one grader."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.records.journal import Journal, JournalError, only_grader, write_bytes
from tests.autograder.classroom import SLUG, record


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.write(record("ada"), "run-1")
    entry = journal.read(SLUG, "ada")
    assert entry is not None
    assert (entry.record, entry.run) == (record("ada"), "run-1")


def test_a_learner_who_was_never_graded_has_no_entry(tmp_path: Path) -> None:
    assert Journal(tmp_path).read(SLUG, "ada") is None


@pytest.mark.parametrize("content", [b"", b'{"format": 1, "record"', b'{"format": 99}', b"\xff"])
def test_a_damaged_entry_is_as_good_as_none(tmp_path: Path, content: bytes) -> None:
    journal = Journal(tmp_path)
    journal.write(record("ada"), "run-1")
    (journal.root / SLUG / "ada.json").write_bytes(content)
    assert journal.read(SLUG, "ada") is None
    assert journal.records(SLUG) == ()


def test_records_of_a_lesson_come_by_student_and_nothing_else_is_among_them(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    run = journal.begin(SLUG, ["zoe", "ada"])
    for name in ("zoe", "ada"):
        journal.write(record(name), run)
    assert [one.student for one in journal.records(SLUG)] == ["ada", "zoe"]


def test_what_a_run_set_out_to_do_is_due_until_it_is_written(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    run = journal.begin(SLUG, ["ada", "bob"])
    journal.write(record("ada"), run)
    assert journal.due(SLUG) == {"bob"}
    journal.write(record("bob"), run)
    assert journal.due(SLUG) == frozenset()


def test_a_regrade_makes_old_entries_due_again(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.write(record("ada"), journal.begin(SLUG, ["ada"]))
    journal.begin(SLUG, ["ada"])
    assert journal.due(SLUG) == {"ada"}


def test_a_new_run_takes_over_what_the_killed_one_owed(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.begin(SLUG, ["ada", "bob"])
    journal.begin(SLUG, ["cleo"])
    assert journal.due(SLUG) == {"ada", "bob", "cleo"}


def test_a_finished_run_leaves_no_plan(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.write(record("ada"), journal.begin(SLUG, ["ada"]))
    journal.finish(SLUG)
    assert journal.pending(SLUG) is None


def test_a_run_that_still_owes_something_keeps_its_plan(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.begin(SLUG, ["ada"])
    journal.finish(SLUG)
    assert journal.due(SLUG) == {"ada"}


def test_a_disk_that_refuses_is_named_and_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(JournalError, match=r"(?s)x\.json: .*No space left.*Make room"):
        write_bytes(tmp_path / "x.json", b"1")
    assert list(tmp_path.iterdir()) == []


def test_ctrl_c_while_a_file_is_written_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_handle: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("os.fsync", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_bytes(tmp_path / "x.json", b"1")
    assert list(tmp_path.iterdir()) == []


def test_a_refused_write_keeps_the_old_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path)
    journal.write(record("ada"), "old")
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError(5, "I/O error")))
    with pytest.raises(JournalError, match="I/O error"):
        journal.write(record("ada"), "new")
    entry = journal.read(SLUG, "ada")
    assert entry is not None
    assert entry.run == "old"


def test_a_directory_that_is_a_file_is_an_error_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "journal").write_text("in the way")
    with pytest.raises(JournalError, match=r"journal/01-tiny/ada\.json"):
        Journal(tmp_path).write(record("ada"), "run")


def test_a_second_grader_is_refused_while_the_first_works(tmp_path: Path) -> None:
    with (
        only_grader(tmp_path),
        pytest.raises(JournalError, match="another `autograder grade` is at work"),
        only_grader(tmp_path),
    ):
        pass
    with only_grader(tmp_path):
        assert (tmp_path / "lock").exists()


def test_the_lock_is_given_back_where_the_work_failed(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), only_grader(tmp_path):
        _ = 1 / 0
    with only_grader(tmp_path):
        assert (tmp_path / "lock").exists()


def test_a_second_process_is_refused_and_told_where(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from autograder.records import journal\n"
        "try:\n    with journal.only_grader(Path(sys.argv[1])): print('held')\n"
        "except journal.JournalError as error: print(error.place, error.cause)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "state")]
    with only_grader(tmp_path / "state"):
        refused = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    after = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert refused == f"{tmp_path} another `autograder grade` is at work on this course\n"
    assert after == "held\n"


def test_a_state_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("in the way")
    refused = pytest.raises(JournalError, match=r"state: cannot be written: File exists")
    with refused, only_grader(tmp_path / "state"):
        pass


def test_a_second_grader_is_refused_where_python_has_no_fcntl_too(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['fcntl'] = None\n"
        "from pathlib import Path; from autograder.records import journal\n"
        "held = lambda: journal.only_grader(Path(sys.argv[1]))\n"
        "try:\n    with held(), held():\n"
        "        print('both')\n"
        "except journal.JournalError as error: print(error.cause)"
    )
    command = [sys.executable, "-W", "ignore", "-c", code, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "another `autograder grade` is at work on this course\n"


def test_the_entry_on_disk_is_plain_json_with_its_format(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.write(record("ada"), "run-1")
    data = json.loads((journal.root / SLUG / "ada.json").read_text())
    assert (data["format"], data["run"], data["record"]["student"]) == (1, "run-1", "ada")


@pytest.mark.parametrize("student", ["x" * 251, "é" * 127, "jos\\xe9", "a\nb"])
def test_a_learner_of_any_name_has_an_entry(tmp_path: Path, student: str) -> None:
    journal = Journal(tmp_path)
    journal.write(record("ada"), "run")
    journal.write(record(student), journal.begin(SLUG, [student]))
    assert journal.due(SLUG) == frozenset()
    assert {one.student for one in journal.records(SLUG)} == {"ada", student}
    entry = journal.read(SLUG, student)
    assert entry is not None
    assert entry.record == record(student)


def test_long_names_that_begin_alike_have_entries_of_their_own(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    for last in "ab":
        journal.write(record("x" * 252 + last), "run")
    assert [one.student[-1] for one in journal.records(SLUG)] == ["a", "b"]


def test_a_folder_in_the_place_of_a_record_is_set_aside(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    (journal.root / SLUG / "ada.json").mkdir(parents=True)
    (journal.root / SLUG / "ada.json" / "kept.txt").write_text("1")
    assert (journal.read(SLUG, "ada"), journal.records(SLUG)) == (None, ())
    journal.write(record("ada"), "run")
    assert journal.records(SLUG) == (record("ada"),)
    assert [path.name for path in journal.root.rglob("kept.txt")] == ["kept.txt"]


def test_what_is_gone_from_the_course_is_due_no_longer(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.begin(SLUG, ["ada", "bob"])
    journal.write(record("ada"), journal.begin(SLUG, ["ada"], gone={"bob"}))
    assert journal.due(SLUG) == frozenset()
    journal.begin(SLUG, ["bob"])
    journal.finish(SLUG, gone={"bob"})
    assert journal.pending(SLUG) is None


def test_an_id_that_is_called_as_the_entry_of_a_long_one_has_its_own(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.write(record("a" * 252), "run-1")
    [path] = (tmp_path / "journal" / SLUG).iterdir()
    journal.write(record(path.stem), "run-1")
    assert {one.student for one in journal.records(SLUG)} == {"a" * 252, path.stem}
