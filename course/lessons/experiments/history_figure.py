"""Logged points as lines over their steps, in the order of the log: `show_history`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise

from course.figures.curves import draw_lines, number_of
from course.figures.picture import Picture, drawing
from course.figures.scene import Scene, paint

__all__ = ["show_history"]


def show_history(
    histories: Mapping[str, Sequence[tuple[int, float]]], x: str = "step", y: str = "loss"
) -> Picture:
    """A line for each list of pairs `(step, value)`; it goes back where the steps do.

    Args:
        histories: The pairs by the name of the line.
        x: What the lower axis counts.
        y: What the other one counts.

    Raises:
        ValueError: There is no line, or an empty one.
    """
    if not drawing():
        return Picture(lambda: paint(Scene(1, 1)), alt="Figures are not drawn in this process.")
    if not histories or not all(histories.values()):
        raise ValueError("show_history() draws lists of pairs by name, none of them empty.")
    lines = {
        name: ([int(step) for step, _ in pairs], [number_of(value) for _, value in pairs])
        for name, pairs in histories.items()
    }
    alt = " ".join(_words(name, *line, x, y) for name, line in lines.items())
    return Picture(partial(draw_lines, lines, x, y), alt=alt)


def _words(name: str, steps: list[int], values: list[float], x: str, y: str) -> str:
    told = f"{name}: {len(steps)} points, {y} {values[0]:.4g} at {x} {steps[0]}"
    told += f", {values[-1]:.4g} at {x} {steps[-1]}."
    for one, other in pairwise(steps):
        if other <= one:
            told += f" It goes back from {x} {one} to {other}."
    return told
