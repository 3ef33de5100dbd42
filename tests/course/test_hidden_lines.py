"""A line is a mark where nbgrader takes it for one, and has the number that Python gives it."""

from __future__ import annotations

import linecache

import pytest

from course.hidden_lines import first_hidden_line, is_hidden_line

MARKS = ["### BEGIN HIDDEN TESTS", "# BEGIN HIDDEN TESTS", "    # BEGIN HIDDEN TESTS (2 of 3)"]


@pytest.mark.parametrize("mark", MARKS)
def test_a_mark_is_any_line_with_its_words(mark: str) -> None:
    cell = f"a\n{mark}\nb\n# END HIDDEN TESTS, really\nc"
    linecache.cache["<marks>"] = (len(cell), None, cell.splitlines(keepends=True), "<marks>")
    assert first_hidden_line(cell) == 2
    assert [is_hidden_line("<marks>", n) for n in range(1, 6)] == [False, True, True, False, False]


def test_a_cell_without_a_mark_has_no_hidden_line() -> None:
    assert first_hidden_line("a\nb") == 0


@pytest.mark.parametrize("sign", ["\u2028", "\x85", "\x0c", "\x1c"])
def test_what_ends_no_line_for_python_moves_no_mark(sign: str) -> None:
    assert first_hidden_line(f"# a{sign}b{sign}c\nx\n# BEGIN HIDDEN TESTS") == 3


@pytest.mark.parametrize(("head", "line"), [("a\r\nb\r\n", 3), ("a\rb\n", 3), ("a\nb\r", 2)])
def test_all_that_stands_in_the_line_of_the_mark_is_hidden(head: str, line: int) -> None:
    assert first_hidden_line(f"{head}# BEGIN HIDDEN TESTS") == line
