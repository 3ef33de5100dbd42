"""A third LMS is one object: archive, worksheet, grades and feedback follow from it."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest

from autograder.cli import main
from autograder.lms import LMS
from autograder.lms.identities import LmsStudent
from autograder.lms.interface import ArchiveName, GradeLine, Lms, Owner, Participant, Worksheet
from tests.autograder import tiny
from tests.autograder.classroom import SLUG, classroom, graded


class Ilias(Lms):
    """Writes `Lovelace_Ada_ada_77/04.ipynb`; reads a line a learner."""

    name = "ilias"
    title = "ILIAS"
    number_lasts = False
    worksheet = Worksheet(
        "list of members of ILIAS",
        ("Login", "Number"),
        "Export it as CSV.",
        lambda row, zone: Participant(row["Number"], row["Login"], row["E-Mail"]),
        re.compile(r"^[a-z]+,([0-9]+),", re.M),
    )
    not_in_zip = "ILIAS does not know them"

    def read_name(self, path: tuple[str, ...]) -> ArchiveName | None:
        found = re.fullmatch(r"[^_]+_[^_]+_([a-z]+)_(\d+)", path[0])
        return ArchiveName(Owner(self.name, found[1], found[2]), path[-1]) if found else None

    def grade_table(self, column: str, most: float, lines: Iterable[GradeLine]) -> list[list[str]]:
        return [["who", column], *([one.number, str(one.score)] for one in lines)]

    def feedback_name(self, known: LmsStudent, page: str) -> str:
        return f"{known.number}/{page}"


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A class of one, whose notebook comes in an archive of that LMS."""
    monkeypatch.setitem(LMS, "ilias", Ilias())
    classroom(tmp_path)
    (tmp_path / "students.csv").write_text("id,email\nada1,a@uni.example\n")
    (tmp_path / "members.csv").write_text("Login,Number,E-Mail\nada,77,A@uni.example\n")
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr(f"Lovelace_Ada_ada_77/{SLUG}.ipynb", json.dumps(tiny.notebook()))
    return tmp_path


def test_its_archive_is_taken_by_its_own_list_of_members(course: Path) -> None:
    words = ["collect", str(course / "all.zip"), "--worksheet", str(course / "members.csv")]
    assert main.main([*words, "--course", str(course)]) == 0
    assert (course / "submitted" / "ada1" / SLUG / f"{SLUG}.ipynb").is_file()
    known = json.loads((course / ".autograder" / "lms" / f"{SLUG}.json").read_text())
    who = {"lms": "ilias", "name": "ada", "number": "77", "file_id": "", "by_name": False}
    assert known == {"ada1": who}


def test_its_grades_and_pages_are_written_in_its_form(course: Path) -> None:
    words = ["collect", str(course / "all.zip"), "--match", "ada_77=ada1"]
    assert main.main([*words, "--course", str(course)]) == 0
    graded(classroom(course)[0])
    assert main.main(["export", "--format", "ilias", "--course", str(course)]) == 0
    text = (course / "report" / f"{SLUG}-ilias.csv").read_text()
    assert text == f"who,{SLUG}\n77,6.0\n"
    assert main.main(["feedback", "--zip", "ilias", "--course", str(course)]) == 0
    with zipfile.ZipFile(course / "report" / f"{SLUG}-feedback-ilias.zip") as archive:
        assert archive.namelist() == [f"77/{SLUG}.html"]


def test_a_list_of_neither_is_refused_with_the_remedies_of_both(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (course / "members.csv").write_text("a,b\n1,2\n")
    words = ["collect", str(course / "all.zip"), "--worksheet", str(course / "members.csv")]
    assert main.main([*words, "--course", str(course)]) == 1
    said = capsys.readouterr().err
    assert "is no grading worksheet of Moodle in English: Identifier or Full name" in said
    assert "no list of members of ILIAS: Login or Number is missing" in said
    assert "Export it as CSV." in said
