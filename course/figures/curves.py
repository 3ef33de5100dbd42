"""Lines over steps, to see them part or meet: `show_curves`, and what else draws lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from course.figures.palette import CARD, FAULT, FILLS, INK
from course.figures.picture import Picture, drawing
from course.figures.scene import SMALL, WIDTH, Scene, paint, text_width

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["SIZE", "draw_lines", "dress", "number_of", "show_curves", "thinned"]

SIZE = SMALL * 0.75  # points
_WIDTH, _HEIGHT = WIDTH / 96, 3.2  # inches
_POINTS = 400  # of a line; more cannot be told apart
_IN_SIGHT, _STROKE = 600, 60  # px of a picture at 200 %; a name's stroke and the gaps around it
_COLOURS = (INK, FAULT, FILLS[2], FILLS[4])
_STYLES: tuple[Any, ...] = ("-", "--", ":", "-.")

Line = tuple[Sequence[float], Sequence[float]]  # where its points are: to the right, upwards


def show_curves(
    curves: Mapping[str, Sequence[float | torch.Tensor] | torch.Tensor],
    x: str = "step",
    y: str = "loss",
    *,
    steps: bool = False,
    log: bool = False,
    first: int = 1,
) -> Picture:
    """A line for each list of numbers over 1, 2, 3 …: losses, learning rates, means.

    Args:
        curves: The numbers by the name of the line.
        x: What the lower axis counts.
        y: What the other one counts.
        steps: Draw stairs, for what stays until it changes.
        log: Draw upwards by factors; all numbers must be above 0 then.
        first: Where the lower axis begins to count: 0 for a value from before the first step,
            231 for a run without its first 230.

    Raises:
        ValueError: There is no line, an empty one, or with `log` a number of 0 or below.
    """
    if not drawing():
        return Picture(lambda: paint(Scene(1, 1)), alt="Figures are not drawn in this process.")
    values = {name: [number_of(value) for value in line] for name, line in curves.items()}
    if not values or not all(values.values()):
        raise ValueError("show_curves() draws lists of numbers by name, none of them empty.")
    if log and min(min(line) for line in values.values()) <= 0:
        raise ValueError("show_curves(log=True) draws numbers above 0 only.")
    alt = " ".join(_words(name, line, x, y, first) for name, line in values.items())
    lines = {name: (range(first, first + len(line)), line) for name, line in values.items()}
    return Picture(partial(draw_lines, lines, x, y, steps=steps, log=log), alt=alt)


def _words(name: str, line: Sequence[float], x: str, y: str, first: int) -> str:
    if len(line) == 1:
        return f"{name}: {y} {line[0]:.4g}."
    low, high = (f"{pick(line):.4g}" for pick in (min, max))
    ends = f"{name}: {y} from {line[0]:.4g} to {line[-1]:.4g} at {x} {first + len(line) - 1}"
    return f"{ends}, between {low} and {high}."


def number_of(value: float | torch.Tensor) -> float:
    """The value as a number, also of a loss that still has its graph: `float` would warn."""
    return float(value.item() if isinstance(value, torch.Tensor) else value)


def thinned(values: Sequence[float]) -> list[float]:
    """At most so many of the values, evenly chosen, with the first and the last."""
    if len(values) <= _POINTS:
        return list(values)
    last = len(values) - 1
    return [values[round(n * last / (_POINTS - 1))] for n in range(_POINTS)]


def draw_lines(
    lines: Mapping[str, Line], x: str, y: str, *, steps: bool = False, log: bool = False
) -> Figure:
    """The lines in one pair of axes, told apart by colour and stroke, named above."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_WIDTH, _HEIGHT), facecolor=CARD, layout="constrained")
    axes = figure.add_subplot()
    for number, (name, (to_the_right, upwards)) in enumerate(lines.items()):
        look: dict[str, Any] = {
            "color": _COLOURS[number % len(_COLOURS)],
            "linestyle": _STYLES[number % len(_STYLES)],
            "drawstyle": "steps-mid" if steps else "default",
        }
        axes.plot(thinned(to_the_right), thinned(upwards), label=name, linewidth=2.2, **look)
    dress(axes, x, y, log=log)
    # Above, from the left: at 200 % a picture's right end is out of sight until one moves it.
    columns = int(_IN_SIGHT // max(text_width(name) + _STROKE for name in lines))
    place: dict[str, Any] = {
        "loc": "lower left",
        "bbox_to_anchor": (0.0, 1.0),
        "ncols": max(columns, 1),
    }
    axes.legend(fontsize=SIZE, frameon=False, **place)
    return figure


def dress(axes: Axes, x: str, y: str, *, log: bool = False) -> None:
    """Names and numbers at both axes, in the size of the course's figures."""
    from matplotlib.ticker import LogLocator, MaxNLocator

    if log:
        axes.set_yscale("log")
        low, high = axes.get_ylim()
        few = high / low < 1000  # decades alone would leave one number or two
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if few else (1,), numticks=8))
        axes.yaxis.set_minor_formatter(lambda *_: "")
    axes.xaxis.set_major_locator(MaxNLocator("auto", integer=True))
    axes.set_xlabel(x, fontsize=SIZE)
    axes.set_ylabel(y, fontsize=SIZE)
    axes.tick_params(labelsize=SIZE)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:,.7g}")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
