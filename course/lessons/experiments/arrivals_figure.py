"""How far each trial of an asynchronous search trained: `show_arrivals`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from course.figures.curves import SIZE, dress
from course.figures.palette import CARD, FILLS, INK
from course.figures.picture import Picture, drawing
from course.figures.scene import WIDTH, Scene, paint
from course.lessons.experiments.rungs_figure import epochs_told, mark_rungs
from course.lessons.experiments.successive_halving import rung_epochs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["show_arrivals"]

_STOPPED, _FINISHED = FILLS[1], FILLS[0]
_BAR, _FRAME = 0.27, 1.1  # inches: of a trial, and of the axis and the title
_CAPTION = (
    "A bar for each trial, the first to arrive on top, up to the last epoch that it trained. "
    "Orange: stopped at a rung. Blue: trained to the end. On top: how many trials reached a rung."
)


def show_arrivals(trained: Sequence[int], low: int, high: int, eta: int) -> Picture:
    """The trials of an asynchronous search in the order of their arrival, as far as they trained.

    Epochs go to the right by factors, so the rungs are evenly apart as in `show_rungs`.

    Args:
        trained: The epochs of each trial, the first to arrive first: those of the rung at which
            it was stopped, or `high` if it finished.
        low: Epochs before the first comparison.
        high: Most epochs of any trial.
        eta: So many times as many epochs from each rung to the next, at most up to `high`.

    Returns:
        A picture whose alt text says which trials were stopped where, which ones finished, and
        how many epochs were spent.

    Raises:
        ValueError: There are no trials, the numbers make no rungs, or a trial has ended between
            two rungs.
    """
    if not drawing():
        return Picture(lambda: paint(Scene(1, 1)), alt="Figures are not drawn in this process.")
    if not trained:
        raise ValueError("show_arrivals() takes one trial or more.")
    rungs = rung_epochs(low, high, eta)
    between = [number for number, epochs in enumerate(trained) if epochs not in rungs]
    if between:
        raise ValueError(
            f"a trial ends at one of the rungs {rungs}, but trial {between[0]} trained "
            f"{trained[between[0]]} epochs."
        )
    ends = tuple(trained)
    return Picture(partial(_draw, ends, rungs, eta), alt=_alt(ends, rungs), caption=_CAPTION)


def _alt(trained: Sequence[int], rungs: Sequence[int]) -> str:
    told = [f"{len(trained)} trials in the order of their arrival, numbered from 0."]
    for rung in rungs:
        there = [number for number, epochs in enumerate(trained) if epochs == rung]
        if there:
            how = "Finished" if rung == rungs[-1] else "Stopped"
            trials = f"trial{'s'[: len(there) > 1]} {', '.join(map(str, there))}"
            told.append(f"{how} after {epochs_told(rung)}: {trials}.")
    told.append(f"{epochs_told(sum(trained))} in all.")
    return " ".join(told)


def _draw(trained: Sequence[int], rungs: Sequence[int], eta: int) -> Figure:
    from matplotlib.figure import Figure

    size = (WIDTH / 96, _FRAME + _BAR * max(len(trained), 4))
    figure = Figure(figsize=size, facecolor=CARD, layout="constrained")
    axes = figure.add_subplot()
    left = rungs[0] / eta  # an axis by factors has no 0: the first rung is as wide as the others
    for number, epochs in enumerate(trained):
        finished = epochs == rungs[-1]
        colour, how = (_FINISHED, "finished") if finished else (_STOPPED, "stopped")
        axes.barh(number, epochs - left, 0.72, left, color=colour, edgecolor=INK, zorder=2)
        axes.annotate(
            f"{epochs_told(epochs)}, {how}",
            (epochs, number),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=SIZE,
            color=INK,
        )
    dress(axes, "epochs, on a log scale", "trial, in order of arrival")
    axes.set_yticks(range(len(trained)))
    axes.set_ylim(len(trained) - 0.4, -0.6)
    mark_rungs(axes, {rung: sum(epochs >= rung for epochs in trained) for rung in rungs})
    axes.set_xlim(left, rungs[-1] * eta**0.9)  # room for the words behind the longest bar
    done = sum(epochs == rungs[-1] for epochs in trained)
    title = f"{len(trained)} trials, {epochs_told(sum(trained))} in all, {done} finished"
    axes.set_title(title, fontsize=SIZE * 1.1, pad=SIZE * 1.9)
    return figure
