"""Running sums over the number of terms, to see one stop or drift: `show_sums`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from course.figures.palette import CARD, FAULT, FILLS, INK
from course.figures.picture import Picture
from course.figures.scene import SMALL

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["show_sums"]

_WIDTH, _HEIGHT = 836 / 96, 3.2  # inches
_POINTS = 400  # of a line; more cannot be told apart
_COLOURS = (INK, FAULT, FILLS[2], FILLS[4])
_STYLES: tuple[Any, ...] = ("-", "--", ":", "-.")
_CAPTION = "To the right: the number of terms. Upwards: the sum so far."


def show_sums(sums: Mapping[str, torch.Tensor], at: Sequence[float] | None = None) -> Picture:
    """A line for each running sum, all over the same numbers of terms (`at`, or 1, 2, 3, …)."""
    lines = {name: [float(x) for x in values.tolist()] for name, values in sums.items()}
    lengths = {name: len(values) for name, values in lines.items()}
    counts = [float(n) for n in at] if at is not None else _counted(lengths)
    if not lines or set(lengths.values()) != {len(counts)} or not counts:
        raise ValueError(f"show_sums() takes sums of one length, with `at` as long; got {lengths}.")
    alt = " ".join(
        f"{name}: {values[-1]:,.10g} after {counts[-1]:,.0f} terms."
        for name, values in lines.items()
    )
    return Picture(partial(_draw, lines, counts), alt=alt, caption=_CAPTION)


def _counted(lengths: Mapping[str, int]) -> list[float]:
    return [float(n) for n in range(1, max(lengths.values(), default=0) + 1)]


def _thinned(values: Sequence[float]) -> list[float]:
    """At most so many of the values, evenly chosen, with the first and the last."""
    if len(values) <= _POINTS:
        return list(values)
    last = len(values) - 1
    return [values[round(n * last / (_POINTS - 1))] for n in range(_POINTS)]


def _draw(lines: Mapping[str, Sequence[float]], counts: Sequence[float]) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_WIDTH, _HEIGHT), facecolor=CARD, layout="constrained")
    axes = figure.add_subplot()
    xs = _thinned(counts)
    for number, (name, values) in enumerate(lines.items()):
        look: dict[str, Any] = {
            "color": _COLOURS[number % len(_COLOURS)],
            "linestyle": _STYLES[number % len(_STYLES)],
        }
        axes.plot(xs, _thinned(values), label=name, linewidth=2.2, **look)
    size = SMALL * 0.75
    axes.set_xlabel("terms added", fontsize=size)
    axes.set_ylabel("sum so far", fontsize=size)
    axes.tick_params(labelsize=size)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:,.7g}")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.legend(fontsize=size, loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    return figure
