"""nbgrader's Validate is told which checks do not hold, and no grader ever is."""

from __future__ import annotations

from typing import Any

import nbformat
import pytest
from nbgrader.validator import Validator

from course import Check
from course.testing import results
from course.testing.nbgrader_validate import failures, tell_validator
from tests.autograder import tiny

VALIDATING = {"NBGRADER_EXECUTION": "validate"}


def result(*values: int) -> results.TestResult:
    """Two checks, each of a value that should be 1."""
    check = Check("double")
    for n, value in enumerate(values):
        check.equal(value, 1, name=f"check {n}", message="Mind the first of its axes. " * 5)
    return check.result(2)


def test_only_the_checks_that_do_not_hold_are_told() -> None:
    text = failures(result(1, 3))
    assert text.startswith("double: 1 of 2 visible checks hold")
    assert ("check 1" in text, "check 0" in text) == (True, False)
    assert "yours: 3" in text and "expected: 1" in text


def test_no_line_is_longer_than_the_command_shows() -> None:
    assert max(map(len, failures(result(3)).split("\n"))) <= 83


def test_an_untouched_stub_is_called_so() -> None:
    empty = results.TestResult("double", "not attempted", 0.0, 2.0, ())
    assert failures(empty).startswith("double: not attempted yet.")


@pytest.mark.parametrize("environment", [{}, {"NBGRADER_EXECUTION": "autograde"}])
def test_nothing_is_told_to_a_grader_or_a_learner(
    environment: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    tell_validator(result(3), environment)
    assert capsys.readouterr() == ("", "")


def test_nothing_is_told_where_all_checks_hold(capsys: pytest.CaptureFixture[str]) -> None:
    tell_validator(result(1, 1), VALIDATING)
    assert capsys.readouterr().err == ""


@pytest.mark.exhaustive("programs that start anew")
def test_validate_shows_them_as_the_error_of_the_cell(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = tiny.notebook()
    for cell in content["cells"]:
        if cell["id"] == "flatten":
            cell["source"] = "def flatten(x):\n    return x.clone().reshape(-1)"
        elif cell["id"] == "double":
            cell["source"] = "def double(x):\n    raise NotImplementedError()"
    path = tmp_path / "tiny.ipynb"
    nbformat.write(nbformat.from_dict(content), path)
    failed = Validator().validate(str(path))["failed"]
    told = [one["raw_error"] for one in failed]
    assert "does not share" in told[0] or "storage" in told[0]
    assert told[1].startswith("double: not attempted yet.")
