"""What the names in an archive of Moodle or Canvas say."""

from __future__ import annotations

import pytest

from autograder.lms import read_name
from autograder.lms.interface import ArchiveName, Owner, letters, plain_letters
from autograder.submissions.class_list import Student
from autograder.submissions.matching import Roster

ADA = Owner("moodle", "Ada Lovelace", "1234567")


@pytest.mark.parametrize(
    "path",
    [
        ("Ada Lovelace_1234567_assignsubmission_file_", "04.ipynb"),
        ("Ada Lovelace_1234567_assignsubmission_file", "04.ipynb"),  # newer Moodle
        ("Ada Lovelace_1234567_assignsubmission_file_", "my folder", "04.ipynb"),
        ("unpacked", "Ada Lovelace_1234567_assignsubmission_file_", "04.ipynb"),
        ("Ada Lovelace_1234567_assignsubmission_file_04.ipynb",),
        ("Ada Lovelace_1234567_assignsubmission_file_work.zip", "work", "04.ipynb"),
    ],
)
def test_both_forms_of_moodle_name_the_participant_and_the_file(path: tuple[str, ...]) -> None:
    assert read_name(path) == ArchiveName(ADA, "04.ipynb")


def test_text_typed_into_moodle_is_no_file() -> None:
    path = ("Ada Lovelace_1234567_assignsubmission_onlinetext_", "onlinetext.html")
    assert read_name(path) == ArchiveName(ADA, "")


@pytest.mark.parametrize(
    ("file", "name", "number", "rest", "late"),
    [
        ("lovelaceada_12345_67890_04.ipynb", "lovelaceada", "12345", "04.ipynb", False),
        ("lovelaceada_LATE_12345_67890_04-1.ipynb", "lovelaceada", "12345", "04-1.ipynb", True),
        ("lovelace99_12345_67890_04_x.ipynb", "lovelace99", "12345", "04_x.ipynb", False),
        ("o_brienmary_1_2_04_3_4.ipynb", "o_brienmary", "1", "04_3_4.ipynb", False),
        ("anon_a1B2c_67890_04.ipynb", "", "anon_a1B2c", "04.ipynb", False),
        ("LATE_anon_a1B2c_67890_04.ipynb", "", "anon_a1B2c", "04.ipynb", True),
        ("lovelaceada_12345_text.html", "lovelaceada", "12345", "", False),
    ],
)
def test_canvas_names_the_user_the_file_and_lateness(
    file: str, name: str, number: str, rest: str, late: bool
) -> None:
    found = read_name((file,))
    assert found is not None
    assert (found.owner, found.file, found.late) == (Owner("canvas", name, number), rest, late)


def test_canvas_numbers_each_file_which_its_upload_asks_for_again() -> None:
    files = ("lovelaceada_LATE_12345_67890_04.ipynb", "lovelaceada_12345_text.html")
    assert [one.file_id for file in files if (one := read_name((file,)))] == ["67890", ""]


@pytest.mark.parametrize("below", [("04.ipynb",), ("lovelaceada", "04.ipynb")])
def test_a_file_of_canvas_whose_name_begins_with_a_slash_is_its_owners(
    below: tuple[str, ...],
) -> None:
    assert read_name(("hoppergrace_77_2_",)) is None
    found = read_name(("hoppergrace_77_2_", *below))
    assert found == ArchiveName(GRACE, "04.ipynb", file_id="2")
    found = read_name(("hopper_12345_1_77_2_", *below))  # her name may hold another's number
    assert found is not None
    assert "77" in {one.number for one in found.owner.others}


def test_other_names_say_nothing() -> None:
    assert read_name(("04-memory-layout.ipynb",)) is None
    assert read_name(("ada", "04_memory.ipynb")) is None


ADAS_FOLDER = "Ada Lovelace_1234567_assignsubmission_file_"
GRACE = Owner("canvas", "hoppergrace", "77")


@pytest.mark.parametrize(
    ("path", "owner"),
    [
        (("hoppergrace_77_2_work.zip", ADAS_FOLDER, "04.ipynb"), GRACE),
        (("hoppergrace_77_2_work.tar.gz", "lovelaceada_12345_1_04.ipynb"), GRACE),
        ((ADAS_FOLDER, "hoppergrace_77_2_work.zip", "04.ipynb"), ADA),
        ((ADAS_FOLDER, "Grace Hopper_2_assignsubmission_file_", "04.ipynb"), ADA),
        (("unpacked", ADAS_FOLDER, "hoppergrace_77_2_04.ipynb"), ADA),
    ],
)
def test_the_outermost_part_that_an_lms_wrote_says_whose_it_is(
    path: tuple[str, ...], owner: Owner
) -> None:
    found = read_name(path)
    assert found is not None
    assert (found.owner, found.at) == (owner, int(path[0] == "unpacked"))


@pytest.mark.parametrize(
    "path",
    [
        (f"{ADAS_FOLDER}Grace Hopper_2_assignsubmission_file_04.ipynb",),  # whose file's name?
        (f"{ADAS_FOLDER}x_2_assignsubmission_file_", "04.ipynb"),
        (f"{ADAS_FOLDER}x_2_assignsubmission_file", "04.ipynb"),
    ],
)
def test_a_name_with_two_numbers_of_moodle_is_nobodys(path: tuple[str, ...]) -> None:
    found = read_name(path)
    assert found is not None
    assert (found.owner.key, found.owner.number, found.file) == (
        path[0],
        "",
        "04.ipynb" if path[1:] else path[0],
    )
    students = (Student("ada", "Ada", "Lovelace", ""), Student("grace", "Grace", "Hopper", ""))
    match = Roster(students).match([found.owner])[found.owner]
    assert match.student is None
    assert "--match" in match.reason
    by_hand = Roster(students, chosen={path[0]: "grace"})
    assert by_hand.match([found.owner])[found.owner].student == "grace"


def test_canvas_names_files_and_no_folders() -> None:
    several = {("autumn_2026_11_homework",)}  # Canvas gives a number to each file
    assert read_name(("autumn_2026_11_homework", "04.ipynb"), several=several) is None
    path = ("autumn_2026_11_homework", ADAS_FOLDER, "04.ipynb")
    assert read_name(path, several=several) == ArchiveName(ADA, "04.ipynb")
    assert read_name(("2026_01_15", "04.ipynb")) is None


@pytest.mark.parametrize("rest", ["ada", ADAS_FOLDER, "lovelaceada_12345_1_04.ipynb"])
def test_a_slash_in_the_name_of_a_file_does_not_hide_whose_it_is(rest: str) -> None:
    found = read_name(("hoppergrace_77_2_x", rest, "04.ipynb"))
    assert found == ArchiveName(GRACE, "04.ipynb", file_id="2")


def test_names_in_an_archive_of_the_learners_own_are_no_lms_s() -> None:
    path = ("sub", "kim.zip", ADAS_FOLDER, "04.ipynb")
    assert read_name(path, 2) is None
    assert read_name(path) == ArchiveName(ADA, "04.ipynb")
    assert read_name(("hoppergrace_77_2_work.zip", "x", "04.ipynb"), 1) == ArchiveName(
        GRACE, "04.ipynb", file_id="2"
    )


def test_the_key_of_an_owner_is_what_the_archive_writes() -> None:
    assert ADA.key == "Ada Lovelace_1234567"
    assert Owner("canvas", "", "anon_a1B2c").key == "anon_a1B2c"


def test_names_are_compared_by_their_letters_in_any_script() -> None:
    assert letters("Ömer O'Brien-Łuk") == "ömerobrienłuk"
    assert letters("李 小龙") == "李小龙"
    assert plain_letters("Ömer") == "omer"
    assert letters("José") == letters("José")  # composed and decomposed accents


CLASS = (
    Student("ada", "Ada", "Lovelace", "", "111"),
    Student("kim", "Kim", "Lee", "", "222"),
)
UNCLEAR = "can be read in several ways"


@pytest.mark.parametrize(
    ("file", "student", "reason"),
    [
        ("lovelaceada_111_9_homework_2026_11_15.ipynb", "ada", ""),  # 2026 is nobody's number
        ("222_333_lovelaceada_111_444_x.ipynb", None, UNCLEAR),  # kim's name has no letters
        ("lovelaceada_111_99_777_503_x.ipynb", None, UNCLEAR),  # or somebody's who is no student
        ("lovelaceada_111_222_333_x.ipynb", None, UNCLEAR),  # or she is called lovelaceada_111
        ("leekim_LATE_222_9_lovelaceada_111_7_x.ipynb", None, UNCLEAR),
        ("anon_Xy12z_67890_foo_111_222_x.ipynb", None, "the lms_user_id anon_Xy12z"),
    ],
)
def test_numbers_that_a_learner_wrote_make_nothing_anothers_on_canvas(
    file: str, student: str | None, reason: str
) -> None:
    found = read_name((file,))
    assert found is not None
    match = Roster(CLASS).match([found.owner])[found.owner]
    assert match.student == student
    assert reason in match.reason
    by_hand = Roster(CLASS, chosen={found.owner.key: "kim"})
    assert by_hand.match([found.owner])[found.owner].student == "kim"


def test_a_number_that_is_not_known_may_be_that_of_a_student_without_one() -> None:
    found = read_name(("lovelaceada_111_9_777_503_x.ipynb",))
    assert found is not None
    students = (CLASS[0], Student("kim", "Kim", "Lee"))
    assert Roster(students).match([found.owner])[found.owner].student is None


def test_nobodys_own_work_is_refused_as_another_wrote_their_number() -> None:
    names = [read_name((one,)) for one in ("lovelaceada_111_5_x.ipynb", "foo_999_5_111_6_x.ipynb")]
    own, other = (one.owner for one in names if one)
    match = Roster(CLASS).match([own, other])
    assert (match[own].student, match[other].student) == ("ada", None)
    namesake = Owner("canvas", "lovelaceada", "333")
    match = Roster(CLASS).match([own, namesake])
    assert (match[own].student, match[namesake].student) == ("ada", None)
