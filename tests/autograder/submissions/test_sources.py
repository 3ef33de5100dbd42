"""Folders, archives and notebooks of any origin: whose they are, and what is not taken."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from autograder.cli import main
from autograder.course_directory import CourseDirectory, load_course
from autograder.lessons.model import select_lessons
from autograder.lms.identities import lms_students
from autograder.lms.interface import Owner, Participant
from autograder.submissions.archive import (
    ArchiveError,
    ArchiveFile,
    Bounds,
    RefusedEntry,
    read_archive,
)
from autograder.submissions.class_list import Student
from autograder.submissions.collect import Collected, collect
from autograder.submissions.folder import Open, read_start
from autograder.submissions.handing_in import stage
from autograder.submissions.matching import Roster, read_roster
from autograder.submissions.sources import read_source
from tests.autograder import tiny
from tests.autograder.classroom import SLUG

NOTEBOOK = json.dumps(tiny.notebook())
ROSTER = """id,first_name,last_name,email,lms_user_id
ada,Ada,Lovelace,ada@uni.example,adalove
grace,Grace,Hopper,,amazing-grace
u17,José,Núñez,,jnunez
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    found = tiny.build(tmp_path / "course")
    (found / "students.csv").write_text(ROSTER)
    return found


def files(folder: Path, *names: str, **others: str) -> Path:
    """A folder with a notebook under each of `names`."""
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(NOTEBOOK)
    for name, text in others.items():
        (folder / name).write_text(text)
    return folder


def taken_in(root: Path, source: Path, *match: str) -> Collected:
    course = load_course(root)
    return collect(course, source, select_lessons(root), read_roster(course, chosen=match))


def students(found: Collected) -> dict[str, str]:
    return {one.student: one.state for one in found.taken}


def packed(path: Path, folder: Path) -> Path:
    """The folder's content as an archive of this name."""
    with tarfile.open(path, "w:gz") as archive:
        archive.add(folder, arcname=folder.name)
    return path


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ada/01-tiny.ipynb", "grace/01-tiny.ipynb"),
        ("ada/01-tiny/01-tiny.ipynb", "grace/01-tiny/mine.ipynb"),  # nbgrader's submitted/
        (  # nbgrader's inbound/
            "ada+01-tiny+2026-01-10 12:00:00 UTC+x8/01-tiny.ipynb",
            "grace+01-tiny+2026-01-10 12:00:00 UTC+y9/01-tiny.ipynb",
        ),
        ("Ada Lovelace/01-tiny.ipynb", "Hopper, Grace/01-tiny.ipynb"),
        ("ADA@uni.example/x.ipynb", "GRACE/deep/er/x.ipynb"),
        (  # ILIAS
            "Sheet 1/Lovelace_Ada_adalove_4711/01-tiny.ipynb",
            "Sheet 1/Hopper_Grace_amazing-grace_4712/01-tiny.ipynb",
        ),
        (  # GitHub Classroom
            "ps-1-submissions/ps-1-adalove/nb/01-tiny.ipynb",
            "ps-1-submissions/ps-1-Amazing-Grace/01-tiny.ipynb",
        ),
        ("01-tiny_ada.ipynb", "grace-01-tiny.ipynb"),
        ("ada.ipynb", "Grace Hopper.ipynb"),
    ],
)
@pytest.mark.parametrize("form", ["folder", "tgz", "tar.gz", "zip"])
def test_whose_a_notebook_is_stands_in_its_folders_or_its_name(
    root: Path, tmp_path: Path, one: str, other: str, form: str
) -> None:
    source = files(tmp_path / "Downloads", one, other)
    if form == "zip":
        with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
            for name in (one, other):
                archive.writestr(name, NOTEBOOK)
        source = tmp_path / "all.zip"
    elif form != "folder":
        source = packed(tmp_path / f"all.{form}", source)
    found = taken_in(root, source)
    assert (students(found), found.unmatched, found.refused) == (
        {"ada": "new", "grace": "new"},
        (),
        (),
    )
    assert (root / "submitted" / "grace" / SLUG / f"{SLUG}.ipynb").read_text() == NOTEBOOK


def test_one_notebook_is_taken_by_its_folder_or_by_hand(root: Path, tmp_path: Path) -> None:
    files(tmp_path / "in", "ada/01-tiny.ipynb", "01-tiny.ipynb")
    assert students(taken_in(root, tmp_path / "in/ada/01-tiny.ipynb")) == {"ada": "new"}
    (who,) = taken_in(root, tmp_path / "in/01-tiny.ipynb").unmatched
    assert who.key == "in/01-tiny.ipynb"
    assert who.reason.startswith(
        "none of its names is a student's id, lms_user_id, address or name"
    )
    assert "--match" in who.reason
    found = taken_in(root, tmp_path / "in/01-tiny.ipynb", f"{who.key}=grace")
    assert students(found) == {"grace": "new"}


def test_a_repository_is_read_without_its_history_and_its_other_files(
    root: Path, tmp_path: Path
) -> None:
    names = ("ps1-adalove/.git/x.ipynb", "ps1-adalove/.ipynb_checkpoints/a.ipynb")
    folder = files(tmp_path / "subs", *names)
    files(folder / "ps1-adalove", "01-tiny.ipynb", **{"README.md": "x", "data.csv": "1"})
    found = taken_in(root, folder)
    assert (students(found), found.refused) == ({"ada": "new"}, ())
    assert found.taken[0].notes == ("2 files that are no notebook stayed where they were",)


def test_a_folder_without_any_notebook_names_what_it_holds(root: Path, tmp_path: Path) -> None:
    (tmp_path / "subs" / "ada").mkdir(parents=True)
    (tmp_path / "subs" / "ada" / "essay.pdf").write_text("%PDF")
    found = taken_in(root, tmp_path / "subs")
    assert [(one.file, one.reason, one.student) for one in found.refused] == [
        ("subs/ada/essay.pdf", "is not a notebook (.ipynb)", "ada")
    ]


def test_a_time_beside_the_notebook_is_kept(root: Path, tmp_path: Path) -> None:
    folder = files(tmp_path / "submitted", "ada/01-tiny/01-tiny.ipynb")
    (folder / "ada/01-tiny/timestamp.txt").write_text("2026-07-10 14:00:00 CEST")
    (one,) = taken_in(root, folder).taken
    assert one.submitted_at == "2026-07-10T12:00:00+00:00"
    time = (root / "submitted" / "ada" / SLUG / "timestamp.txt").read_text()
    assert time == "2026-07-10 12:00:00 UTC\n"


def test_whom_a_folder_names_is_nothing_that_an_lms_has_said(root: Path, tmp_path: Path) -> None:
    taken_in(root, files(tmp_path / "subs", "ada/01-tiny.ipynb"))
    assert lms_students(load_course(root), SLUG) == {}


def test_a_sign_that_two_students_have_names_neither(root: Path, tmp_path: Path) -> None:
    (root / "students.csv").write_text("id,email\nada,x@uni.example\nbob,x@uni.example\n")
    found = taken_in(root, files(tmp_path / "subs", "x@uni.example/01-tiny.ipynb"))
    assert [one.key for one in found.unmatched] == ["subs/x@uni.example"]


def test_the_number_of_a_week_is_nobodys(root: Path, tmp_path: Path) -> None:
    (root / "students.csv").write_text("id,lms_user_id\nada,1\nbob,2024001\n")
    found = taken_in(root, files(tmp_path / "s", "week-1/bob/nb.ipynb", "01-tiny-1.ipynb"))
    assert students(found) == {"bob": "new"}
    assert [one.key for one in found.unmatched] == ["s/01-tiny-1.ipynb"]


@pytest.mark.parametrize("name", ["ada", "ADA", "2024001", "u17", "x-ada"])
@pytest.mark.parametrize("inside", ["01-tiny.ipynb", "ada/x.ipynb"])
def test_a_name_on_github_that_is_a_students_id_is_anybodys(
    root: Path, tmp_path: Path, name: str, inside: str
) -> None:
    (root / "students.csv").write_text(
        "id,lms_user_id\nada,12345\ngrace,amazing-grace\nu17,2024001\n"
    )
    folder = files(tmp_path / "sub", f"lab1-{name}/{inside}", "lab1-alove/u17/01-tiny.ipynb")
    found = taken_in(root, folder)
    assert students(found) == {}
    assert set(keys(found)) == {f"sub/lab1-{name}", "sub/lab1-alove"}
    found = taken_in(root, folder, "sub/lab1-alove=ada")
    assert students(found) == {"ada": "new"}


def test_a_name_on_github_is_whose_it_is_said_to_be_though_it_is_anothers_id(
    root: Path, tmp_path: Path
) -> None:
    (root / "students.csv").write_text("id,lms_user_id\nada,alove\nkim,ada\n")
    found = taken_in(root, files(tmp_path / "sub", "lab1-ada/x.ipynb", "lab1-alove/y.ipynb"))
    assert {one.student: one.file for one in found.taken} == {
        "ada": "sub/lab1-alove/y.ipynb",
        "kim": "sub/lab1-ada/x.ipynb",
    }


def test_links_are_not_followed(root: Path, tmp_path: Path) -> None:
    folder = files(tmp_path / "subs", "ada/01-tiny.ipynb")
    (folder / "grace").mkdir()
    (folder / "grace" / "01-tiny.ipynb").symlink_to(tmp_path / "secret.ipynb")
    (folder / "u17").symlink_to(tmp_path)
    found = taken_in(root, folder)
    assert students(found) == {"ada": "new"}
    assert [one.reason for one in found.refused] == ["is a link, not a file"]


def test_the_course_itself_is_refused(root: Path) -> None:
    with pytest.raises(ArchiveError, match="is the course itself, or holds it"):
        taken_in(root, root)


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("all.7z", b"7z\xbc\xaf\x27\x1c00", "is a 7z archive, not a zip archive"),
        ("all.rar", b"Rar!\x1a\x07", "is a rar archive, not a zip archive"),
        ("all.gz", b"\x1f\x8b0000", "is packed by gzip"),
        ("all.zip", b"PK\3\4 cut", "(?s)cannot be read as a zip archive.*Download it again"),
        ("all.tgz", b"\x1f\x8b cut", "(?s)cannot be read as a tar archive.*Download it again"),
    ],
)
def test_what_cannot_be_read_says_what_to_do(
    root: Path, tmp_path: Path, name: str, data: bytes, said: str
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ArchiveError, match=said):
        taken_in(root, tmp_path / name)


def test_what_is_not_there_was_not_cut_short(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("none.zip", "none.tgz", "none.ipynb"):
        assert main.main(["collect", str(tmp_path / name), "--course", str(root)]) == 1
        said = capsys.readouterr().err
        assert "No such file or directory" in said
        assert "cut short" not in said


# Only the outermost names say whose it is; what stands below is a learner's choice.


def zip_of(path: Path, *names: str) -> Path:
    """A learner's own zip, with a notebook under each of `names`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, NOTEBOOK)
    return path


def keys(found: Collected) -> list[str]:
    return [one.key for one in found.unmatched]


@pytest.mark.parametrize("name", ["grace.zip", "Grace Hopper.zip", "01-tiny_grace.zip"])
def test_the_name_of_a_learners_zip_says_whose_it_is_and_no_name_in_it(
    root: Path, tmp_path: Path, name: str
) -> None:
    zip_of(tmp_path / "sub" / name, "ada/01-tiny.ipynb")
    assert students(taken_in(root, tmp_path / "sub")) == {"grace": "new"}


@pytest.mark.parametrize("form", ["folder", "tgz", "zip"])
@pytest.mark.parametrize(
    ("one", "more", "other"),
    [
        ("ada/a.zip", "ada/deep/er/b.zip", "grace/c.zip"),
        ("ps1-adalove/a.zip", "ps1-adalove/b.zip", "ps1-nobody/c.zip"),
        ("section-a/ada/a.zip", "section-a/ada/b.zip", "section-a/grace/c.zip"),
        ("lovelaceada_1_2_a.zip", "lovelaceada_1_3_b.zip", "hoppergrace_9_4_c.zip"),
        (
            "Ada Lovelace_1_assignsubmission_file_/a.zip",
            "Ada Lovelace_1_assignsubmission_file_b.zip",
            "Grace Hopper_2_assignsubmission_file_/c.zip",
        ),
        ("x/a.zip", None, "x/c.zip"),  # nobody knows whose they are
    ],
)
def test_what_all_archives_of_a_learner_unpack_to_takes_nothing_from_others(
    root: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    one: str,
    more: str | None,
    other: str,
    form: str,
) -> None:
    monkeypatch.setattr(Bounds, "of_own", lambda self: replace(self, files=3))
    folder = tmp_path / "sub"
    for name in filter(None, (one, more, other)):
        zip_of(folder / name, "x.ipynb", "y.csv", "z.csv")
    source = folder
    if form == "tgz":
        source = packed(tmp_path / "all.tgz", folder)
    elif form == "zip":
        source = Path(shutil.make_archive(str(tmp_path / "all"), "zip", folder))
    found = taken_in(root, source)
    assert len(found.taken) + len(found.unmatched) == 2
    spent = [each.reason for each in found.refused if "more than" in each.reason]
    assert spent == [
        "holds, with its owner's other archives, more than 3 files; the rest was not read"
    ] * bool(more)


def test_a_notebook_of_no_lesson_takes_no_room(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = []

    def count(course: CourseDirectory, number: int, notebook: bytes) -> Path:
        kept.append(notebook)
        return stage(course, number, notebook)

    monkeypatch.setattr("autograder.submissions.candidates.stage", count)
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("lovelaceada_1_2_other.ipynb", '{"cells": []}')
        archive.writestr("hoppergrace_9_4_01-tiny-2.ipynb", '{"cells":  []}')
        archive.writestr("nunezjose_8_5_mine.ipynb", NOTEBOOK)
    found = taken_in(root, tmp_path / "all.zip")
    assert students(found) == {"grace": "new", "u17": "new"}
    assert [(one.student, one.reason) for one in found.refused] == [
        ("ada", f"has no graded cell of {SLUG}; it is another notebook")
    ]
    assert kept == [b'{"cells":  []}', NOTEBOOK.encode()]


@pytest.mark.parametrize(
    "inside", ["ada/x.ipynb", "Ada Lovelace_9_assignsubmission_file_/x.ipynb", "01-tiny_ada.ipynb"]
)
def test_a_zip_that_is_named_after_nobody_is_nobodys(
    root: Path, tmp_path: Path, inside: str
) -> None:
    zip_of(tmp_path / "sub" / "deep" / "stuff.zip", inside)
    found = taken_in(root, tmp_path / "sub")
    assert (students(found), keys(found)) == ({}, ["sub/deep/stuff.zip"])
    found = taken_in(root, tmp_path / "sub", "sub/deep/stuff.zip=grace")
    assert students(found) == {"grace": "new"}


def test_a_zip_that_is_given_itself_may_hold_a_class(root: Path, tmp_path: Path) -> None:
    archive = zip_of(tmp_path / "kim.zip", "ada/01-tiny.ipynb", "grace/01-tiny.ipynb")
    assert students(taken_in(root, archive)) == {"ada": "new", "grace": "new"}


@pytest.mark.parametrize(
    "below", ["ada/x.ipynb", "x_ada.ipynb", "Ada Lovelace_9_assignsubmission_file_/x.ipynb"]
)
def test_what_stands_beside_a_student_is_somebodys_whatever_is_in_it(
    root: Path, tmp_path: Path, below: str
) -> None:
    folder = files(tmp_path / "sub", "ada/x.ipynb", f"gracie/{below}", "gracie/more/y.ipynb")
    found = taken_in(root, folder)
    assert (students(found), keys(found)) == ({"ada": "new"}, ["sub/gracie"])
    found = taken_in(root, folder, f"sub/gracie/{below}=grace")
    assert (students(found), keys(found)) == ({"ada": "unchanged", "grace": "new"}, ["sub/gracie"])


def test_folders_that_are_named_after_nobody_are_looked_into(root: Path, tmp_path: Path) -> None:
    names = ("section-a/ada/x.ipynb", "section-b/u17/x.ipynb", "section-b/gracie/ada/x.ipynb")
    found = taken_in(root, files(tmp_path / "sub", *names))
    assert students(found) == {"ada": "new", "u17": "new"}
    assert keys(found) == ["sub/section-b/gracie"]


def test_an_lms_s_name_in_the_folder_of_a_student_says_nothing(root: Path, tmp_path: Path) -> None:
    names = ("ada/lab_1_2_x.ipynb", "grace/Ada Lovelace_9_assignsubmission_file_/x.ipynb")
    found = taken_in(root, files(tmp_path / "sub", *names))
    assert students(found) == {"ada": "new", "grace": "new"}
    assert lms_students(load_course(root), SLUG) == {}


def test_an_lms_s_archive_may_lie_unpacked_in_a_folder(root: Path, tmp_path: Path) -> None:
    folder, moodles = "autumn_2026_11_homework", "{}_assignsubmission_file_/grace/x.ipynb"
    names = [f"{folder}/{moodles.format(who)}" for who in ("Ada Lovelace_9", "Nunez Jose_8")]
    assert students(taken_in(root, files(tmp_path / "sub", *names))) == {"ada": "new", "u17": "new"}


# A slash in the name of a learner's file makes Canvas's name of it look like that of a folder.


@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize(
    "name",
    [
        "hoppergrace_7_8_ada/x.ipynb",
        "hoppergrace_7_8_x\\ada\\x.ipynb",
        "hoppergrace_7_8_ada\\w.zip",
        "hoppergrace_7_8_x\\Ada Lovelace_9_assignsubmission_file_\\x.ipynb",
        "hoppergrace_7_8_x/lovelaceada_9_8_x.ipynb",
        "hoppergrace_7_8_x-ada.zip",
    ],
)
def test_a_slash_in_the_name_of_a_file_on_canvas_makes_it_nobody_elses(
    root: Path, tmp_path: Path, name: str, alone: bool
) -> None:
    own = zip_of(tmp_path / "own.zip", "ada/x.ipynb").read_bytes()
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr(name, own if name.endswith(".zip") else NOTEBOOK)
        if not alone:
            archive.writestr("lovelaceada_1_2_x.ipynb", NOTEBOOK)
    found = taken_in(root, tmp_path / "all.zip")
    assert students(found) == {"grace": "new"} | ({} if alone else {"ada": "new"})
    assert (found.unmatched, found.refused) == ((), ())


@pytest.mark.parametrize("name", ["_7_8_ada/x.ipynb", "anon_x1_8_ada/x.ipynb"])
def test_a_slash_gives_nobodys_work_to_nobody(root: Path, tmp_path: Path, name: str) -> None:
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr(name, NOTEBOOK)
    found = taken_in(root, tmp_path / "all.zip")
    assert (students(found), keys(found)) == ({}, [name[: name.index("_8")].lstrip("_")])


def test_a_folder_with_a_date_holds_whose_work_its_names_say(root: Path, tmp_path: Path) -> None:
    found = taken_in(root, files(tmp_path / "sub", "2026_01_15/ada/x.ipynb"))
    assert students(found) == {"ada": "new"}


def test_a_name_on_github_that_ends_as_anothers_is_not_the_others(
    root: Path, tmp_path: Path
) -> None:
    names = ("lab1-jnunez/x.ipynb", "lab1-not-adalove/x.ipynb", "lab1-not_ada/ada/x.ipynb")
    found = taken_in(root, files(tmp_path / "sub", *names))
    assert students(found) == {"u17": "new"}
    assert keys(found) == ["sub/lab1-not-adalove", "sub/lab1-not_ada"]


def test_an_assignment_on_github_may_have_hyphens(root: Path, tmp_path: Path) -> None:
    found = taken_in(root, files(tmp_path / "sub", "lab-1-adalove/x.ipynb", "lab-1-jnunez/x.ipynb"))
    assert students(found) == {"ada": "new", "u17": "new"}


GITHUB = """id,first_name,last_name,email,lms_user_id
ada,Ada,Lovelace,,adalove
bob,Bob,Baker,,bobby
cleo,Cleo,Min,,
"""


@pytest.mark.parametrize(
    ("eves", "repositories", "taken"),
    [
        ("1-adalove", "lab-1-adalove lab-1-bobby", "ada bob"),
        ("1-adalove", "lab-1-adalove lab-1-bobby lab-1-1-adalove", "ada bob eve"),
        ("1-adalove", "lab-adalove lab-bobby lab-1-adalove", "ada bob eve"),
        ("1-adalove", "lab-1-adalove", "-"),
        ("1-adalove", "lab-adalove lab-bobby lab-1-adalove lab-1-bobby", "ada bob - -"),
        ("1-cleo", "lab-1-cleo lab-1-bobby", "- -"),
        ("1-cleo", "lab-1-cleo lab-bobby", "eve bob"),
        ("1-eveadams", "lab-1-adalove lab-1-bobby lab-1-eveadams", "ada bob -"),
        ("tiny-eveadams", "01-tiny-adalove 01-tiny-eveadams", "ada -"),
    ],
)
def test_what_a_learner_calls_themselves_on_github_takes_nobodys_repository(
    root: Path, tmp_path: Path, eves: str, repositories: str, taken: str
) -> None:
    (root / "students.csv").write_text(f"{GITHUB}eve,Eve,Adams,,{eves}\n")
    names = [f"{one}/x.ipynb" for one in repositories.split()]
    found = taken_in(root, files(tmp_path / "sub", *names))
    of = {one.file: one.student for one in found.taken}
    assert [of.get(f"sub/{name}", "-") for name in names] == taken.split()


def test_a_repository_that_may_be_of_two_says_so(root: Path, tmp_path: Path) -> None:
    (root / "students.csv").write_text(f"{GITHUB}eve,Eve,Adams,,1-adalove\n")
    source = files(tmp_path / "sub", "lab-1-adalove/x.ipynb")
    (unmatched,) = taken_in(root, source).unmatched
    assert "ends in the user's name of ada, eve, and what stands before" in unmatched.reason
    assert students(taken_in(root, source, f"{unmatched.key}=ada")) == {"ada": "new"}


@pytest.mark.parametrize("name", ["x_not_ada.ipynb", "01-tiny-not-ada.ipynb"])
def test_the_names_of_notebooks_end_as_those_on_github(
    root: Path, tmp_path: Path, name: str
) -> None:
    names = ("01-tiny_grace.ipynb", "x_jnunez.ipynb", name)
    found = taken_in(root, files(tmp_path / "sub", *names))
    assert students(found) == {"grace": "new", "u17": "new"}


def test_a_login_of_ilias_that_is_anothers_names_nobody(root: Path, tmp_path: Path) -> None:
    names = (
        "Hopper_Grace_ada_12/ada/x.ipynb",  # Grace has ada's id for a login
        "Nunez_Jose_jnunez_13/x.ipynb",
        "Nickname_A_adalove_14/x.ipynb",  # the name is nobody's
    )
    found = taken_in(root, files(tmp_path / "sub", *names))
    assert students(found) == {"u17": "new"}
    assert keys(found) == ["sub/Hopper_Grace_ada_12", "sub/Nickname_A_adalove_14"]


def test_two_of_one_name_are_told_apart_by_the_login_of_ilias(root: Path, tmp_path: Path) -> None:
    with (root / "students.csv").open("a") as roster:
        roster.write("ada2,Ada,Lovelace,,\n")
    names = ("Lovelace_Ada_adalove_1/x.ipynb", "Ada Lovelace/grace/x.ipynb")
    found = taken_in(root, files(tmp_path / "sub", *names))
    assert (students(found), keys(found)) == ({"ada": "new"}, ["sub/Ada Lovelace"])


NOTE = "a timestamp.txt of their own was not believed"
EARLY = "2001-01-01 00:00:00 UTC"


@pytest.mark.parametrize(
    ("folder", "believed"),
    [
        ("inbound/ada+01-tiny+2026-01-10 12:00:00 UTC+x8", True),
        ("submitted/ada/01-tiny", True),
        ("sub/ada+01-tiny+2026-01-10 12:00:00 UTC+x8", False),
        ("sub/ada/01-tiny", False),
        ("inbound/ada/01-tiny", False),
        ("submitted/lab1-adalove", False),
        ("submitted/ada", False),
        ("submitted/ada/work", False),
        ("submitted/ADA/01-tiny", False),
        ("submitted/lab1-adalove/01-tiny", False),
        ("submitted/ada/more/01-tiny", False),
        ("submitted/ada/a+b+c", False),
        ("submitted/lab1-adalove/ada/01-tiny", False),
        ("sub/unknown/submitted/ada/01-tiny", False),  # a repository of their own may hold that
        ("sub/unknown/inbound/ada+01-tiny+2026-01-10 12:00:00 UTC+x8", False),
    ],
)
@pytest.mark.parametrize("form", ["folder", "tgz"])
def test_a_time_is_believed_where_nbgrader_writes_it(
    root: Path, tmp_path: Path, folder: str, believed: bool, form: str
) -> None:
    files(tmp_path, f"{folder}/01-tiny.ipynb")
    (tmp_path / folder / "timestamp.txt").write_text(EARLY)
    source = tmp_path / folder.partition("/")[0]
    (one,) = taken_in(
        root, source if form == "folder" else packed(tmp_path / "all.tgz", source)
    ).taken
    assert one.student == "ada"
    assert one.notes == (() if believed else (NOTE,))
    assert one.submitted_at == ("2001-01-01T00:00:00+00:00" if believed else None)
    assert (root / f"submitted/ada/{SLUG}/timestamp.txt").exists() is believed


@pytest.mark.parametrize(
    ("accounts", "taken"),
    [
        (("ada", "grace"), ["ada", "grace"]),
        (("ada", "ada"), ["ada"]),  # she hands in for Grace
        (("jovyan", "jovyan"), ["ada", "grace"]),  # everybody's account
        (("jovyan", "root"), ["ada", "grace"]),  # and a folder that a teacher has put there
        (("", "ada"), ["ada"]),
        (("", ""), ["ada", "grace"]),  # of another machine
    ],
)
def test_a_folder_in_inbound_is_of_the_learner_whom_it_names(
    root: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    accounts: tuple[str, str],
    taken: list[str],
) -> None:
    folders = f"ada+{SLUG}+2027-01-01+x", f"grace+{SLUG}+2027-01-02+x"
    source = files(tmp_path / "inbound", *(f"{one}/{SLUG}.ipynb" for one in folders))

    def account(path: Path) -> str:
        if found := dict(zip(folders, accounts, strict=True))[path.name]:
            return found
        raise KeyError("uid not found")

    owned_by(monkeypatch, source, account)
    found = taken_in(root, source)
    assert sorted(students(found)) == taken
    assert [(one.key, one.reason) for one in found.unmatched] == [
        (
            f"inbound/{folders[1]}",
            "it belongs to the user ada, not to grace; if it is theirs all the same, say so by "
            "--match",
        )
    ] * (2 - len(taken))
    by_hand = [f"{one.key}=grace" for one in found.unmatched]
    assert sorted(students(taken_in(root, source, *by_hand))) == ["ada", "grace"]


def test_a_second_folder_of_a_learner_has_the_account_of_the_first(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = files(
        tmp_path / "inbound",
        f"ada+{SLUG}+2027-01-01+x/{SLUG}.ipynb",
        f"ada+{SLUG}+2027-01-02+y/{SLUG}.ipynb",
    )
    owned_by(monkeypatch, source, lambda path: "kim" if path.name.endswith("y") else "ada")
    found = taken_in(root, source)
    assert students(found) == {"ada": "new"}
    assert found.unmatched[0].reason.startswith("it belongs to the user kim, not to ada")


@pytest.mark.parametrize("account", ["stranger", ""])
def test_where_accounts_are_the_learners_own_another_account_is_nobodys(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, account: str
) -> None:
    names = f"ada+{SLUG}+2027-01-01+x/{SLUG}.ipynb", f"grace+{SLUG}+2027-01-02+y/{SLUG}.ipynb"
    source = files(tmp_path / "inbound", *names)

    def owner(path: Path) -> str:
        if path.name.startswith("ada"):
            return "ada"
        if account:
            return account
        raise KeyError("uid not found")

    owned_by(monkeypatch, source, owner)
    found = taken_in(root, source)
    assert students(found) == {"ada": "new"}
    assert "not to grace; if it is theirs all the same" in found.unmatched[0].reason


@pytest.mark.parametrize("file", ["", f"/{SLUG}.ipynb"])
@pytest.mark.parametrize(("account", "taken"), [("ada", {"ada": "new"}), ("grace", {})])
def test_accounts_count_where_one_folder_of_inbound_is_given_by_its_path(
    root: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    account: str,
    taken: dict[str, str],
    file: str,
) -> None:
    name = f"ada+{SLUG}+2027-01-01 10:00:00 UTC+x"
    files(tmp_path / "inbound", f"{name}/{SLUG}.ipynb")
    owned_by(monkeypatch, tmp_path, lambda path: account)
    assert students(taken_in(root, tmp_path / f"inbound/{name}{file}")) == taken


def test_a_plus_in_an_account_of_nbgraders_exchange_is_part_of_it(
    root: Path, tmp_path: Path
) -> None:
    names = [f"ada+kim+{SLUG}+2027-01-01 10:00:00 UTC+x", f"ada+kim+{SLUG}+2027-01-01 10:00:00"]
    for number, name in enumerate(names):
        source = files(tmp_path / str(number) / "inbound", f"{name}/{SLUG}.ipynb")
        found = taken_in(root, source)
        assert (students(found), [one.key for one in found.unmatched]) == ({}, [f"inbound/{name}"])


def owned_by(monkeypatch: pytest.MonkeyPatch, below: Path, owner: Callable[[Path], str]) -> None:
    """Have files there belong to who `owner` says; it raises KeyError for no account."""

    def account(about: os.stat_result) -> str:
        paths = [one for one in below.rglob("*") if os.path.samestat(one.lstat(), about)]
        try:
            return owner(paths[0])
        except KeyError:
            return f"number {about.st_uid}"

    monkeypatch.setattr("autograder.submissions.sources._account", account)


@pytest.mark.parametrize("account", ["grace", "stranger", "", "amazing-grace"])
@pytest.mark.parametrize(
    "name",
    [
        f"ADA+{SLUG}+2027-01-02+y/x.ipynb",
        f"ada@uni.example+{SLUG}+2027-01-02+y/x.ipynb",
        f"Ada Lovelace+{SLUG}+2027-01-02+y/x.ipynb",
        "ada/x.ipynb",
        "ada\\y/x.ipynb",
        "ada_01-tiny.ipynb",
        "ada.zip",
        "Lovelace_Ada_adalove_4711/x.ipynb",
        "Ada Lovelace_1_assignsubmission_file_/x.ipynb",
        "lovelaceada_777_1_x.ipynb",
        "lovelaceada_777_1_x.csv",
        f"lovelaceada_777_1_x+{SLUG}+2027/inbound/ada/x.ipynb",
    ],
)
def test_nobody_hands_in_for_another_in_inbound_however_they_call_it(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, account: str
) -> None:
    own = tmp_path / "inbound" / f"ada+{SLUG}+2027-01-01+x"
    files(own, "x.ipynb")
    if name.endswith(".zip"):
        zip_of(tmp_path / "inbound" / name, "x.ipynb")
    else:
        files(tmp_path / "inbound", name)

    def owner(path: Path) -> str:
        found = "ada" if path == own else account
        if not found:
            raise KeyError("uid not found")
        return found

    owned_by(monkeypatch, tmp_path, owner)
    found = taken_in(root, tmp_path / "inbound")
    assert [(one.student, one.file) for one in found.taken] == [
        ("ada", f"inbound/{own.name}/x.ipynb")
    ]
    assert [one.student for one in found.refused] == [None] * len(found.refused)


def test_what_is_laid_in_inbound_for_another_takes_nothing_of_what_is_read_of_theirs(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Bounds, "of_own", lambda self: replace(self, files=2))
    own = f"ada+{SLUG}+2027-01-01+x"
    files(tmp_path / "inbound", f"{own}/x.ipynb", *(f"ADA+{SLUG}+1+y/{n}.ipynb" for n in range(9)))
    owned_by(monkeypatch, tmp_path, lambda path: "ada" if path.name == own else "grace")
    assert students(taken_in(root, tmp_path / "inbound")) == {"ada": "new"}


def test_a_folder_that_becomes_a_link_before_it_is_read_leads_nowhere(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files(tmp_path / "solutions", f"{SLUG}.ipynb")
    source = files(tmp_path / "inbound", f"ada+{SLUG}+1+x/{SLUG}.ipynb", f"grace/{SLUG}.ipynb")
    folder = source / f"ada+{SLUG}+1+x"

    def exchange(path: Path, most: int, opened: Open) -> bytes:
        if not folder.is_symlink():
            folder.rename(tmp_path / "before")
            folder.symlink_to(tmp_path / "solutions")
        return read_start(path, most, opened)

    monkeypatch.setattr("autograder.submissions.sources.read_start", exchange)
    found = taken_in(root, source)
    assert students(found) == {"grace": "new"}
    assert [one.reason[:15] for one in (*found.refused, *found.unmatched)] == ["cannot be read:"]


def test_another_file_in_the_place_of_one_that_was_listed_is_not_read(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = files(tmp_path / "inbound", f"ada+{SLUG}+1+x/{SLUG}.ipynb")
    files(tmp_path, "other.ipynb")

    def exchange(path: Path, most: int, opened: Open) -> bytes:
        (tmp_path / "other.ipynb").rename(source / f"ada+{SLUG}+1+x" / f"{SLUG}.ipynb")
        return read_start(path, most, opened)

    monkeypatch.setattr("autograder.submissions.sources.read_start", exchange)
    found = taken_in(root, source)
    assert "it was exchanged for another one meanwhile" in found.refused[0].reason


def test_folders_that_lie_too_deep_or_cannot_be_read_cost_nobody_else(
    root: Path, tmp_path: Path
) -> None:
    source = files(tmp_path / "sub", f"grace/{SLUG}.ipynb")
    handle = os.open(source, os.O_RDONLY)
    for name in ("ada", *["long" * 50] * 30, *"x" * 1_500):
        os.mkdir(name, dir_fd=handle)
        inside = os.open(name, os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = inside
    os.close(handle)
    try:
        found = taken_in(root, source)
        assert students(found) == {"grace": "new"}
        reasons = [one.reason for one in (*found.refused, *found.unmatched)]
        assert reasons == ["has a path of more than 1,000 bytes or 100 folders"]
    finally:  # pytest's own way of removing it recurses
        subprocess.run(["rm", "-rf", str(source / "ada")], check=True)


def test_of_what_tells_nothing_no_byte_is_read(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = files(tmp_path / "sub", "ada/x.ipynb", "grace/y.ipynb", "grace/a.ipynb")
    for name in ("ada/notes.txt", "ada/timestamp.txt", "grace/b.ipynb"):
        (folder / name).touch()
        os.truncate(folder / name, 60 * 2**20)
    read = []

    def count(path: Path, most: int, opened: Open) -> bytes:
        found = read_start(path, most, opened)
        read.append((path.name, len(found)))
        return found

    monkeypatch.setattr("autograder.submissions.sources.read_start", count)
    monkeypatch.setattr(Bounds, "of_own", lambda self: replace(self, total_nbytes=2**20))
    found = taken_in(root, folder)
    assert students(found) == {"ada": "new", "grace": "new"}
    assert [one.reason for one in found.refused] == [
        "what its owner has handed in comes to more than 1 MB; the rest was not read"
    ]
    assert read == [
        ("timestamp.txt", 200),
        ("x.ipynb", len(NOTEBOOK)),
        ("a.ipynb", len(NOTEBOOK)),
    ]


def test_a_time_of_a_year_that_cannot_be_is_not_written(root: Path, tmp_path: Path) -> None:
    source = files(tmp_path / "submitted", "ada/01-tiny/01-tiny.ipynb")
    (source / "ada/01-tiny/timestamp.txt").write_text("9999-12-31 23:59:59 UTC")
    assert [one.submitted_at for one in taken_in(root, source).taken] == [None]
    assert not (root / f"submitted/ada/{SLUG}/timestamp.txt").exists()


@pytest.mark.parametrize("git", ["ada/.git/HEAD", "ada/01-tiny/.git/HEAD", "ada/.git"])
@pytest.mark.parametrize("form", ["folder", "tgz"])
def test_a_time_in_a_repository_is_not_believed(
    root: Path, tmp_path: Path, git: str, form: str
) -> None:
    source = files(tmp_path / "submitted", "ada/01-tiny/x.ipynb", "grace/01-tiny/x.ipynb", git)
    for student in ("ada", "grace"):
        (source / student / "01-tiny" / "timestamp.txt").write_text(EARLY)
    found = taken_in(root, source if form == "folder" else packed(tmp_path / "all.tgz", source))
    assert [one.submitted_at is not None for one in found.taken] == [False, True]
    assert (NOTE in found.taken[0].notes, NOTE in found.taken[1].notes) == (True, False)
    assert found.refused == ()


def test_a_class_that_is_kept_in_git_has_its_times(root: Path, tmp_path: Path) -> None:
    source = files(tmp_path / "submitted", "ada/01-tiny/01-tiny.ipynb", ".git/HEAD")
    (source / "ada/01-tiny/timestamp.txt").write_text(EARLY)
    (one,) = taken_in(root, source).taken
    assert (one.submitted_at, one.notes) == ("2001-01-01T00:00:00+00:00", ())


def test_the_time_of_another_lesson_is_not_spoken_of(root: Path, tmp_path: Path) -> None:
    source = files(tmp_path / "submitted", "ada/01-tiny/01-tiny.ipynb")
    (source / "ada" / "02-other").mkdir()
    (source / "ada" / "02-other" / "timestamp.txt").write_text(EARLY)
    assert [one.notes for one in taken_in(root, source).taken] == [()]


# What a tar holds is as little believed as what a zip does.


def tar_of(*entries: tuple[tarfile.TarInfo, bytes]) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for info, data in entries:
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return buffer.getvalue()


def link(name: str, kind: bytes) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, "/etc/passwd"
    return info


def test_a_tar_is_read_file_by_file(tmp_path: Path) -> None:
    entries = [
        (tarfile.TarInfo("../evil.ipynb"), b"{}"),
        (tarfile.TarInfo("/evil.ipynb"), b"{}"),
        (link("a.ipynb", tarfile.SYMTYPE), b""),
        (link("b.ipynb", tarfile.LNKTYPE), b""),
        (link("c.ipynb", tarfile.FIFOTYPE), b""),
        (tarfile.TarInfo("good.ipynb"), b"{}"),
        (tarfile.TarInfo("good.ipynb"), b"[]"),
    ]
    (tmp_path / "all.tgz").write_bytes(tar_of(*entries))
    found = list(read_archive(tmp_path / "all.tgz"))
    assert [one.reason if isinstance(one, RefusedEntry) else "" for one in found] == [
        "its name leads out of the directory (..)",
        "its name is an absolute path",
        "is a symbolic link, not a file",
        "is a link to another file",
        "is a special file (device, pipe or socket)",
        "",
        "its name occurs twice in the archive; the first is kept",
    ]


def test_a_learners_own_tgz_in_moodles_zip_is_opened(root: Path, tmp_path: Path) -> None:
    own = tar_of((tarfile.TarInfo("work/01-tiny.ipynb"), NOTEBOOK.encode()))
    deep = tar_of((tarfile.TarInfo("deep.tgz"), own))
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("Ada Lovelace_1_assignsubmission_file_/work.tgz", own)
        archive.writestr("Grace Hopper_2_assignsubmission_file_/work.tar.gz", deep)
        archive.writestr("Jose Nunez_3_assignsubmission_file_/work.tgz", b"\x1f\x8b cut")
    found = taken_in(root, tmp_path / "all.zip")
    assert students(found) == {"ada": "new"}
    first, second = (one.reason for one in found.refused)
    assert first == "is an archive inside an archive inside an archive; not opened"
    assert second.startswith("cannot be read as a tar archive")


def test_a_learners_tgz_that_unpacks_without_end_is_refused(tmp_path: Path) -> None:
    own = tar_of((tarfile.TarInfo("zeros.ipynb"), bytes(1_000_000)))
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("Ada Lovelace_1_assignsubmission_file_/work.tgz", own)
    (left,) = read_archive(tmp_path / "all.zip", Bounds(own_nbytes=10_000))
    assert isinstance(left, RefusedEntry)
    assert left.reason == "unpacks to more than 10,000 bytes; the rest was not read"


def test_a_name_that_is_no_utf8_is_shown(root: Path, tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path / "subs")
    os.makedirs(folder + b"/jos\xe9")
    Path(os.fsdecode(folder + b"/jos\xe9/x.ipynb")).write_text(NOTEBOOK)
    (who,) = taken_in(root, tmp_path / "subs").unmatched
    assert who.key == "subs/jos�"


@pytest.mark.parametrize("packed", ["", "gz", "bz2", "xz"])
def test_a_tar_may_be_packed_in_any_usual_way(tmp_path: Path, packed: Literal["gz"]) -> None:
    files(tmp_path / "work", "x.ipynb")
    with tarfile.open(tmp_path / f"ada.tar.{packed}".rstrip("."), f"w:{packed}") as archive:
        archive.add(tmp_path / "work", arcname="work")
    shutil.rmtree(tmp_path / "work")
    (found,) = read_source(tmp_path)
    assert found.path[1:] == (f"ada.tar.{packed}".rstrip("."), "work", "x.ipynb")
    assert isinstance(found, ArchiveFile) and found.data == NOTEBOOK.encode()


def test_a_login_of_ilias_that_is_anothers_id_says_nothing_alone(
    root: Path, tmp_path: Path
) -> None:
    names = (
        "Leigh_Kimberly_ada_222/x.ipynb",
        "Leigh_Kimberly_x_adalove_222/x.ipynb",  # the login is x_adalove
        "Lovelace_Ada_adalove_111/x.ipynb",
    )
    found = taken_in(root, files(tmp_path / "sub", *names))
    assert students(found) == {"ada": "new"}
    assert keys(found) == ["sub/Leigh_Kimberly_ada_222", "sub/Leigh_Kimberly_x_adalove_222"]


def test_where_a_login_of_ilias_is_known_no_name_counts(root: Path, tmp_path: Path) -> None:
    people = "kim,Kim,Lee,,\nbob,Bob,Bee,,222\n"  # whose logins nobody knows
    (root / "students.csv").write_text(ROSTER + people)
    names = ("Lovelace_Ada_guest77_1/x.ipynb", "Lee_Kim_klee_2/x.ipynb", "Bee_Bob_bobby_3/x.ipynb")
    found = taken_in(root, files(tmp_path / "sub", *names))
    assert not found.taken
    assert all("its login is not in lms_user_id" in one.reason for one in found.unmatched)
    found = taken_in(root, tmp_path / "sub", "sub/Lovelace_Ada_guest77_1=ada")
    assert students(found) == {"ada": "new"}
    (root / "students.csv").write_text("id,first_name,last_name,email,lms_user_id\n" + people)
    found = taken_in(root, tmp_path / "sub")
    assert students(found) == {"bob": "new", "kim": "new"}


def test_a_folder_of_ilias_that_ends_in_two_logins_is_for_a_person_to_match(
    root: Path, tmp_path: Path
) -> None:
    with (root / "students.csv").open("a") as roster:
        roster.write("bob,Lace,Love,,x_adalove\n")
    names = ("Love_Lace_x_adalove_2/x.ipynb", "Lovelace_Ada_adalove_1/x.ipynb")
    found = taken_in(root, files(tmp_path / "sub", *names))
    assert students(found) == {"ada": "new"}  # who has called herself Lace_x Love?
    assert keys(found) == ["sub/Love_Lace_x_adalove_2"]
    assert "it ends in the logins of ada, bob" in found.unmatched[0].reason


def test_logins_of_ilias_may_be_numbers(root: Path, tmp_path: Path) -> None:
    (root / "students.csv").write_text(
        "id,first_name,last_name,email,lms_user_id\n"
        "ada,Ada,Lovelace,,243001\nkim,Kim,Lee,,243002\nmal,Mal,Lory,,243003\n"
    )
    names = ("Lovelace_Ada_243001_7/x.ipynb", "Lee_Kim_243003_9/x.ipynb")
    found = taken_in(root, files(tmp_path / "sub", *names))
    assert students(found) == {"ada": "new"}
    assert keys(found) == ["sub/Lee_Kim_243003_9"]  # mal has called himself Kim Lee


def test_a_plus_in_a_name_of_ilias_cuts_nothing(root: Path, tmp_path: Path) -> None:
    names = ("ada++_Bob_bobbits_2/x.ipynb", "Hopper_Grace_amazing-grace_3/x.ipynb")
    found = taken_in(root, files(tmp_path / "sub", *names))
    assert students(found) == {"grace": "new"}


def test_an_anonymous_number_of_canvas_behind_a_name_is_part_of_the_name(
    root: Path, tmp_path: Path
) -> None:
    (root / "students.csv").write_text(
        "id,first_name,last_name,email,lms_user_id\nada,Ada,Lovelace,,111\n"
    )
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("adalovelace_anon_abc_12_x_555_777_01-tiny.ipynb", NOTEBOOK)
    found = taken_in(root, tmp_path / "all.zip")
    assert not found.taken
    assert "no student has the lms_user_id anon_abc" in found.unmatched[0].reason


def test_a_namesake_spends_nothing_of_whom_match_names(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Bounds, "of_own", lambda self: replace(self, files=2))
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for number in range(9):
            archive.writestr(f"Ada Lovelace_1_assignsubmission_file_/{number}.ipynb", NOTEBOOK)
        archive.writestr("Ada Lovelace_2_assignsubmission_file_/x.ipynb", NOTEBOOK)
    found = taken_in(root, tmp_path / "all.zip", "Ada Lovelace_2=ada")
    assert [one.file for one in found.taken] == ["Ada Lovelace_2_assignsubmission_file_/x.ipynb"]


def test_a_namesake_on_ilias_costs_nobody_their_work(root: Path, tmp_path: Path) -> None:
    names = ("Lovelace_Ada_adalove_111/x.ipynb", "Lovelace_Ada_kim_222/x.ipynb")
    found = taken_in(root, files(tmp_path / "sub", *names))
    assert [one.file for one in found.taken] == ["sub/Lovelace_Ada_adalove_111/x.ipynb"]
    assert keys(found) == ["sub/Lovelace_Ada_kim_222"]


@pytest.mark.parametrize(
    ("names", "taken"),
    [
        (["lab-not-adalove/x.ipynb"], []),  # of not-adalove, perhaps
        (["lab-not-adalove/x.ipynb", "lab-someone/x.ipynb"], []),
        (["lab-1-adalove/x.ipynb", "lab-1-someone/x.ipynb"], []),
        (["lab1-adalove/x.ipynb"], ["ada"]),
        (["01-tiny-adalove/x.ipynb"], ["ada"]),  # the assignment is called as the lesson
    ],
)
def test_where_a_name_on_github_begins_others_beside_it_tell(
    root: Path, tmp_path: Path, names: list[str], taken: list[str]
) -> None:
    assert list(students(taken_in(root, files(tmp_path / "sub", *names)))) == taken


SHARED = """\
id,first_name,last_name,email,lms_user_id
ada,Ada,Lovelace,ada@x.org,
bob,Bob,Built,bob@x.org,ada
cleo,Cleo,Case,cleo@x.org,ada@x.org
"""


@pytest.mark.parametrize(
    "name", ["ada", "Ada", "ada ", "a\u200bda", "\uff41da", "ada.", "ada@x.org"]
)
def test_an_id_that_is_anothers_login_is_nobodys(root: Path, tmp_path: Path, name: str) -> None:
    (root / "students.csv").write_text(SHARED)
    found = taken_in(root, files(tmp_path / "sub", "bob/x.ipynb", f"{name}/x.ipynb"))
    assert students(found) == {"bob": "new"}
    (who,) = found.unmatched
    assert "2 students have the id" in who.reason and "--match" in who.reason


@pytest.mark.parametrize(
    ("name", "student"), [("Lovelace_Ada_ada_12", None), ("Built_Bob_ada_12", "bob")]
)
def test_a_known_login_of_ilias_decides_though_it_is_anothers_id(
    root: Path, tmp_path: Path, name: str, student: str | None
) -> None:
    (root / "students.csv").write_text(SHARED)
    found = taken_in(root, files(tmp_path / "sub", f"{name}/x.ipynb"))
    assert students(found) == ({student: "new"} if student else {})


LOOK_LIKE_KIM = ("Kim@X.org", "\u212aim@x.org", "k\u0131m@x.org", "kim@x.org.")


def test_an_address_that_only_looks_like_anothers_is_not_theirs() -> None:
    kim = Student("kim", "Kim", "K", "kim@x.org")
    people = [Participant(str(n), "Mallory", email) for n, email in enumerate(LOOK_LIKE_KIM)]
    roster = Roster((kim,), {("moodle", one.number): one for one in people})
    owners = [Owner("moodle", "Mallory", one.number) for one in people]
    found = [roster.match([one])[one].student for one in owners]
    assert found == ["kim", None, None, None]
