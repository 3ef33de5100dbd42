"""A secret line that would be published is found with its place; an innocent one is left alone."""

from __future__ import annotations

from typing import Any

import pytest

from autograder.lessons.leaks import leaks
from tests.autograder import tiny

HIDDEN = "### BEGIN HIDDEN TESTS\n{}\n### END HIDDEN TESTS"
SOLUTION = "### BEGIN SOLUTION\n{}\n### END SOLUTION"


def found(source: str, edition: list[dict[str, Any]], **metadata: Any) -> list[str]:
    notebook = {"cells": edition, "metadata": metadata}
    return [str(leak) for leak in leaks([tiny.code("test-a", source)], notebook)]


def test_a_leak_names_both_cells_and_both_lines() -> None:
    source = "check = 1\n" + HIDDEN.format("secret = 2")
    assert found(source, [tiny.code("shown", "x = 1\n  secret = 2")]) == [
        "cell shown, line 2, shows the secret line of cell test-a, line 3: secret = 2"
    ]


@pytest.mark.parametrize("line", ["},", ")", "{", '"a": 1', "# YOUR CODE HERE"])
def test_punctuation_that_json_brings_is_no_leak(line: str) -> None:
    cell = tiny.code("shown", "x = 1", {"course": {"a": 1, "b": {"c": 2}, "d": ["e"]}})
    assert found(HIDDEN.format(line), [cell]) == []


def test_a_solution_may_raise_what_the_stub_raises() -> None:
    stub = tiny.code("shown", "# YOUR CODE HERE\nraise NotImplementedError()")
    assert found(SOLUTION.format("raise NotImplementedError()"), [stub]) == []


def test_a_secret_line_inside_a_longer_one_is_none() -> None:
    assert found(SOLUTION.format("return x"), [tiny.code("shown", "return x + 1")]) == []


def test_a_line_that_the_visible_part_has_too_is_no_secret() -> None:
    source = "seen = f(1)\n" + HIDDEN.format("seen = f(1)")
    assert found(source, [tiny.code("shown", "seen = f(1)")]) == []


def test_a_text_of_the_metadata_is_looked_through_line_by_line() -> None:
    cell = tiny.code("shown", "x = 1", {"note": "first\n  secret = 2"})
    assert found(HIDDEN.format("secret = 2"), [cell]) == [
        "cell shown, its metadata.note, shows the secret line of cell test-a, line 2: secret = 2"
    ]


def test_the_metadata_of_the_notebook_are_looked_through() -> None:
    (leak,) = found(HIDDEN.format("secret = 2"), [], authors=[{"name": "secret = 2"}])
    assert leak.startswith("the notebook's metadata.authors.name shows the secret line")
