"""From an archive of Moodle or Canvas to submitted/: taken, not matched, refused; nothing lost."""

from __future__ import annotations

import io
import json
import os
import time
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from autograder.cli import main
from autograder.course_directory import load_course
from autograder.errors import UsageError
from autograder.lessons.model import select_lessons
from autograder.lms.canvas import CANVAS, Canvas
from autograder.lms.identities import lms_students
from autograder.lms.interface import ArchiveName
from autograder.nbgrader_bridge.gradebook import GradebookWriter
from autograder.submissions.candidates import base_name
from autograder.submissions.class_list import RosterError
from autograder.submissions.collect import Collected, collect, summary_lines
from autograder.submissions.discovery import find_submissions
from autograder.submissions.handing_in import earlier
from autograder.submissions.matching import read_roster
from tests.autograder import tiny
from tests.autograder.classroom import SLUG, classroom

MOODLE = "{}_assignsubmission_file_/01-tiny.ipynb"
ROSTER = """id,first_name,last_name,email,lms_user_id
ada,Ada,Lovelace,ada@uni.example,12345
grace,Grace,Hopper,grace@uni.example,77
mary,Mary,O'Brien,,
jose,José,Núñez,,
"""
NOTEBOOK = json.dumps(tiny.notebook())


def course(root: Path, roster: str = ROSTER) -> Path:
    tiny.build(root)
    (root / "students.csv").write_text(roster)
    return root


def archive(root: Path, *entries: tuple[str, str | bytes]) -> Path:
    path = root / "all.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as zip_file:
        for name, data in entries:
            zip_file.writestr(name, data)
    return path


def collected(
    root: Path, *entries: tuple[str, str | bytes], match: tuple[str, ...] = ()
) -> Collected:
    where = load_course(root)
    roster = read_roster(where, chosen=match)
    return collect(where, archive(root, *entries), select_lessons(root), roster)


def states(found: Collected) -> dict[str, str]:
    return {one.student: one.state for one in found.taken}


def test_a_moodle_archive_becomes_submissions_that_intake_finds(tmp_path: Path) -> None:
    root = course(tmp_path)
    entries = [(MOODLE.format(who), NOTEBOOK) for who in ("Ada Lovelace_1", "Grace Hopper_2")]
    found = collected(root, *entries)
    assert (states(found), found.refused) == ({"ada": "new", "grace": "new"}, ())
    submissions = find_submissions(load_course(root), select_lessons(root))
    assert [(one.student, one.notebooks[0].problem) for one in submissions] == [
        ("ada", None),
        ("grace", None),
    ]
    assert (root / f"submitted/ada/{SLUG}/{SLUG}.ipynb").read_text() == NOTEBOOK


def test_a_canvas_archive_is_matched_by_user_id(tmp_path: Path) -> None:
    found = collected(
        course(tmp_path),
        ("changedname_12345_1_mine.ipynb", NOTEBOOK),
        ("hoppergrace_LATE_77_2_01-tiny-2.ipynb", NOTEBOOK),
    )
    assert [(one.student, one.late, one.notes) for one in found.taken] == [
        ("ada", False, ("was handed in as mine.ipynb",)),
        ("grace", True, ()),
    ]


@pytest.mark.parametrize(
    ("name", "student"),
    [
        ("Lovelace Ada_1", "ada"),
        ("LOVELACE ada_1", "ada"),
        ("Mary OBrien_1", "mary"),  # Moodle leaves out apostrophes
        ("Jose Nunez_1", "jose"),
        ("José Núñez_1", "jose"),
        ("ada_1", "ada"),
    ],
)
def test_a_name_is_matched_by_its_letters(tmp_path: Path, name: str, student: str) -> None:
    found = collected(course(tmp_path), (MOODLE.format(name), NOTEBOOK))
    assert states(found) == {student: "new"}


def test_who_cannot_be_matched_is_listed_with_the_closest_name(tmp_path: Path) -> None:
    file = MOODLE.format("Ada Lovelac_1")
    found = collected(
        course(tmp_path), (file, NOTEBOOK), (MOODLE.format("Grace Hopper_2"), NOTEBOOK)
    )
    (who,) = found.unmatched
    assert (who.key, who.files) == ("Ada Lovelac_1", (file,))
    assert who.reason == (
        "no student has this name: say whose it is by --match. Did you mean Ada Lovelace?"
    )
    assert states(found) == {"grace": "new"}


def test_a_key_can_be_matched_by_hand(tmp_path: Path) -> None:
    entry = (MOODLE.format("Participant_9"), NOTEBOOK)
    found = collected(course(tmp_path), entry, match=("Participant_9=ada",))
    assert states(found) == {"ada": "new"}


def test_two_students_of_one_name_are_not_guessed(tmp_path: Path) -> None:
    root = course(tmp_path, ROSTER + "ada2,Ada,Lovelace,,\n")
    found = collected(root, (MOODLE.format("Ada Lovelace_1"), NOTEBOOK))
    assert found.unmatched[0].reason.startswith("2 students have this name: ada, ada2")
    assert not (root / "submitted").exists()


def test_one_student_is_never_given_to_two_people(tmp_path: Path) -> None:
    entries = [(MOODLE.format(f"Ada Lovelace_{n}"), NOTEBOOK) for n in (1, 2)]
    found = collected(course(tmp_path), *entries)
    assert [one.key for one in found.unmatched] == ["Ada Lovelace_1", "Ada Lovelace_2"]
    assert "2 people of the LMS would be the student ada" in found.unmatched[0].reason


def test_two_notebooks_of_one_student_are_both_refused(tmp_path: Path) -> None:
    names = [f"Ada Lovelace_1_assignsubmission_file_/{n}.ipynb" for n in ("a", "b")]
    entries = [*((name, NOTEBOOK) for name in names), (MOODLE.format("Grace Hopper_2"), NOTEBOOK)]
    found = collected(course(tmp_path), *entries)
    assert [(one.file, one.student) for one in found.refused] == [(n, "ada") for n in names]
    assert found.refused[0].reason == (
        f"is one of 2 notebooks of {SLUG} by one student; the other: {names[1]}"
    )
    assert states(found) == {"grace": "new"}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (NOTEBOOK.encode("utf-16"), "The file is not UTF-8 text (byte 0xff at position 0)."),
        (
            '{"cells": ["ä"]}'.encode("latin-1"),
            "The file is not UTF-8 text (byte 0xe4 at position 12).",
        ),
        (b"%PDF-1.7", "The file is not JSON"),
        (b"[" * 100_000, "The file is nested too deeply to be a notebook."),
        (b'{"a": 1}', "The file is JSON, but no notebook"),
        (b'{"cells": []}', "has no graded cell of 01-tiny; it is another notebook"),
    ],
)
def test_what_is_no_notebook_is_refused_with_the_reason(
    tmp_path: Path, data: bytes, reason: str
) -> None:
    bad = "Ada Lovelace_1_assignsubmission_file_/x.ipynb"
    found = collected(course(tmp_path), (bad, data), (MOODLE.format("Grace Hopper_2"), NOTEBOOK))
    (left,) = found.refused
    assert (left.file, left.student, left.reason.startswith(reason)) == (bad, "ada", True)
    assert states(found) == {"grace": "new"}


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("Ada Lovelace_1_assignsubmission_file_/essay.pdf", "is not a notebook (.ipynb)"),
        (
            "Ada Lovelace_1_assignsubmission_onlinetext_/onlinetext.html",
            "is text or a link typed into the LMS, not a file",
        ),
    ],
)
def test_other_files_are_refused_with_the_reason(tmp_path: Path, name: str, reason: str) -> None:
    (left,) = collected(course(tmp_path), (name, NOTEBOOK)).refused
    assert left.reason.startswith(reason)


def test_nothing_is_written_outside_of_the_course(tmp_path: Path) -> None:
    root = course(tmp_path / "course")
    folder = "Ada Lovelace_1_assignsubmission_file_"
    found = collected(
        root,
        ("../../../evil.ipynb", NOTEBOOK),
        (f"{folder}/../../evil.ipynb", NOTEBOOK),
        ("/evil.ipynb", NOTEBOOK),
        ("Grace Hopper_2_assignsubmission_file_/01-tiny.ipynb", NOTEBOOK),
    )
    assert len(found.refused) == 3
    assert [path.name for path in tmp_path.iterdir()] == ["course"]
    assert [path.name for path in (root / "submitted").iterdir()] == ["grace"]
    assert not list(root.rglob("evil*"))


def test_a_byte_order_mark_is_taken_off_and_noted(tmp_path: Path) -> None:
    data = b"\xef\xbb\xbf" + NOTEBOOK.encode()
    found = collected(course(tmp_path), (MOODLE.format("Ada Lovelace_1"), data))
    assert found.taken[0].notes == ("a byte order mark was taken off",)
    assert (tmp_path / f"submitted/ada/{SLUG}/{SLUG}.ipynb").read_text() == NOTEBOOK


def test_an_earlier_submission_is_kept_aside_whole(tmp_path: Path) -> None:
    root, name = course(tmp_path), MOODLE.format("Ada Lovelace_1")
    for version in range(3):
        found = collected(root, (name, NOTEBOOK + " " * version))
        (root / f"submitted/ada/{SLUG}/own.txt").write_text(str(version))
    assert states(found) == {"ada": "replaced"}
    kept = earlier(load_course(root), "ada", SLUG)
    assert [path.name for path in sorted(kept.iterdir())] == ["001", "002"]
    assert (kept / "002" / "own.txt").read_text() == "1"
    assert (kept / "001" / f"{SLUG}.ipynb").read_text() == NOTEBOOK


def test_collecting_again_changes_nothing(tmp_path: Path) -> None:
    root, entry = course(tmp_path), (MOODLE.format("Ada Lovelace_1"), NOTEBOOK)
    collected(root, entry)
    assert states(collected(root, entry)) == {"ada": "unchanged"}
    assert not earlier(load_course(root), "ada", SLUG).exists()


def test_a_run_that_was_killed_is_continued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = course(tmp_path)
    entries = [(MOODLE.format(who), NOTEBOOK) for who in ("Ada Lovelace_1", "Grace Hopper_2")]

    def kill(what: str) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("autograder.console.Progress.step", lambda self, what: kill(what))
        with pytest.raises(KeyboardInterrupt):
            collected(root, *entries)
    assert states(collected(root, *entries)) == {"ada": "unchanged", "grace": "new"}
    assert not (root / ".autograder" / "collecting").exists()


def test_a_link_in_the_place_of_a_submission_is_moved_not_followed(tmp_path: Path) -> None:
    root = course(tmp_path / "course")
    (tmp_path / "elsewhere").mkdir()
    (root / "submitted/ada").mkdir(parents=True)
    (root / f"submitted/ada/{SLUG}").symlink_to(tmp_path / "elsewhere")
    found = collected(root, (MOODLE.format("Ada Lovelace_1"), NOTEBOOK))
    assert states(found) == {"ada": "replaced"}
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_link_in_the_place_of_a_students_folder_is_moved_too(tmp_path: Path) -> None:
    root = course(tmp_path)
    collected(root, (MOODLE.format("Grace Hopper_2"), NOTEBOOK))
    (root / "submitted/ada").symlink_to("grace")
    found = collected(root, (MOODLE.format("Ada Lovelace_1"), NOTEBOOK))
    assert states(found) == {"ada": "replaced"}
    assert not (root / "submitted/ada").is_symlink()
    assert (root / f"submitted/grace/{SLUG}/{SLUG}.ipynb").read_text() == NOTEBOOK


def test_a_notebook_of_a_terabyte_that_lies_there_is_put_aside_unread(tmp_path: Path) -> None:
    root, entry = course(tmp_path), (MOODLE.format("Ada Lovelace_1"), NOTEBOOK)
    collected(root, entry)
    os.truncate(root / f"submitted/ada/{SLUG}/{SLUG}.ipynb", 2**40)
    assert states(collected(root, entry)) == {"ada": "replaced"}
    assert (root / f"submitted/ada/{SLUG}/{SLUG}.ipynb").read_text() == NOTEBOOK
    kept = earlier(load_course(root), "ada", SLUG) / "001" / f"{SLUG}.ipynb"
    assert kept.stat().st_size == 2**40


WORKSHEET = """Identifier,Full name,Email address,Status,Grade,Last modified (submission)
Participant 7,A. King,ADA@uni.example,Submitted,,"Friday, 16 January 2026, 5:43 PM"
Participant 8,G. Hopper,grace@uni.example,Submitted,,-
"""


@pytest.mark.parametrize(
    ("time", "moment", "note"),
    [
        ("Friday, 16 January 2026, 5:43 PM", "2026-01-16T17:43:00+00:00", False),
        ("Friday, January 16, 2026, 5:43 PM", "2026-01-16T17:43:00+00:00", False),
        ("Freitag, 16. Januar 2026, 17:43", None, True),
        ("-", None, False),
    ],
)
def test_a_time_that_cannot_be_read_is_told(
    tmp_path: Path, time: str, moment: str | None, note: bool
) -> None:
    root = course(tmp_path)
    heading = "Identifier,Full name,Email address,Last modified (submission)"
    (root / "g.csv").write_text(f'{heading}\nParticipant 7,Ada,ada@uni.example,"{time}"\n')
    roster = read_roster(load_course(root), worksheet=root / "g.csv", zone=UTC)
    source = archive(root, (MOODLE.format("Ada Lovelace_7"), NOTEBOOK))
    (taken,) = collect(load_course(root), source, select_lessons(root), roster).taken
    assert taken.submitted_at == moment
    assert any("cannot be read" in one for one in taken.notes) is note


def test_another_number_of_canvas_than_the_known_one_makes_nobody_of_a_name(
    tmp_path: Path,
) -> None:
    entries = [
        ("lovelaceada_777_1_01-tiny.ipynb", NOTEBOOK),
        ("obrienmary_9_2_01-tiny.ipynb", NOTEBOOK),  # whose number students.csv lacks
        ("hoppergrace_77_2_01-tiny.ipynb", NOTEBOOK),
    ]
    found = collected(course(tmp_path), *entries)
    assert states(found) == {"grace": "new"}
    who, _ = found.unmatched
    for one, number in zip(found.unmatched, ("ada", "mary"), strict=True):
        assert f"but {number} has this name" in one.reason and "--match" in one.reason
    assert states(collected(tmp_path, *entries, match=(f"{who.key}=ada",)))["ada"] == "new"


@pytest.mark.parametrize("known", ["other@uni.example", ""])
@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("7,Ada Lovelace,guest@else.example", "the address guest@else.example, but ada has"),
        ("7,Ada Lovelace,", "this participant has no address in the worksheet"),
        ("9,Ada Lovelace,ada@uni.example", "this participant is not in the worksheet"),
    ],
)
def test_where_the_worksheet_has_addresses_no_name_counts(
    tmp_path: Path, known: str, line: str, reason: str
) -> None:
    root = course(
        tmp_path,
        "id,first_name,last_name,email\n"
        f"ada,Ada,Lovelace,{known}\ngrace,Grace,Hopper,grace@uni.example\n",
    )
    (root / "grades.csv").write_text(
        "Identifier,Full name,Email address\n"
        f"Participant {line}\n"
        "Participant 8,G. Hopper,GRACE@uni.example\n"
    )
    roster = read_roster(load_course(root), worksheet=root / "grades.csv")
    entries = [(MOODLE.format(who), NOTEBOOK) for who in ("Ada Lovelace_7", "G Hopper_8")]
    found = collect(load_course(root), archive(root, *entries), select_lessons(root), roster)
    assert states(found) == {"grace": "new"}
    (who,) = found.unmatched
    assert reason in who.reason and "--match" in who.reason


def test_addresses_tell_nothing_where_the_lms_has_others_for_everybody(tmp_path: Path) -> None:
    root = course(tmp_path)
    (root / "grades.csv").write_text(
        "Identifier,Full name,Email address\nParticipant 7,Ada Lovelace,al@students.example\n"
    )
    roster = read_roster(load_course(root), worksheet=root / "grades.csv")
    source = archive(root, (MOODLE.format("Ada Lovelace_7"), NOTEBOOK))
    found = collect(load_course(root), source, select_lessons(root), roster)
    assert states(found) == {"ada": "new"}


@pytest.mark.parametrize(("known", "told"), [("", None), ("333", ("333", "503"))])
def test_no_number_that_a_learner_wrote_is_remembered_as_theirs(
    tmp_path: Path, known: str, told: tuple[str, str] | None
) -> None:
    root = course(tmp_path, f"{ROSTER}kim,Kim,Lee,,{known}\n")
    name = "lovelaceada_12345_99_333_503_01-tiny.ipynb"
    found = collected(root, (name, NOTEBOOK), match=(f"{name}=kim",))
    assert states(found) == {"kim": "new"}
    people = lms_students(load_course(root), SLUG)
    assert {who: (one.number, one.file_id) for who, one in people.items()} == (
        {"kim": told} if told else {}
    )
    assert [note for note in found.taken[0].notes if "lms_user_id" in note] == (
        []
        if told
        else [
            "whose number in the LMS this is cannot be told from its name, so no page goes back by "
            "a zip; for Canvas write the number into students.csv, column lms_user_id, and collect "
            "again"
        ]
    )


def test_a_name_of_moodles_with_two_numbers_leaves_the_number_unknown(tmp_path: Path) -> None:
    name = "Ada_9_assignsubmission_file_x_1_assignsubmission_file_01-tiny.ipynb"
    found = collected(course(tmp_path), (name, NOTEBOOK), match=(f"{name}=ada",))
    assert states(found) == {"ada": "new"}
    assert lms_students(load_course(tmp_path), SLUG) == {}


def test_the_worksheet_gives_addresses_and_times(tmp_path: Path) -> None:
    root = course(tmp_path)
    (root / "grades.csv").write_text("\ufeff" + WORKSHEET)
    where, zone = load_course(root), ZoneInfo("Europe/Berlin")
    roster = read_roster(where, worksheet=root / "grades.csv", zone=zone)
    entries = [(MOODLE.format(who), NOTEBOOK) for who in ("A King_7", "Grace Hopper_8")]
    found = collect(where, archive(root, *entries), select_lessons(root), roster)
    assert states(found) == {"ada": "new", "grace": "new"}
    ada, grace = find_submissions(where, select_lessons(root))
    assert ada.submitted_at == datetime(2026, 1, 16, 16, 43, tzinfo=UTC).isoformat()
    assert grace.submitted_at is None


@pytest.mark.parametrize("there", [b"\xff\xfe2026", b"x" * 5000, None])
def test_a_time_that_lies_there_is_bytes_whatever_they_are(
    tmp_path: Path, there: bytes | None
) -> None:
    root = course(tmp_path)
    (root / "grades.csv").write_text(WORKSHEET)
    roster = read_roster(load_course(root), worksheet=root / "grades.csv", zone=UTC)
    source, lessons = archive(root, (MOODLE.format("A King_7"), NOTEBOOK)), select_lessons(root)
    collect(load_course(root), source, lessons, roster)
    time = root / f"submitted/ada/{SLUG}/timestamp.txt"
    assert states(collect(load_course(root), source, lessons, roster)) == {"ada": "unchanged"}
    time.unlink()
    if there is not None:
        time.write_bytes(there)
    assert states(collect(load_course(root), source, lessons, roster)) == {"ada": "replaced"}
    assert time.read_text() == "2026-01-16 17:43:00 UTC\n"


# PHP doubles no quote behind a backslash, so this may be the end of Mal's text, or may not.
INJECTED = r"""Identifier,Full name,Email address,Last modified (submission),Online text,Feedback
Participant 6,"Bob, jr.",bob@uni.example,-,"fine ""so"" then",
Participant 7,M. Lory,mal@x.org,-,"see \",-
Participant 8,M. Lory,ada@uni.example,"Friday, 16 January 2026, 5:43 PM",,-
Participant 7,M. Lory,grace@uni.example,-,,-
Participant 6,"Bob, jr.",nobody@x.org,-,,-
x",
Participant 8,A. King,ada@uni.example,-,,
Participant 9,G. Hopper,grace@uni.example,-,,
"""


def test_what_somebody_typed_into_moodle_is_no_line_of_its_worksheet(tmp_path: Path) -> None:
    root = course(tmp_path)
    (root / "grades.csv").write_text(INJECTED)
    where = load_course(root)
    roster = read_roster(where, worksheet=root / "grades.csv", zone=UTC, system="moodle")
    entries = [(MOODLE.format(who), NOTEBOOK) for who in ("M. Lory_7", "A. King_8", "G. Hopper_9")]
    found = collect(where, archive(root, *entries), select_lessons(root), roster)
    assert states(found) == {"grace": "new"}
    assert [one.key for one in found.unmatched] == ["A. King_8", "M. Lory_7"]
    for one in found.unmatched:
        assert "two lines for this participant" in one.reason
        assert "take the column with the texts out of the file: say whose it is" in one.reason
    assert {key[1]: one.email for key, one in roster.participants.items()} == {
        "6": "bob@uni.example",
        "7": "",
        "8": "",
        "9": "grace@uni.example",
    }


def test_a_name_with_a_quote_behind_a_backslash_tells_no_address(tmp_path: Path) -> None:
    root = course(tmp_path)
    (root / "grades.csv").write_text(
        "Identifier,Full name,Email address,Status\n"
        "Participant 8,G. Hopper,grace@uni.example,-\n"
        'Participant 9,"M L\\",ada@uni.example,S,,-,x",mal@x.org,-\n'
    )
    where = load_course(root)
    roster = read_roster(where, worksheet=root / "grades.csv", zone=UTC, system="moodle")
    entries = [(MOODLE.format(who), NOTEBOOK) for who in ("M L_9", "G. Hopper_8")]
    found = collect(where, archive(root, *entries), select_lessons(root), roster)
    assert states(found) == {"grace": "new"}
    (one,) = found.unmatched
    assert "a quote behind a backslash in a name" in one.reason


@pytest.mark.parametrize(
    ("name", "student"),
    [
        ("ada_12345_222_x_2026_7_ps1.ipynb", "-"),  # 2026 is Grace's number
        ("ada_12345_222_x_2025_7_ps1.ipynb", "ada"),
        ("ada_12345_222_" + "7_8_" * 12 + "x.ipynb", "-"),
    ],
)
def test_numbers_in_a_file_of_canvas_are_read_in_bounds(
    tmp_path: Path, name: str, student: str
) -> None:
    root = course(tmp_path)
    roster = (root / "students.csv").read_text().replace(",77\n", ",2026\n")
    (root / "students.csv").write_text(roster)
    assert ",2026\n" in roster
    found = collected(root, (name, NOTEBOOK))
    assert [one.student for one in found.taken] == [student] * (student != "-")


def test_a_date_in_the_name_of_a_file_hides_no_number(tmp_path: Path) -> None:
    root = course(tmp_path, "id,first_name,last_name\nada,Ada,Lovelace\n")
    found = collected(root, (f"lovelaceada_7_222_{SLUG}_2026_7_x.ipynb", NOTEBOOK))
    assert [(one.student, one.notes[:-1]) for one in found.taken] == [("ada", ())]
    assert "was handed in as" in found.taken[0].notes[-1]


def test_a_worksheet_in_another_language_says_what_to_do(tmp_path: Path) -> None:
    root = course(tmp_path)
    (root / "grades.csv").write_text("ID,Vollständiger Name\nTeilnehmer/in 7,Ada\n")
    with pytest.raises(RosterError, match=r"(?s)no grading worksheet.*language to English"):
        read_roster(load_course(root), worksheet=root / "grades.csv")


def test_the_gradebook_knows_students_too(tmp_path: Path) -> None:
    where, _ = classroom(tmp_path)
    (tmp_path / "list.csv").write_text("id,first_name,last_name\nalan,Alan,Turing\n")
    with GradebookWriter(where) as gradebook:
        gradebook.enrol(tmp_path / "list.csv")
    found = collected(tmp_path, (MOODLE.format("Alan Turing_1"), NOTEBOOK))
    assert states(found) == {"alan": "new"}


def test_a_course_without_students_says_what_to_write(tmp_path: Path) -> None:
    tiny.build(tmp_path)
    with pytest.raises(RosterError, match=r"(?s)no student.*columns id, first_name, last_name"):
        read_roster(load_course(tmp_path))
    assert not (tmp_path / "gradebook.db").exists()


def test_an_id_that_would_leave_submitted_is_refused(tmp_path: Path) -> None:
    root = course(tmp_path, "id,first_name,last_name\n../evil,Ada,Lovelace\n")
    with pytest.raises(RosterError, match="cannot be a directory's name"):
        read_roster(load_course(root))


def test_matching_by_hand_wants_a_student_that_exists(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"(?s)--match x_1=adda names no student.*Did you mean ada"
    ):
        read_roster(
            load_course(course(tmp_path)),
            chosen=["x_1=adda"],
        )


def test_how_the_lms_knows_each_student_is_remembered(tmp_path: Path) -> None:
    root = course(tmp_path)
    collected(root, (MOODLE.format("Ada Lovelace_1"), NOTEBOOK))
    collected(root, ("hoppergrace_77_2_01-tiny.ipynb", NOTEBOOK))
    known = lms_students(load_course(root), SLUG)
    assert {name: (one.lms, one.number) for name, one in known.items()} == {
        "ada": ("moodle", "1"),
        "grace": ("canvas", "77"),
    }


@pytest.mark.parametrize(("match", "kept"), [((), False), (("Ada Lovelace_1=ada",), True)])
def test_a_number_that_came_with_a_name_alone_goes_with_the_work_that_it_was_of(
    tmp_path: Path, match: tuple[str, ...], kept: bool
) -> None:
    root = course(tmp_path / "course")
    collected(root, (MOODLE.format("Ada Lovelace_1"), NOTEBOOK), match=match)
    by_mail = tmp_path / "mail" / "ada" / f"{SLUG}.ipynb"
    by_mail.parent.mkdir(parents=True)
    for text, known in ((NOTEBOOK, True), (NOTEBOOK + " ", kept)):
        by_mail.write_text(text)
        where = load_course(root)
        collect(where, by_mail.parents[1], select_lessons(root), read_roster(where))
        assert ("ada" in lms_students(where, SLUG)) is known


def test_people_read_what_became_of_everything(tmp_path: Path) -> None:
    found = collected(
        course(tmp_path),
        ("lovelaceada_LATE_12345_1_01-tiny.ipynb", NOTEBOOK),
        ("strangerdr_99_2_01-tiny.ipynb", NOTEBOOK),
        ("hoppergrace_77_3_notes.txt", "x"),
    )
    assert list(summary_lines(found)) == [
        "01-tiny: 1 new, 0 replaced, 0 unchanged",
        "  ada: the LMS says it was late",
        "not matched to a student (1), use --match KEY=STUDENT:",
        "  strangerdr_99: no student has the lms_user_id 99: say whose it is by --match",
        "      strangerdr_99_2_01-tiny.ipynb",
        "refused (1):",
        "  hoppergrace_77_3_notes.txt: is not a notebook (.ipynb)",
    ]


def test_who_is_known_by_name_alone_is_said(tmp_path: Path) -> None:
    by_number = ("lovelaceada_12345_1_01-tiny.ipynb", NOTEBOOK)
    assert collected(course(tmp_path / "1"), by_number).by_name == ()
    found = collected(course(tmp_path / "2"), (MOODLE.format("Ada Lovelace_1"), NOTEBOOK))
    assert list(summary_lines(found)) == [
        "01-tiny: 1 new, 0 replaced, 0 unchanged",
        "known by their names alone, which people choose (1): ada",
        "  (surely by lms_user_id in students.csv; in Moodle by addresses and --worksheet)",
    ]


def test_the_command_says_by_its_exit_code_whether_all_was_taken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = course(tmp_path)
    good = archive(root, (MOODLE.format("Ada Lovelace_1"), NOTEBOOK))
    words = ["collect", str(good), "--lesson", "1", "--course", str(root), "--json"]
    assert main.main(words) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["taken"][0]["student"] == "ada"
    archive(root, (MOODLE.format("Nobody_1"), NOTEBOOK))
    assert main.main(words) == 1
    assert json.loads(capsys.readouterr().out)["unmatched"][0]["key"] == "Nobody_1"


def test_a_time_zone_that_does_not_exist_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["collect", "x.zip", "--timezone", "Mars/Base"]) == 2
    assert "'Mars/Base' is no time zone" in capsys.readouterr().err


def zipped(*entries: tuple[str, str]) -> bytes:
    """A learner's own zip."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as zip_file:
        for name, data in entries:
            zip_file.writestr(name, data)
    return buffer.getvalue()


@pytest.mark.parametrize(
    "inside", [MOODLE.format("Ada Lovelace_99"), "lovelaceada_12345_1_x.ipynb"]
)
@pytest.mark.parametrize("outside", [MOODLE.format("Grace Hopper_2"), "hoppergrace_77_3_w.ipynb"])
def test_names_in_a_learners_own_zip_do_not_make_it_anothers(
    tmp_path: Path, outside: str, inside: str
) -> None:
    own = outside.replace(".ipynb", ".zip")
    found = collected(course(tmp_path), (own, zipped((inside, NOTEBOOK))))
    assert (states(found), found.refused) == ({"grace": "new"}, ())


def test_one_learners_zip_of_too_many_files_costs_nobody_elses_work(tmp_path: Path) -> None:
    own = zipped(("01-tiny.ipynb", NOTEBOOK), *((f"f/{n}", "") for n in range(10_001)))
    entries: list[tuple[str, str | bytes]] = [
        (MOODLE.format("Ada Lovelace_1").replace(".ipynb", ".zip"), own),
        (MOODLE.format("Grace Hopper_2"), NOTEBOOK),
    ]
    found = collected(course(tmp_path), *entries)
    assert states(found) == {"ada": "new", "grace": "new"}
    assert found.taken[0].notes == ("9,999 files that are no notebook stayed where they were",)
    assert [(one.file, one.reason, one.student) for one in found.refused] == [
        (entries[0][0], "holds more than 10,000 files; the rest was not read", "ada")
    ]


def test_a_learners_zip_without_a_notebook_is_one_line(tmp_path: Path) -> None:
    own = zipped(*((f"{n}.csv", "") for n in range(30)), ("timestamp.txt", ""))
    name = MOODLE.format("Ada Lovelace_1").replace(".ipynb", ".zip")
    found = collected(course(tmp_path), (name, own))
    assert [(one.file, one.reason, one.student) for one in found.refused] == [
        (name, "holds 31 files that are no notebook (.ipynb)", "ada")
    ]


def test_a_time_in_a_learners_zip_is_not_believed(tmp_path: Path) -> None:
    own = zipped(("w/01-tiny.ipynb", NOTEBOOK), ("w/timestamp.txt", "2001-01-01 00:00:00 UTC"))
    name = MOODLE.format("Ada Lovelace_1").replace(".ipynb", ".zip")
    (one,) = collected(course(tmp_path), (name, own)).taken
    assert one.submitted_at is None
    assert one.notes == (
        "a timestamp.txt of their own was not believed",
        "a file that is no notebook stayed where it was",
    )
    assert not (tmp_path / f"submitted/ada/{SLUG}/timestamp.txt").exists()


def test_a_time_in_a_folder_of_moodles_is_not_believed(tmp_path: Path) -> None:
    name = MOODLE.format("Ada Lovelace_1")
    time = name.replace("01-tiny.ipynb", "timestamp.txt")
    found = collected(course(tmp_path), (name, NOTEBOOK), (time, "2001-01-01 00:00:00 UTC"))
    assert [(one.submitted_at, one.notes) for one in found.taken] == [
        (None, ("a timestamp.txt of their own was not believed",))
    ]
    assert found.refused == ()


def test_a_time_without_a_notebook_is_a_file_like_others(tmp_path: Path) -> None:
    name = MOODLE.format("Ada Lovelace_1").replace("01-tiny.ipynb", "timestamp.txt")
    (left,) = collected(course(tmp_path), (name, "2001-01-01 00:00:00 UTC")).refused
    assert (left.reason, left.student) == ("is not a notebook (.ipynb)", "ada")


def test_what_is_told_of_many_notebooks_stays_short(tmp_path: Path) -> None:
    where = "{}_1_assignsubmission_file_/{}.ipynb"
    entries = [(where.format("Ada Lovelace", f"n{n:02d}"), NOTEBOOK) for n in range(30)]
    entries += [(where.format("Nobody", f"n{n:02d}"), NOTEBOOK) for n in range(25)]
    entries += [(where.format("Nobody", f"x{n:02d}"), "x") for n in range(22)]
    found = collected(course(tmp_path), *entries)
    others = ", ".join(entries[n][0] for n in (0, 1, 2))
    assert [one.reason for one in found.refused if one.file == entries[9][0]] == [
        f"is one of 30 notebooks of {SLUG} by one student; the other: {others} and 26 more"
    ]
    assert len(found.refused) == 52
    lines = list(summary_lines(found))
    assert [line for line in lines if line.lstrip().startswith("…")] == [
        "      … and 5 more",
        "  … and 2 more of Nobody_1",
        "  … and 10 more of ada",
    ]
    assert len(lines) == 1 + 1 + 21 + 1 + 21 + 21


def test_what_is_told_of_many_people_stays_short(tmp_path: Path) -> None:
    where = "Ada Lovelac_{}_assignsubmission_file_/{}"
    entries = [(where.format(n, "x.ipynb"), NOTEBOOK) for n in range(230)]
    entries += [(where.format(n, "x.txt"), "x") for n in range(210)]
    found = collected(course(tmp_path), *entries)
    assert (len(found.unmatched), len(found.refused)) == (230, 210)
    lines = list(summary_lines(found))
    told = [line for line in lines if line.lstrip().startswith("…")]
    assert [line.split()[4] for line in told] == ["30", "10"]
    assert len(lines) == 1 + 2 * 200 + 1 + 1 + 200 + 1


def test_names_alike_are_looked_for_for_some_only(tmp_path: Path) -> None:
    where = "Ada Lovelac {}_{}_assignsubmission_file_/x.ipynb"
    found = collected(course(tmp_path), *((where.format(n, n), NOTEBOOK) for n in range(230)))
    assert len([one for one in found.unmatched if "Did you mean" in one.reason]) == 200


def test_deep_folders_are_asked_for_each_part_some_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the square of their number, 600 small notebooks deep down took a minute."""
    asked = []

    def read_name(_: Canvas, path: tuple[str, ...]) -> ArchiveName | None:
        asked.append(len(path))
        return reads(CANVAS, path)

    reads = Canvas.read_name
    monkeypatch.setattr(Canvas, "read_name", read_name)
    deep = 90
    found = collected(course(tmp_path), (f"{'a/' * deep}x.ipynb", NOTEBOOK))
    assert len(found.unmatched) == 1
    assert deep <= len(asked) < 10 * deep


@pytest.mark.parametrize(
    "file", ["04-x.ipynb", "04-x-1.ipynb", "04-x (3).ipynb", "04-x-12.IPYNB", "04-x-Copy1.ipynb"]
)
def test_saving_a_notebook_again_keeps_its_base_name(file: str) -> None:
    assert base_name(file) == "04-x"


def test_no_base_name_takes_long() -> None:
    begun = time.process_time()
    names = [f"{number}{'-1' * 500}x" for number in range(1_000)]
    assert [base_name(f"{one}.ipynb") for one in names] == names
    assert time.process_time() - begun < 5  # it took a minute
