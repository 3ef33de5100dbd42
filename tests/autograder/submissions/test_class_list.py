"""students.csv as spreadsheets save it, and what in it cannot be believed."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from autograder.submissions.class_list import (
    RosterError,
    Student,
    read_extensions,
    read_students,
)

ADA = Student("ada", "Ada", "Lovelace", "ada@uni.example", "12345")


@pytest.fixture
def roster(tmp_path: Path) -> Path:
    return tmp_path / "students.csv"


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("first", ["", "\ufeff", "sep=X\n"])
def test_commas_semicolons_and_tabs_are_read(roster: Path, delimiter: str, first: str) -> None:
    lines = [
        ["id", "first_name", "last_name", "email", "lms_user_id"],
        ["ada", "Ada", "Lovelace", "ada@uni.example", "12345"],
    ]
    text = "\n".join(delimiter.join(line) for line in lines)
    roster.write_text(first.replace("X", delimiter) + text)
    assert read_students(roster) == [ADA]


def test_a_comma_in_a_cell_between_semicolons_is_text(roster: Path) -> None:
    roster.write_text("id; first_name ;last_name\nada;Ada, Countess;Lovelace\n")
    assert read_students(roster) == [Student("ada", "Ada, Countess", "Lovelace")]


def test_a_cell_of_any_length_costs_nobody_their_line(roster: Path) -> None:
    before = csv.field_size_limit()
    roster.write_text(f"id,text\nada,{'x ' * before}\nbob,\n")
    assert [one.id for one in read_students(roster)] == ["ada", "bob"]
    assert csv.field_size_limit() == before


def test_extensions_are_read_between_semicolons(roster: Path) -> None:
    roster.write_text("id;extension_01\nada;2 days\n")
    (found,) = read_extensions(roster, ["01-tiny"]).values()
    assert str(found["ada"]) == "2 days, 0:00:00"


def test_an_id_in_two_lines_that_differ_is_refused(roster: Path) -> None:
    roster.write_text("id,first_name\nada,Ada\nbob,Bob\nada,Adam\n")
    with pytest.raises(RosterError, match=r"(?s)the id 'ada' stands in two lines.*another id"):
        read_students(roster)
    with pytest.raises(RosterError, match="the id 'ada' stands in two lines"):
        read_extensions(roster, [])


def test_a_line_that_stands_there_twice_is_one(roster: Path) -> None:
    roster.write_text("id,first_name\nada,Ada\nada,Ada\n")
    assert [one.id for one in read_students(roster)] == ["ada"]


def test_a_list_without_ids_names_the_columns_it_has(roster: Path) -> None:
    roster.write_text("Matrikel;Name\n1;Ada\n")
    with pytest.raises(RosterError, match=r"(?s)has no column 'id', but Matrikel, Name.*headings"):
        read_students(roster)


def test_lines_without_an_id_are_nobody(roster: Path) -> None:
    roster.write_text("id,first_name\n,Nobody\nada,Ada\n")
    assert [one.id for one in read_students(roster)] == ["ada"]


@pytest.mark.parametrize("id_", ["<b>", "kim\x1b]0;x", "kim\x9b31m"])
def test_an_id_that_would_act_where_it_is_shown_is_refused(roster: Path, id_: str) -> None:
    roster.write_text(f"id,first_name\n{id_},Kim\no'neil,Mary\n")
    with pytest.raises(RosterError, match="cannot be a student's id"):
        read_students(roster)
