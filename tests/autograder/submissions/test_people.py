"""Names chosen to be read as another student's, and those that are to be read all the same."""

from __future__ import annotations

import pytest

from autograder.lms import read_name
from autograder.submissions.class_list import Student
from autograder.submissions.matching import Roster
from autograder.submissions.owners import Owners, Place


def roster(**logins: str) -> Roster:
    """Ada Lovelace, Kim Kimson, Jörg Møller and Bob Bobson, with these for lms_user_id."""
    names = {"ada": "Ada Lovelace", "kim": "Kim Kimson", "jorg": "Jörg Møller", "bob": "Bob Bobson"}
    return Roster(
        tuple(
            Student(one, *name.split(), f"{one}@x.org", logins.get(one, ""))
            for one, name in names.items()
        )
    )


def whose(people: Roster, *paths: str) -> str:
    """The students whose the notebooks of a source are; - for those that a person must decide."""
    places = [Place((*path.split("/"), "x.ipynb"), path.count("/") + 2) for path in paths]
    owners = Owners(places, people, ["ps1"])
    named = [owners.of(one).owner for one in places]
    matches = people.match(named)
    assert all(one.student or "--match" in one.reason for one in matches.values())
    return " ".join(matches[one].student or "-" for one in named)


ILIAS = {"ada": "ada.l", "bob": "bobby"}


@pytest.mark.parametrize(
    ("logins", "folders", "expected"),
    [
        # Kim is called A. da, and her login is lovelace_ada, or Ada's id or address.
        ({"ada": "ada"}, "Lovelace_Ada_ada_1 A_da_lovelace_ada_2", "ada -"),
        ({**ILIAS, "kim": "lovelace_ada"}, "A_da_lovelace_ada_2", "-"),
        ({**ILIAS, "kim": "lovelace_ada"}, "Kimson_Kim_lovelace_ada_2", "kim"),
        (ILIAS, "Lovelace_Ada_ada_2 Lovelace_Ada_ada@x.org_2 Lovelace_Ada_x_2", "- - -"),
        # A known login may be the end of hers, with a name that ends as the rest does.
        (ILIAS, "Love_lace_ada_ada.l_2 Lovelace_Ada_x_ada.l_2 Kimson_Kim_ada.l_2", "- - -"),
        (ILIAS, "_ada++_x_2", "-"),
        (ILIAS, "Eve_Eve_eve_2/ada", "-"),
        # So ILIAS writes umlauts, and letters of other scripts.
        ({"jorg": "jm"}, "Moller_Joerg_jm_2", "jorg"),
        ({}, "Lovelace_Ada_x_1 Bobson_Bob_y_2", "ada bob"),
    ],
)
def test_on_ilias_a_known_login_counts_alone(
    logins: dict[str, str], folders: str, expected: str
) -> None:
    paths = [f"all/Sheet 1/{one}" for one in folders.split()]
    assert whose(roster(**logins), *paths) == expected


USERS = {"ada": "adalove", "bob": "bobby", "kim": "kimhub"}


@pytest.mark.parametrize(
    ("logins", "folders", "expected"),
    [
        # A folder that an unknown account calls as Ada's id, in a repository that lies there alone.
        (USERS, "ps1-zzz/ada", "-"),
        (USERS, "ps1-zzz/ps1-adalove", "-"),
        (USERS, "ps1-submissions/ps1-adalove ps1-submissions/ps1-bobby", "ada bob"),
        (USERS, "section-1/ada section-1/bob", "ada bob"),
        # Beside repositories, an id or a name is anybody's.
        (USERS, "ps1-bobby ps1-kimhub ada", "bob kim -"),
        # Kim's name on GitHub is Ada's name, or what Ada's repository is called.
        ({**USERS, "kim": ""}, "ada-lovelace bobby", "- bob"),
        (USERS, "ada-lovelace bob", "ada bob"),
        ({**USERS, "kim": "ps1-adalove"}, "ps1-adalove ps1-bobby", "ada bob"),
        ({**USERS, "kim": "ps1-adalove"}, "ps1-adalove ps1-zzz", "- -"),
        ({**USERS, "kim": "kim-bobby"}, "kim-bobby bobby adalove", "kim bob ada"),
        # All repositories of an assignment begin alike, but not what else lies there.
        (USERS, "lab-1-adalove lab-1-bobby old_kimhub notes", "ada bob kim -"),
        (USERS, "lab-bobby lab-x-adalove lab-x-kimhub", "bob - -"),
        (USERS, "lab-adalove lab-bobby lab-1-adalove lab-1-bobby", "ada bob - -"),
        (USERS, "lab1-adalove lab1-bobby lab2-adalove lab2-bobby", "ada bob ada bob"),
        ({**USERS, "kim": "bob-bobby"}, "lab-bob-bobby lab-adalove", "kim ada"),
        # What that costs: docs/trust.md, Names.
        (USERS, "lab-x-adalove lab-x-kimhub", "ada kim"),
        (USERS, "lab-zzz/ada", "ada"),
    ],
)
def test_on_github_what_follows_the_common_beginning_counts_alone(
    logins: dict[str, str], folders: str, expected: str
) -> None:
    assert whose(roster(**logins), *(f"all/{one}" for one in folders.split())) == expected


@pytest.mark.parametrize(
    "folder",
    [
        "2026_11_30_+1_111_7_222_999_\u0661\u0661\u0661_ps1.ipynb",
        "2026_5_222_999_x",
        "LATE_text.html_LATE_222_999_text.html",
        "kim_222_999_x",
    ],
)
def test_a_slash_in_a_file_of_whoever_has_digits_for_a_name_makes_it_nobodys(folder: str) -> None:
    found = read_name((folder, "ada_111_8_ps1.ipynb"))
    assert found is not None and found.at == 0
    people = roster(ada="111", kim="222", bob="333")
    assert people.match([found.owner])[found.owner].student in (None, "kim")
    assert read_name(("2026_11_15_lab", "ada.ipynb")) is None


def test_digits_of_another_script_are_no_number() -> None:
    assert read_name(("ada_\u0661\u0661\u0661_8_ps1.ipynb",)) is None
    assert read_name(("Ada_\u0661_assignsubmission_file_", "ps1.ipynb")) is None
