"""What an instructor reads about an exercise follows from two numbers and how many were judged."""

from __future__ import annotations

from dataclasses import replace

import pytest

from autograder.lessons.model import Exercise
from autograder.reporting.statistics import (
    FEWEST,
    MANY,
    ExerciseMeasure,
    correlation,
    histogram,
    middle,
)

ROWS = Exercise("rows", "Rows", 3.0, "rows", "x", "test-rows", "x")


def verdict(ease: float | None, discrimination: float | None, judged: int = MANY) -> str:
    """What is said of an exercise with these numbers."""
    return ExerciseMeasure(ROWS, judged, judged, 0, ease, discrimination).verdict


@pytest.mark.parametrize(
    ("ease", "discrimination", "words"),
    [
        (None, None, "nobody yet"),
        (0.5, -0.21, "look at it: the better the learner, the fewer points here"),
        (0.95, -0.21, "look at it: the better the learner, the fewer points here"),
        (0.1, -0.21, "look at it: the better the learner, the fewer points here"),
        (0.5, -0.2, "says little about the rest"),
        (0.9, 0.0, "easy"),
        (0.9, -0.2, "easy"),
        (0.89, 0.5, "fits"),
        (0.39, 0.0, "hard"),
        (0.4, 0.5, "fits"),
        (0.4, 0.09, "says little about the rest"),
        (0.5, 0.1, "fits"),
        (0.5, None, "fits"),
    ],
)
def test_the_verdict_on_an_exercise(
    ease: float | None, discrimination: float | None, words: str
) -> None:
    assert verdict(ease, discrimination) == words


@pytest.mark.parametrize("discrimination", [-1.0, 0.0])
def test_nothing_is_concluded_from_a_correlation_of_few(discrimination: float) -> None:
    assert verdict(0.5, discrimination, judged=MANY - 1) == "fits"
    assert verdict(0.5, discrimination, judged=MANY) != "fits"


def test_points_that_a_person_gives_are_no_measure_of_the_grader() -> None:
    by_hand = ExerciseMeasure(replace(ROWS, manual=True), MANY, MANY, 0, None, None)
    assert by_hand.verdict == "points by hand"


def test_a_correlation_is_given_from_five_on() -> None:
    pairs = [(1, 1), (2, 3), (3, 2), (4, 5), (5, 4)]
    xs, ys = zip(*pairs, strict=True)
    assert FEWEST == 5 and correlation(xs[:4], ys[:4]) is None
    assert correlation(xs, ys) == pytest.approx(0.8)


def test_a_histogram_counts_every_share_once_and_full_points_in_the_last_bin() -> None:
    assert histogram([0.0, 0.1, 0.19, 0.2, 0.99, 1.0]) == (1, 2, 1, 0, 0, 0, 0, 0, 0, 2)
    assert histogram([-0.1, 1.1], bins=2) == (1, 1)


def test_the_middle_of_a_class_is_mean_and_median() -> None:
    assert middle([0.0, 0.5, 1.0, 1.0]) == (0.625, 0.75)
    assert middle([]) is None
