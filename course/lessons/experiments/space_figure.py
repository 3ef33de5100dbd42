"""Points of a search beside each other, with the different values of each axis: `show_space`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from course.figures.curves import SIZE
from course.figures.palette import CARD, FAULT, INK
from course.figures.picture import Picture, drawing
from course.figures.scene import WIDTH, Scene, paint

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["show_space"]

Points = Sequence[tuple[float, float]]
_HEIGHT = 3.2  # inches
_CAPTION = "Red strokes under each picture: the different values that the lower axis gets."


def show_space(
    searches: Mapping[str, Points], x: str, y: str, *, log: tuple[bool, bool] = (True, False)
) -> Picture:
    """The points `(x, y)` of each search in a picture of its own.

    Args:
        searches: for each name its points.
        x: what the lower axis counts.
        y: what the other one counts.
        log: whether the lower axis goes by factors, and whether the other one does.
    """
    if not drawing():
        return Picture(lambda: paint(Scene(1, 1)), alt="Figures are not drawn in this process.")
    if not searches or not all(searches.values()):
        raise ValueError("show_space() draws lists of points by name, none of them empty.")
    alt = " ".join(
        f"{name}: {len(points)} points, {len({a for a, _ in points})} different values of {x}, "
        f"{len({b for _, b in points})} of {y}."
        for name, points in searches.items()
    )
    return Picture(partial(_draw, searches, x, y, log), alt=alt, caption=_CAPTION)


def _draw(searches: Mapping[str, Points], x: str, y: str, log: tuple[bool, bool]) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH / 96, _HEIGHT), facecolor=CARD, layout="constrained")
    panels = figure.subplots(1, len(searches), sharex=True, sharey=True, squeeze=False)[0]
    for axes, (name, points) in zip(panels, searches.items(), strict=True):
        for axis, by_factors in zip((axes.set_xscale, axes.set_yscale), log, strict=True):
            axis("log" if by_factors else "linear")
        for lower_or_other in (axes.xaxis, axes.yaxis):  # its own words would be TeX, unparsed
            lower_or_other.set_major_formatter("{x:,.7g}")
            lower_or_other.set_minor_formatter(lambda *_: "")
        axes.plot([a for a, _ in points], [b for _, b in points], "o", color=INK, markersize=6)
        different = sorted({a for a, _ in points})
        axes.plot(
            different,
            [0.02] * len(different),
            "|",
            color=FAULT,
            markersize=12,
            markeredgewidth=2,
            transform=axes.get_xaxis_transform(),
        )
        count = f"{len(different)} values" if len(different) > 1 else "1 value"
        axes.set_title(f"{name}: {count} of {x}", fontsize=SIZE)
        axes.set_xlabel(x, fontsize=SIZE)
        axes.tick_params(labelsize=SIZE)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    panels[0].set_ylabel(y, fontsize=SIZE)
    low, high = panels[0].get_ylim()  # of both panels; the strokes stay below every point
    panels[0].set_ylim(low / (high / low) ** 0.1 if log[1] else low - 0.1 * (high - low), high)
    return figure
