"""Figures of searches: histories that go back, spaces, and rungs, with waiting and without."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from matplotlib.patches import Rectangle

from course.figures import not_drawn
from course.figures.palette import FAULT, INK
from course.lessons.experiments import show_arrivals, show_history, show_rungs, show_space
from course.lessons.experiments.rungs_figure import rungs_picture
from course.lessons.experiments.successive_halving import halving_plan
from course.lessons.experiments.trials import EPOCHS, MOST, rates, trial_losses

NINE = trial_losses()[:9]
nan = math.nan


# --- the plan -------------------------------------------------------------------------------------


def test_nine_trials_of_27_epochs_spend_39() -> None:
    rungs = halving_plan(NINE, 1, 27, 3)
    assert [(rung.epochs, len(rung.ranking), rung.spent) for rung in rungs] == [
        (1, 9, 9),
        (3, 3, 15),
        (9, 1, 21),
        (27, 1, 39),
    ]
    assert rungs[-1].kept == ()


def test_each_ranking_is_by_the_loss_of_its_epoch() -> None:
    for rung in halving_plan(NINE, 1, 27, 3):
        assert list(rung.losses) == sorted(rung.losses)
        assert rung.losses == tuple(NINE[trial][rung.epochs - 1] for trial in rung.ranking)


def test_the_last_rung_is_after_the_most_epochs() -> None:
    assert [rung.epochs for rung in halving_plan(NINE, 2, 27, 3)] == [2, 6, 18, 27]
    assert [rung.epochs for rung in halving_plan(NINE, 27, 27, 3)] == [27]


def test_nan_never_goes_on_and_ties_go_by_number() -> None:
    losses = [[nan, 0.0], [1.0, 3.0], [1.0, 2.0], [nan, 0.0]]
    first, last = halving_plan(losses, 1, 2, 2)
    assert first.ranking == (1, 2, 0, 3)
    assert first.kept == (1, 2)
    assert last.ranking == (2, 1)
    assert len(halving_plan([[nan, 1.0]] * 3, 1, 2, 2)) == 1


@pytest.mark.parametrize(
    "numbers", [([], 1, 2, 2), (NINE, 0, 2, 2), (NINE, 3, 2, 2), (NINE, 1, 2, 1), (NINE, 1, 28, 2)]
)
def test_numbers_without_rungs_are_refused(numbers: tuple[object, ...]) -> None:
    with pytest.raises(ValueError, match=r"halving_plan|losses|rungs need"):
        halving_plan(*numbers)  # type: ignore[arg-type]


# --- the trials -----------------------------------------------------------------------------------


def test_the_trials_are_real_trainings_that_cross() -> None:
    losses = trial_losses()
    assert (len(losses), len(losses[0]), len(rates())) == (MOST, EPOCHS, MOST)
    assert all(one[-1] < one[0] for one in losses)
    first, last = (sorted(range(9), key=lambda n: NINE[n][epoch]) for epoch in (2, 26))
    assert (first[0], last[0]) == (3, 7)  # what the lesson says of them
    assert all(0.002 <= rate <= 0.06 for rate in rates())


# --- the pictures ---------------------------------------------------------------------------------


def test_the_rungs_tell_who_reached_them() -> None:
    picture = show_rungs(NINE, 1, 27, 3)
    assert "9 after 1 epoch, 3 after 3 epochs, 1 after 9 epochs, 1 after 27" in picture.alt
    assert "39 epochs were spent" in picture.alt
    (axes,) = picture._draw().axes
    crosses = [line for line in axes.lines if line.get_marker() == "x"]
    dots = [line for line in axes.lines if line.get_marker() == "o"]
    assert (len(crosses), len(dots)) == (8, 1)
    assert {line.get_color() for line in crosses} == {FAULT}
    assert dots[0].get_color() == INK
    assert [text.get_text() for text in axes.texts] == [*"9311", *"035148276", "7"]


def test_who_goes_on_from_the_last_rung_has_a_dot_of_its_own() -> None:
    first = halving_plan(NINE, 1, 27, 3)[:1]
    (axes,) = rungs_picture(NINE, first)._draw().axes
    dots = [line for line in axes.lines if line.get_marker() == "o"]
    told = sorted(float(y) for line in dots for y in line.get_ydata())
    assert told == [NINE[trial][0] for trial in (0, 3, 5)]


@pytest.mark.parametrize("count", [1, 9, 14, MOST])
def test_every_trial_is_numbered_and_no_number_covers_another(count: int) -> None:
    from matplotlib.text import Annotation, Text

    figure = show_rungs(trial_losses()[:count], 1, 27, 3)._draw()
    figure.draw_without_rendering()
    (axes,) = figure.axes
    numbers = [text for text in axes.texts if isinstance(text, Annotation) and text.arrow_patch]
    assert sorted(int(text.get_text()) for text in numbers) == list(range(count))
    boxes = [Text.get_window_extent(text) for text in numbers]
    digit = 0.7 * numbers[0].get_fontsize() * figure.dpi / 72  # px that it is tall
    for n, one in enumerate(boxes):
        for other in boxes[:n]:
            beside = one.x1 <= other.x0 or other.x1 <= one.x0
            assert beside or abs(one.y0 - other.y0) > digit


def test_strokes_stay_below_every_point() -> None:
    figure = show_space({"a": [(1.0, 0.0), (2.0, 1.0)], "b": [(1.5, 0.5)]}, "x", "y")._draw()
    figure.draw_without_rendering()
    for axes in figure.axes:
        points, strokes = axes.lines
        lowest = min(points.get_transform().transform(points.get_xydata())[:, 1])
        highest = max(strokes.get_transform().transform(strokes.get_xydata())[:, 1])
        pixels = figure.dpi / 72
        assert lowest - points.get_markersize() * pixels / 2 > (
            highest + strokes.get_markersize() * pixels / 2
        )


def test_arrivals_tell_who_was_stopped_and_what_it_cost() -> None:
    picture = show_arrivals([27, 1, 3, 27], 1, 27, 3)
    assert picture.alt == (
        "4 trials in the order of their arrival, numbered from 0. Stopped after 1 epoch: trial 1. "
        "Stopped after 3 epochs: trial 2. Finished after 27 epochs: trials 0, 3. 58 epochs in all."
    )
    (axes,) = picture._draw().axes
    assert axes.get_title() == "4 trials, 58 epochs in all, 2 finished"
    assert (axes.get_xscale(), list(axes.get_xticks())) == ("log", [1, 3, 9, 27])
    assert [text.get_text() for text in axes.texts if "," not in text.get_text()] == list("4322")


def test_a_bar_is_as_long_as_its_trial_and_the_first_one_is_on_top() -> None:
    trained = [2, 20, 18, 6]
    (axes,) = show_arrivals(trained, 2, 20, 3)._draw().axes
    bars = [bar for bar in axes.patches if isinstance(bar, Rectangle)]
    assert [round(bar.get_x() + bar.get_width(), 6) for bar in bars] == trained
    heights = [axes.transData.transform((1, bar.get_y()))[1] for bar in bars]
    assert heights == sorted(heights, reverse=True)
    stopped, finished, *others = (bar.get_facecolor() for bar in bars)
    assert stopped != finished
    assert others == [stopped, stopped]
    words = [text.get_text() for text in axes.texts if "," in text.get_text()]
    assert words == [f"{n} epochs, {'finished' if n == 20 else 'stopped'}" for n in trained]


@pytest.mark.parametrize(("low", "high", "eta"), [(1, 27, 3), (2, 27, 3), (5, 5, 2), (1, 8, 2)])
def test_both_pictures_of_rungs_have_the_same_ones(low: int, high: int, eta: int) -> None:
    (waiting,) = show_rungs(NINE, low, high, eta)._draw().axes
    (going_on,) = show_arrivals([high], low, high, eta)._draw().axes
    assert list(going_on.get_xticks()) == list(waiting.get_xticks())


@pytest.mark.parametrize(
    ("trained", "low", "high", "eta", "words"),
    [
        ([], 1, 27, 3, "takes one trial"),
        ([1], 0, 27, 3, "1 <= low"),
        ([27], 28, 27, 3, "low <= high"),
        ([1], 1, 27, 1, "eta >= 2"),
        ([1, 4], 1, 27, 3, r"\[1, 3, 9, 27\], but trial 1 trained 4 epochs"),
    ],
)
def test_arrivals_that_make_no_rungs_are_refused(
    trained: list[int], low: int, high: int, eta: int, words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        show_arrivals(trained, low, high, eta)


def test_losses_of_nan_and_below_zero_are_drawn() -> None:
    (axes,) = show_rungs([[nan, nan], [-1.0, -2.0], [1.0, nan]], 1, 2, 2)._draw().axes
    assert axes.get_yscale() == "linear"
    (axes,) = show_rungs([[nan, nan]] * 2, 1, 2, 2)._draw().axes
    assert axes.get_yscale() == "linear"


def test_a_history_says_where_it_goes_back() -> None:
    picture = show_history({"run": [(0, 3.0), (5, 1.0), (4, 1.5)], "one": [(2, 1.0)]})
    assert picture.alt == (
        "run: 3 points, loss 3 at step 0, 1.5 at step 4. It goes back from step 5 to 4. "
        "one: 1 points, loss 1 at step 2, 1 at step 2."
    )
    line = picture._draw().axes[0].lines[0]
    assert list(line.get_xdata()) == [0, 5, 4]


def test_a_space_counts_the_different_values() -> None:
    grid = [(a, b) for a in (0.1, 0.01) for b in (0.0, 0.5)]
    picture = show_space({"grid": grid, "one": [(0.1, 0.2)]}, "rate", "dropout")
    assert "grid: 4 points, 2 different values of rate, 2 of dropout." in picture.alt
    left, right = picture._draw().axes
    assert [axes.get_title() for axes in (left, right)] == [
        "grid: 2 values of rate",
        "one: 1 value of rate",
    ]
    assert (left.get_xscale(), left.get_yscale()) == ("log", "linear")


def test_a_space_by_factors_has_plain_numbers_at_its_axes() -> None:
    figure = show_space({"a": [(1e-4, 0.0), (0.1, 0.5)]}, "rate", "dropout")._draw()
    figure.draw_without_rendering()
    axes = figure.axes[0]
    texts = [label.get_text() for label in axes.get_xticklabels()]
    assert {"0.0001", "0.001", "0.01", "0.1"} <= set(texts)
    minor = axes.get_xticklabels(minor=True) + axes.get_yticklabels()
    assert not any("$" in label.get_text() for label in minor)


@pytest.mark.parametrize(
    ("show", "words"),
    [
        (lambda: show_history({}), "lists of pairs"),
        (lambda: show_history({"a": []}), "lists of pairs"),
        (lambda: show_space({}, "x", "y"), "lists of points"),
        (lambda: show_space({"a": []}, "x", "y"), "lists of points"),
    ],
)
def test_nothing_to_draw_is_refused(show: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        show()


def test_while_grading_nothing_is_drawn() -> None:
    with not_drawn():
        for picture in (
            show_history({"a": [(0, 1.0)]}),
            show_space({"a": [(1.0, 1.0)]}, "x", "y"),
            show_rungs(NINE, 1, 27, 3),
            show_arrivals([27, 1], 1, 27, 3),
        ):
            assert picture.alt == "Figures are not drawn in this process."
