"""Who has written the names: an instructor says so, or it is guessed; nobody imitates another."""

from __future__ import annotations

import itertools
import json
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from autograder.cli import main
from autograder.course_directory import load_course
from autograder.lessons.model import select_lessons
from autograder.lms import systems
from autograder.lms.interface import Participant
from autograder.submissions.archive import Bounds
from autograder.submissions.class_list import Student
from autograder.submissions.collect import Collected, collect
from autograder.submissions.matching import Roster
from autograder.submissions.owners import Owners, Place
from tests.autograder import tiny
from tests.autograder.classroom import SLUG

NOTEBOOK = json.dumps(tiny.notebook())
NAMES = {"ada": "Ada Lovelace", "kim": "Kim Lee", "mal": "Mal Lory"}
NUMBERS = {"ada": "111", "kim": "112", "mal": "22"}
LOGINS = {"ada": "adalove", "kim": "klee", "mal": "mal"}


def roster(system: str = "", **ids: str) -> Roster:
    """Ada, Kim and Mal, with these for lms_user_id, and a worksheet of Moodle's."""
    students = tuple(
        Student(one, *name.split(), f"{one}@x.org", ids.get(one, "")) for one, name in NAMES.items()
    )
    people = {
        ("moodle", str(number)): Participant(str(number), name, f"{one}@x.org")
        for number, (one, name) in enumerate(NAMES.items(), 7)
    }
    return Roster(students, people, system=system)


def owned(people: Roster, paths: list[str]) -> tuple[list[str], list[str]]:
    """Whose each file of a source is, and why those of nobody (-) are nobody's."""
    places = [Place(tuple(path.split("/")), path.count("/") + 1) for path in paths]
    owners = Owners(places, people, [SLUG])
    named = [owners.of(one).owner for one in places]
    matches = people.match(named)
    found = [matches[one] for one in named]
    return [one.student or "-" for one in found], [one.reason for one in found if one.reason]


@dataclass(frozen=True)
class System:
    """How a class of Ada and Kim looks in one system; `own` is what it makes of Mal's own name."""

    ids: dict[str, str]
    honest: tuple[str, ...]
    own: str

    def of(self, chosen: str) -> str:
        """Mal's file where she has chosen this for a name."""
        return self.own.format(chosen)


SYSTEMS = {
    "moodle": System(
        {},
        (
            "Ada Lovelace_7_assignsubmission_file_/x.ipynb",
            "Kim Lee_8_assignsubmission_file_x.ipynb",
        ),
        "{}_9_assignsubmission_file_/x.ipynb",
    ),
    "canvas": System(
        NUMBERS,
        ("lovelaceada_111_900_x.ipynb", "leekim_LATE_112_901_x-1.ipynb"),
        "{}_22_902_x.ipynb",
    ),
    "ilias": System(
        LOGINS,
        ("S 1/Lovelace_Ada_adalove_4710/x.ipynb", "S 1/Lee_Kim_klee_4711/x.ipynb"),
        "S 1/{}_mal_4712/x.ipynb",
    ),
    "github": System(
        LOGINS, ("all/ps1-adalove/x.ipynb", "all/ps1-klee/x.ipynb"), "all/ps1-{}/x.ipynb"
    ),
    "nbgrader": System(
        {},
        (f"inbound/ada+{SLUG}+2027+x/x.ipynb", f"inbound/kim+{SLUG}+2027+y/x.ipynb"),
        "inbound/{}/x.ipynb",
    ),
    "folders": System(LOGINS, ("all/ada/x.ipynb", "all/Kim Lee/x.ipynb"), "all/{}/x.ipynb"),
}


@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("name", SYSTEMS)
def test_an_honest_class_of_each_system_comes_out_whole(name: str, given: bool) -> None:
    one = SYSTEMS[name]
    people = roster(name if given else "", **one.ids)
    assert owned(people, list(one.honest)) == (["ada", "kim"], [])


@pytest.mark.parametrize(("name", "other"), list(itertools.permutations(SYSTEMS, 2)))
def test_what_another_system_wrote_is_nobodys(name: str, other: str) -> None:
    people, title = roster(name, **SYSTEMS[name].ids), systems()[name]
    students, reasons = owned(people, list(SYSTEMS[other].honest))
    assert students == ["-", "-"]
    assert all(title in each and "--match" in each and "--from" in each for each in reasons)


def test_the_choices_are_the_systems() -> None:
    assert list(SYSTEMS) == list(systems())


# What Mal can bring one system to write (a name, or a name and a file) in the form of another.
IMITATIONS = [
    ("ilias", "moodle", "S 1/Ada Lovelace_7_assignsubmission_file_x_mal_4712/x.ipynb"),
    ("ilias", "moodle", "S 1/Ada Lovelace_7_assignsubmission_file_x_mal__4712/x.ipynb"),
    ("ilias", "canvas", "S 1/lovelaceada_111_5_mal_4712/x.ipynb"),
    ("ilias", "canvas", "S 1/AdaLovelace_5_7_mal_4712/x.ipynb"),
    ("ilias", "nbgrader", f"S 1/ada+{SLUG}+x_y_mal__4712/x.ipynb"),
    ("canvas", "moodle", "lovelaceada_7_assignsubmission_file_22_902_x.ipynb"),
    ("canvas", "moodle", "lorymal_22_902_Ada Lovelace_7_assignsubmission_file_x.ipynb"),
    ("canvas", "ilias", "lovelaceada_7_22_902_adalove_4710/x.ipynb"),
    ("canvas", "ilias", "lorymal_22_902_x/Lovelace_Ada_adalove_4710/x.ipynb"),
    ("canvas", "folders", "2026_1_22_902_a/ada/x.ipynb"),
    ("canvas", "canvas", "2026_1_22_902_a/lovelaceada_111_998_x.ipynb"),
    ("canvas", "canvas", "2026_22_902_a/lovelaceada_111_998_x.ipynb"),
    ("moodle", "folders", "_9_assignsubmission_file_/ada/x.ipynb"),  # nothing is left of a name
    ("moodle", "moodle", "x_7_assignsubmission_9_assignsubmission_file_/x.ipynb"),
    ("moodle", "canvas", "lovelaceada_111_5_x_9_assignsubmission_file_/x.ipynb"),
    ("moodle", "canvas", "MalLory_9_assignsubmission_file_lovelaceada_111_5_x.ipynb"),
    ("moodle", "ilias", "Lovelace_Ada_adalove_4710_9_assignsubmission_file_/x.ipynb"),
    ("moodle", "ilias", "Mal Lory_9_assignsubmission_file_/Lovelace_Ada_adalove_4710/x.ipynb"),
]


@pytest.mark.parametrize("given", [True, False])
@pytest.mark.parametrize("beside", [True, False])
@pytest.mark.parametrize(("true", "imitated", "path"), IMITATIONS)
def test_what_is_in_the_form_of_another_system_is_not_anothers(
    true: str, imitated: str, path: str, beside: bool, given: bool
) -> None:
    one = SYSTEMS[true]
    paths = [path, *one.honest] if beside else [path]
    for ids in (one.ids, SYSTEMS[imitated].ids) if true == "moodle" else (one.ids,):
        students, _ = owned(roster(true if given else "", **ids), paths)
        assert students[0] in ("-", "mal")
        assert students[1:] == (["ada", "kim"] if beside else [])


def test_what_is_in_two_forms_says_so_and_is_whose_it_is_by_hand() -> None:
    paths = [SYSTEMS["ilias"].of("Ada Lovelace_7_assignsubmission_file_x")]
    students, (reason,) = owned(roster(**LOGINS), paths)
    assert students == ["-"]
    assert reason == (
        "it is in the form of Moodle and of ILIAS: say by --from who wrote it, or by --match whose "
        "it is"
    )
    by_hand = replace(roster(**LOGINS), chosen={paths[0].split("/")[1]: "mal"})
    assert owned(by_hand, paths) == (["mal"], [])
    assert owned(roster("ilias", **LOGINS), paths)[0] == ["-"]  # the login's name is another
    assert owned(roster("ilias", **LOGINS), [SYSTEMS["ilias"].of("Lory_Mal")])[0] == ["mal"]


@pytest.mark.parametrize(
    "path",
    [
        "Ada Lovelace_7_assignsubmission_file_homework_2026_11_15.ipynb",
        "Ada Lovelace_7_assignsubmission_file_part_1_2_x.ipynb",
        "2026_11_15_lab/Ada Lovelace_7_assignsubmission_file_/x.ipynb",
        "2026_01_15/Ada Lovelace_7_assignsubmission_file_/x.ipynb",
    ],
)
@pytest.mark.parametrize("system", ["", "moodle"])
def test_numbers_in_a_file_or_folder_make_no_doubt_in_moodle(path: str, system: str) -> None:
    assert owned(roster(system, **LOGINS), [path]) == (["ada"], [])


def test_a_folder_that_holds_all_that_canvas_gave_is_not_canvass() -> None:
    files = ["lovelaceada_111_900_x.ipynb", "leekim_112_901_x.ipynb"]
    for folder in ("2026_11_15_lab", "autumn_2026_11_homework"):
        for system in ("", "canvas"):
            people = roster(system, **NUMBERS)
            assert owned(people, [f"{folder}/{one}" for one in files])[0] == ["ada", "kim"]


def test_two_cannot_make_a_folder_on_canvas_look_like_an_instructors() -> None:
    folder = "n_22_888_a_33_900_q"  # n with a file of a slash, and somebody called n_22_888_a
    paths = [f"{folder}/kim_112_9_x.ipynb", f"{folder}/y.ipynb", "lovelaceada_111_900_x.ipynb"]
    assert owned(roster("canvas", **NUMBERS), paths)[0] == ["-", "-", "ada"]


# What somebody else imitates costs nobody their own.


def collected(tmp_path: Path, ids: dict[str, str], files: dict[str, str | bytes]) -> Collected:
    root = tiny.build(tmp_path / "course")
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    people = replace(roster(**ids), participants={})
    return collect(load_course(root), tmp_path / "all.zip", select_lessons(root), people)


@pytest.mark.parametrize(
    ("ids", "own", "other"),
    [
        (LOGINS, "Lovelace_Ada_adalove_4/x.ipynb", "Ada Lovelace_7_assignsubmission_file_/x.ipynb"),
        (LOGINS, "ada/x.ipynb", "Ada Lovelace_7_assignsubmission_file_/x.ipynb"),
        (LOGINS, "ada/x.ipynb", "Ada Lovelace/x.ipynb"),
        (NUMBERS, "n_111_9_x.ipynb", "Ada Lovelace_7_assignsubmission_file_/x.ipynb"),
        (NUMBERS, "n_111_9_x.ipynb", "lovelaceada_7_assignsubmission_file_22_8_x.ipynb"),
        (NUMBERS, "n_111_9_x.ipynb", "2026_1_22_8_a/lovelaceada_111_998_x.ipynb"),
    ],
)
def test_a_name_or_a_doubt_takes_nothing_of_what_is_surely_somebodys(
    tmp_path: Path, ids: dict[str, str], own: str, other: str
) -> None:
    found = collected(tmp_path, ids, {other: NOTEBOOK, own: NOTEBOOK})
    assert [(one.student, one.file) for one in found.taken] == [("ada", own)]
    refused = [one.file for one in found.refused]
    assert [*refused, *(file for one in found.unmatched for file in one.files)] == [other]


@pytest.mark.parametrize(
    "name", ["lovelaceada_7_assignsubmission_file_22_8", "Ada Lovelace_7_assignsubmission_file"]
)
def test_an_archive_of_a_name_or_a_doubt_spends_nothing_of_anothers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(Bounds, "of_own", lambda self: replace(self, files=2))
    own = tmp_path / "own.zip"
    with zipfile.ZipFile(own, "w") as archive:
        for number in range(9):
            archive.writestr(f"{number}.csv", "")
    with zipfile.ZipFile(tmp_path / "work.zip", "w") as archive:
        archive.writestr("work/x.ipynb", NOTEBOOK)
    work = (tmp_path / "work.zip").read_bytes()
    files = {f"{name}_big.zip": own.read_bytes(), "lovelaceada_111_9_work.zip": work}
    found = collected(tmp_path, NUMBERS, files)
    assert [one.student for one in found.taken] == ["ada"]


def test_who_is_called_by_id_here_and_by_name_there_is_one() -> None:
    paths = ["all/week-1/ada/x.ipynb", "all/week-2/Ada Lovelace/x.ipynb"]
    assert owned(roster(), paths) == (["ada", "ada"], [])


def test_two_of_a_name_are_both_refused_where_nothing_is_surer(tmp_path: Path) -> None:
    files = [f"{one}/x.ipynb" for one in ("Ada Lovelace", "Lovelace, Ada")]
    found = collected(tmp_path, {}, dict.fromkeys(files, NOTEBOOK))
    assert (found.taken, sorted(one.file for one in found.refused)) == ((), files)


def test_a_folder_called_as_an_id_that_is_nobodys_is_not_taken_for_a_repository_of_the_student(
    tmp_path: Path,
) -> None:
    files = ["ps1-adalove/x.ipynb", "ps1-klee/x.ipynb", "ada/x.ipynb"]
    found = collected(tmp_path, LOGINS, dict.fromkeys(files, NOTEBOOK))
    assert {one.student: one.file for one in found.taken} == {"ada": files[0], "kim": files[1]}
    assert [one.key for one in found.unmatched] == ["ada"]


# GitHub.


@pytest.mark.parametrize(
    ("paths", "students"),
    [
        (["ps1-adalove", "ps1-klee", "ada", "Kim Lee", f"ada+{SLUG}+x"], "ada kim - - -"),
        (["ps1-adalove", "Lovelace_Ada_mal_4712", "ps1-zzz"], "ada - -"),
        (["adalove"], "-"),
    ],
)
def test_from_github_only_what_follows_the_assignment_counts(
    paths: list[str], students: str
) -> None:
    found, _ = owned(roster("github", **LOGINS), [f"all/{one}/x.ipynb" for one in paths])
    assert " ".join(found) == students


@pytest.mark.parametrize("system", ["", "github"])
@pytest.mark.parametrize(
    ("slug", "students"), [("ps1", "- - mal"), ("ps1-mal", "ada kim -"), ("x", "ada kim -")]
)
def test_the_assignment_is_called_as_a_lesson_where_one_is(
    slug: str, students: str, system: str
) -> None:
    paths = ["ps1-mal-adalove", "ps1-mal-klee", "ps1-mal-x"]
    places = [Place(("all", one, "x.ipynb"), 3) for one in paths]
    people = roster(system, **{**LOGINS, "mal": "mal-x"})
    owners = Owners(places, people, [slug])
    named = [owners.of(one).owner for one in places]
    matches = people.match(named)
    assert [matches[one].student or "-" for one in named] == students.split()


def test_an_assignment_that_begins_as_another_tells_nothing_of_a_repository_alone() -> None:
    places = [Place(("all", "lab-1-redo-klee", "x.ipynb"), 3)]
    for slugs, student in ((["lab-1", "lab-1-redo"], None), (["lab-1-redo"], "kim")):
        people = roster(**LOGINS)
        owner = Owners(places, people, slugs).of(places[0]).owner
        assert people.match([owner])[owner].student == student


def test_the_command_reads_the_system_that_it_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tiny.build(tmp_path / "course")
    (root / "students.csv").write_text("id,first_name,last_name\nada,Ada,Lovelace\n")
    (tmp_path / "sub" / "ada").mkdir(parents=True)
    (tmp_path / "sub" / "ada" / "x.ipynb").write_text(NOTEBOOK)
    words = ["collect", str(tmp_path / "sub"), "--course", str(root), "--json", "--from"]
    assert main.main([*words, "moodle"]) == 1
    (who,) = json.loads(capsys.readouterr().out)["unmatched"]
    assert (who["key"], who["reason"]) == (
        "sub/ada",
        "it is not in the form of Moodle: say whose it is by --match, or by --from who else wrote "
        "it",
    )
    assert main.main([*words, "folders"]) == 0
    assert main.main([*words, "nobody"]) == 2


@pytest.mark.parametrize(
    ("system", "logins", "paths", "expected"),
    [
        # GitHub Classroom calls the folder of all repositories `ps1-submissions`.
        ("github", LOGINS | {"mal": "submissions"}, ["ps1-submissions/ps1-adalove/x.ipynb"], "ada"),
        # Of these two users nobody knows, and one has laid in a folder.
        ("github", LOGINS, ["s/ps-noor/ps-adalove/x.ipynb", "s/ps-zed/x.ipynb"], "- -"),
        # Mal's login is 2-adalove, and there is a lesson lab-2, for which this might be Ada's.
        ("github", LOGINS | {"mal": "2-adalove"}, ["s/lab-2-adalove/x.ipynb"], "-"),
        # What stands beside something is somebody's: an instructor's groups are collected apart.
        ("github", LOGINS, ["s/group-1/ps-adalove/x.ipynb", "s/group-2/x.ipynb"], "- -"),
        ("folders", {}, ["s/group-1/ada/x.ipynb", "s/group-2/kim/x.ipynb"], "- -"),
        ("folders", {}, ["s/group-1/ada/x.ipynb", "s/group-1/kim/x.ipynb"], "ada kim"),
        # Mal's login is Ada's name.
        (
            *("folders", LOGINS | {"mal": "ada-lovelace"}),
            *(["all/Ada-Lovelace/x.ipynb", "all/Kim-Lee/x.ipynb"], "- kim"),
        ),
        # Where logins are numbers, too, a name is none.
        ("ilias", NUMBERS, ["s/Lovelace_Ada_evil99_777/x.ipynb"], "-"),
        ("ilias", NUMBERS, ["s/Lovelace_Ada_111_777/x.ipynb"], "ada"),
        # Two of one name, in a class without logins.
        ("ilias", {}, ["s/Lovelace_Ada_a_1/p1.ipynb", "s/Lovelace_Ada_b_2/p2.ipynb"], "- -"),
    ],
)
def test_a_sign_that_somebody_chose_takes_nobodys_work(
    system: str, logins: dict[str, str], paths: list[str], expected: str
) -> None:
    students, reasons = owned(roster(system, **logins), paths)
    assert " ".join(students) == expected
    assert all("--match" in one for one in reasons)
