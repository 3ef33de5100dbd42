"""The points that the outputs of a test cell stand for: nbgrader's rule, and the only place of it.

    an error                                 none
    text on stderr, before any value         none
    a last value that is no number           all of them: "True", "tensor(2.)", "[1, 2]"
    nothing                                  all of them
    a number from 0 to the cell's points     that number
    a number below 0, or nan                 all of them, strange as it is
    a number above the cell's points         refused: nbgrader stops grading there
    a value without any text                 refused as well

Like nbgrader, it reads what a value prints as, not the value.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any


class PointsRefused(ValueError):
    """Outputs that nbgrader makes no points of; the message completes "The test cell …"."""


def points_of(outputs: Iterable[Mapping[str, Any]], most: float) -> float:
    """The points of a test cell that showed `outputs`.

    Unlike nbgrader, an error counts wherever it stands, so a value published before it is none.

    >>> value = {"output_type": "execute_result", "data": {"text/plain": "2.5"}}
    >>> points_of([value], 3.0), points_of([], 3.0)
    (2.5, 3.0)

    Args:
        outputs: A code cell's outputs as a notebook keeps them.
        most: The points of the cell.

    Raises:
        PointsRefused: A value is above `most`, or prints as nothing; nbgrader stops there as well.
    """
    found = list(outputs)
    if any(output["output_type"] == "error" for output in found):
        return 0.0
    for output in found:
        if output["output_type"] == "stream" and output["name"] == "stderr":
            return 0.0
        if output["output_type"] == "execute_result":
            return _worth(output["data"].get("text/plain"), most)
    return most


def _worth(text: Any, most: float) -> float:
    """The points of a last value that prints as `text`."""
    if not text:
        raise PointsRefused("ended in a value that prints as nothing")
    lines = text if isinstance(text, list) else [text]
    try:
        points = float(lines[0]) if len(lines) == 1 else math.nan
    except (ValueError, TypeError, OverflowError):
        return most
    if points > most:
        raise PointsRefused(f"gave {points:g} points, but has no more than {most:g}")
    return points if points >= 0 else most
