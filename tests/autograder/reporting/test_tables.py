"""Grades are plain text for programs and fit whatever terminal a person has."""

from __future__ import annotations

import io
import re

import pytest

from autograder.records.model import Status, SubmissionRecord
from autograder.reporting.tables import grades_table, print_grades
from tests.autograder.classroom import record

RECORDS = [record("ada"), record("bob", status=Status.MISSING)]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def printed(
    records: list[SubmissionRecord], columns: int, monkeypatch: pytest.MonkeyPatch
) -> list[str]:
    """The lines on a terminal of so many columns, without colours."""
    monkeypatch.setenv("COLUMNS", str(columns))
    stream = Terminal()
    print_grades(records, stream)
    return re.sub(r"\x1b\[[\d;]*m", "", stream.getvalue()).splitlines()


def test_what_is_no_terminal_gets_the_plain_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    stream = io.StringIO()
    print_grades(RECORDS, stream)
    assert stream.getvalue() == f"{grades_table(RECORDS)}\n"
    assert stream.getvalue().splitlines()[:3] == [
        "student  lesson   status   score  max  seconds",
        "ada      01-tiny  graded       6    6     0.50",
        "bob      01-tiny  missing      6    6     0.50",
    ]


def test_a_wide_terminal_gets_the_same_words(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = printed(RECORDS, 100, monkeypatch)
    assert [line.rstrip() for line in lines] == grades_table(RECORDS).splitlines()


@pytest.mark.parametrize(
    ("columns", "head"),
    [
        (47, ["student", "lesson", "status", "score", "max", "seconds"]),
        (46, ["student", "lesson", "status", "score", "max"]),
        (38, ["student", "lesson", "status", "score", "max"]),
        (33, ["student", "lesson", "status", "score"]),
        (32, ["student", "status", "score"]),
    ],
)
def test_a_narrow_terminal_goes_without_the_last_columns(
    columns: int, head: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = printed(RECORDS, columns, monkeypatch)
    assert lines[0].split() == head
    assert max(map(len, lines)) <= columns


def test_a_long_name_goes_on_in_the_next_line(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = printed([record("a" * 20)], 40, monkeypatch)
    assert "".join(lines[1:3]).replace("graded", "").count("a") == 20
    assert max(map(len, lines)) <= 40


@pytest.mark.parametrize("columns", [1, 5, 12])
def test_a_terminal_that_is_far_too_narrow_breaks_nothing(
    columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert max(map(len, printed(RECORDS, columns, monkeypatch))) <= columns


def test_a_learners_name_is_no_markup(monkeypatch: pytest.MonkeyPatch) -> None:
    line = printed([record("[red]a[/] :smile:")], 80, monkeypatch)[1]
    assert line.startswith("[red]a[/] :smile:  01-tiny")


def test_names_of_wide_letters_keep_the_columns_in_line() -> None:
    head, wide, _ = grades_table([record("漢字漢字漢字")]).splitlines()[:3]
    assert wide.index("01-tiny") + 6 == head.index("lesson")  # six letters, two columns each
