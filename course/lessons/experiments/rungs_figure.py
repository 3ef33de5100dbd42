"""Learning curves as far as successive halving lets them go: `show_rungs`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from course.figures.curves import SIZE, dress
from course.figures.palette import CARD, FAULT, FILLS, INK, RULE
from course.figures.picture import Picture, drawing
from course.figures.scene import WIDTH, Scene, paint
from course.lessons.experiments.successive_halving import Rung, halving_plan

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["epochs_told", "mark_rungs", "rungs_picture", "show_rungs"]

_HEIGHT = 3.4  # inches
_LEAST, _COLUMN = 11.0, 17.0  # px between numbers of trials, and between columns of them
_CAPTION = (
    "A line for each trial, with its number on the left, as far as it trained; thin and grey, what "
    "it would have done. Crosses: stopped there. Small dots: going on. The large dot: the best at "
    "the last rung. A number on the right: the best one at the end. On top: how many trials "
    "reached a rung."
)

Losses = Sequence[Sequence[float]]


def show_rungs(losses: Losses, low: int, high: int, eta: int) -> Picture:
    """The learning curves of a search by successive halving.

    Args:
        losses: for each trial its loss after epoch 1, 2, …, at least `high` of them.
        low: epochs before the first comparison.
        high: most epochs of any trial.
        eta: one of so many trials goes on after each comparison.

    Raises:
        ValueError: numbers that make no rungs (see `halving_plan`).
    """
    if not drawing():
        return Picture(lambda: paint(Scene(1, 1)), alt="Figures are not drawn in this process.")
    return rungs_picture(losses, halving_plan(losses, low, high, eta))


def rungs_picture(losses: Losses, rungs: Sequence[Rung]) -> Picture:
    """The learning curves of a search by successive halving, up to the last of these rungs.

    Args:
        losses: For each trial its loss after epoch 1, 2, ….
        rungs: The comparisons so far, one or more.
    """
    told = ", ".join(f"{len(rung.ranking)} after {epochs_told(rung.epochs)}" for rung in rungs)
    best = rungs[-1]
    alt = (
        f"Trials that reached each rung: {told}. The best one there is trial {best.ranking[0]} "
        f"with loss {best.losses[0]:.3g}; {epochs_told(best.spent)} were spent."
    )
    return Picture(partial(_draw, losses, tuple(rungs)), alt=alt, caption=_CAPTION)


def epochs_told(count: int) -> str:
    """How many epochs, in words."""
    return f"{count} epoch{'s'[: count != 1]}"


def _draw(losses: Losses, rungs: tuple[Rung, ...]) -> Figure:
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator

    figure = Figure(figsize=(WIDTH / 96, _HEIGHT), facecolor=CARD, layout="constrained")
    axes = figure.add_subplot()
    last = rungs[-1]
    for number, rung in enumerate(rungs):
        began = rungs[number - 1].epochs if number else 1
        for trial in rung.ranking:
            best = trial == last.ranking[0]
            line = losses[trial][began - 1 : rung.epochs]
            look: dict[str, Any] = {
                "color": INK if best else FILLS[0],
                "linewidth": 2.4 if best else 1.4,
            }
            axes.plot(range(began, rung.epochs + 1), line, zorder=4 if best else 3, **look)
            if trial not in rung.kept and not (best and rung is last):
                _stopped(axes, losses[trial], rung.epochs)
    going = [losses[trial][last.epochs - 1] for trial in last.kept if trial != last.ranking[0]]
    if going:
        look = {"color": FILLS[0], "markeredgecolor": INK, "markersize": 6}
        axes.plot([last.epochs] * len(going), going, "o", zorder=7, **look)
    axes.plot([last.epochs], [last.losses[0]], "o", color=INK, markersize=9, zorder=6)
    finite = [value for one in losses for value in one if math.isfinite(value)]
    dress(axes, "epoch", "loss", log=bool(finite) and min(finite) > 0)
    if axes.get_yscale() == "log" and max(finite) < 10 * min(finite):
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 1.5, 2, 3, 4, 5, 7), numticks=12))
    mark_rungs(axes, {rung.epochs: len(rung.ranking) for rung in rungs})
    _number_starts(axes, [one[0] for one in losses], last.ranking[0])
    _number_the_best_end(axes, losses, last)
    return figure


def _number_starts(axes: Axes, starts: Sequence[float], best: int) -> None:
    """Each trial's number left of its first loss; numbers that lie too close move apart."""
    trials = sorted(
        (n for n in range(len(starts)) if math.isfinite(starts[n])), key=starts.__getitem__
    )
    height = 0.8 * 96 * _HEIGHT
    columns = 1 + (_LEAST * len(trials) > 0.8 * height)
    axes.set_xlim(left=axes.get_xlim()[1] ** (-0.02 - 0.06 * columns))
    axes.set_ylim(axes.get_ylim())
    there = [
        axes.transLimits.transform(axes.transScale.transform((1, starts[n])))[1] for n in trials
    ]
    places = _moved_apart(there, _LEAST / columns / height)
    for place, trial in enumerate(trials):
        axes.annotate(
            str(trial),
            (1, starts[trial]),
            xytext=(-(6 * columns + _COLUMN * (place % columns)) * 0.75, places[place]),
            textcoords=("offset points", "axes fraction"),
            ha="right",
            va="center",
            fontsize=SIZE * 0.9,
            fontweight="bold" if trial == best else "normal",
            arrowprops={"arrowstyle": "-", "color": RULE, "linewidth": 0.6, "shrinkA": 1},
        )


def _moved_apart(places: Sequence[float], least: float) -> list[float]:
    """Rising places from 0 to 1, moved as little as it takes to be so far apart."""
    moved: list[float] = []
    for place in places:
        moved.append(max(place, moved[-1] + least) if moved else place)
    top = 0.95  # above are the counts
    for number in reversed(range(len(moved))):
        moved[number] = min(moved[number], top)
        top = moved[number] - least
    return moved


def _number_the_best_end(axes: Axes, losses: Losses, last: Rung) -> None:
    """The number of the line that ends lowest, if it is drawn to its end."""
    ends = {n: one[-1] for n, one in enumerate(losses) if math.isfinite(one[-1])}
    best = min(ends, key=ends.__getitem__, default=None)
    if best is not None and best not in last.kept:
        axes.annotate(
            str(best),
            (len(losses[best]), ends[best]),
            xytext=(7, 0),
            textcoords="offset points",
            va="center",
            fontsize=SIZE * 0.9,
            fontweight="bold",
        )


def _stopped(axes: Axes, losses: Sequence[float], epochs: int) -> None:
    """A cross where a trial stopped, and a thin line for what was not trained."""
    rest = range(epochs, len(losses) + 1)
    axes.plot(rest, losses[epochs - 1 :], color=RULE, linewidth=0.7, zorder=1)
    if math.isfinite(losses[epochs - 1]):
        axes.plot([epochs], [losses[epochs - 1]], "x", color=FAULT, markersize=8, zorder=5)


def mark_rungs(axes: Axes, reached: Mapping[int, int]) -> None:
    """Rungs as dashed lines, evenly apart, as epochs by factors; on top who reached each.

    Args:
        axes: Where epochs go to the right.
        reached: How many trials reached a rung, by its epochs.
    """
    from matplotlib.ticker import FixedLocator, NullLocator

    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator(list(reached)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter("{x:.0f}")
    for epochs, count in reached.items():
        axes.axvline(epochs, color=RULE, linestyle="--", linewidth=1, zorder=1)
        axes.annotate(
            str(count),
            (epochs, 1.0),
            xycoords=axes.get_xaxis_transform(),
            ha="center",
            va="bottom",
            fontsize=SIZE,
            annotation_clip=False,
        )
