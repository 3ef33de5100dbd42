"""The marks of a course are those that its configuration names."""

from __future__ import annotations

from traitlets.config import Config

from autograder.lessons.regions import (
    HIDDEN,
    MARK_SCHEME,
    SOLUTION,
    USUAL_MARKS,
    marks_of,
    split_regions,
    with_usual_marks,
)
from course.hidden_lines import first_hidden_line


def configured() -> Config:
    config = Config()
    config.ClearHiddenTests.begin_test_delimeter = "SECRET>"
    config.ClearHiddenTests.end_test_delimeter = "<SECRET"
    config.ClearMarkScheme.begin_mark_scheme_delimeter = "BEGIN RUBRIC"
    return config


def test_what_the_configuration_does_not_name_is_as_usual() -> None:
    marks = marks_of(configured())
    assert marks[HIDDEN] == ("SECRET>", "<SECRET")
    assert marks[MARK_SCHEME] == ("BEGIN RUBRIC", "END MARK SCHEME")
    assert marks[SOLUTION] == USUAL_MARKS[SOLUTION]
    assert marks_of(Config()) == USUAL_MARKS


def test_a_cell_is_split_at_the_marks_of_its_course() -> None:
    cell = "a\n# SECRET> of two\nb\n# <SECRET\nc"
    assert split_regions(cell, HIDDEN, marks_of(configured())) == (["a", "c"], ["b"])


def test_the_engine_finds_them_at_the_same_lines() -> None:
    cell = "a\nx = 1  # SECRET>\nb\n### <SECRET\nc"
    usual = with_usual_marks(cell, HIDDEN, marks_of(configured()))
    assert usual.count("\n") == cell.count("\n")
    assert first_hidden_line(usual) == 2
    assert split_regions(usual, HIDDEN) == (["a", "c"], ["b"])
    assert with_usual_marks(cell, HIDDEN, USUAL_MARKS) is cell
