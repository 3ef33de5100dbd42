"""One rule makes points of what a test cell shows: nbgrader's, but for what is no share of them."""

from __future__ import annotations

from typing import Any

import nbformat
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbgrader.utils import determine_grade

from autograder.answer_bank.notebook_runner import AnswerRun, run_answers
from autograder.records.points import PointsRefused, points_of, why_no_points

ERROR = {"output_type": "error", "ename": "E", "evalue": "", "traceback": []}


def result(text: object) -> dict[str, Any]:
    data = {"text/plain": text}
    return {"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": 1}


def stream(name: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": name, "text": "x"}


def by_nbgrader(outputs: list[dict[str, Any]]) -> float | None:
    """What nbgrader gives of 3 points; None where it stops grading."""
    cell = nbformat.v4.new_code_cell("x", outputs=[nbformat.from_dict(o) for o in outputs])
    cell.metadata.nbgrader = {"grade": True, "points": 3, "grade_id": "t", "solution": False}
    try:
        points, _ = determine_grade(cell)
    except (ValueError, KeyError):
        return None
    assert points is not None
    return float(points)


def by_us(outputs: list[dict[str, Any]]) -> float | None:
    try:
        return points_of(outputs, 3.0)
    except PointsRefused:
        return None


NUMBERS = st.floats(width=32).map(repr) | st.integers(-5, 5).map(str)
VALUES = [True, None, np.float64(2.5), np.float32(300), np.array(2), [1], "2.5", 1 + 0j]
WORDS = [*map(repr, VALUES), "", " 2.5 ", "1_0", "1e400", "-1e400", "-0.0", "tensor(2.)", "٣"]
OUTPUT = (NUMBERS | st.sampled_from(WORDS)).map(result)
STREAM = st.sampled_from(["stdout", "stderr"]).map(stream)


@given(
    st.lists(STREAM, max_size=2),
    st.lists(OUTPUT, max_size=2) | st.just([ERROR]),
    st.lists(STREAM, max_size=1),
)
def test_points_are_those_of_nbgrader(
    before: list[dict[str, Any]], last: list[dict[str, Any]], after: list[dict[str, Any]]
) -> None:
    outputs = [*before, *last, *after]
    assert by_us(outputs) == (0.0 if why_no_points(outputs) else by_nbgrader(outputs))


@pytest.mark.parametrize("text", [["2.5"], ["1", "2"], []])
def test_a_value_that_is_kept_as_lines_counts_as_with_nbgrader(text: object) -> None:
    assert by_us([result(text)]) == by_nbgrader([result(text)])


@pytest.mark.parametrize(
    ("text", "points"),
    [("-0.0", 0.0), ("300", None), ("inf", None), ("True", 3.0), ("2.5", 2.5), ("3", 3.0)],
)
def test_the_values_that_were_read_in_three_ways_are_read_in_one(
    text: str, points: float | None
) -> None:
    assert by_us([result(text)]) == by_nbgrader([result(text)]) == points


@pytest.mark.parametrize("text", ["-1", "nan", "-inf", "-1e400", "False", ["-1"], ["False"]])
def test_a_value_that_is_no_share_of_the_points_is_worth_none_unlike_in_nbgrader(
    text: object,
) -> None:
    outputs = [result(text)]
    assert (by_us(outputs), by_nbgrader(outputs), bool(why_no_points(outputs))) == (0.0, 3.0, True)
    assert not why_no_points([result("2"), *outputs])


@pytest.mark.parametrize("outputs", [[], [result("0.0")], [result("True")], [result("")], [ERROR]])
def test_of_other_values_nothing_is_said(outputs: list[dict[str, Any]]) -> None:
    assert not why_no_points(outputs)


def test_an_error_after_a_value_gives_no_points() -> None:
    assert points_of([result("3.0"), ERROR], 3.0) == 0.0


def test_a_forged_value_of_another_type_does_not_stop_the_rule() -> None:
    assert [by_us([result(value)]) for value in (10**400, {"a": 1}, [[1]])] == [3.0, 3.0, 3.0]


def test_a_value_above_the_points_says_their_number_alone() -> None:
    with pytest.raises(PointsRefused, match=r"^gave more points than it has, which is 3$"):
        points_of([result("300")], 3.0)


@pytest.mark.exhaustive("whole commands")
def test_a_trial_reads_its_last_value_by_the_same_rule() -> None:
    ends = ("-1", "float('nan')", "300", "2.5", "'text'")
    found = run_answers([AnswerRun("", "", end, 3.0) for end in ends])
    assert [one.points for one in found] == [0.0, 0.0, 0.0, 2.5, 3.0]
    assert [bool(one.test_error) for one in found] == [False, False, True, False, False]


def test_a_warning_before_the_points_is_named_and_one_after_them_is_none() -> None:
    value, warning = result("2"), stream("stderr")
    assert (by_us([warning, value]), "stderr" in why_no_points([warning, value])) == (0.0, True)
    assert (by_us([value, warning]), why_no_points([value, warning])) == (2.0, "")
