"""The points that the outputs of a test cell stand for: nbgrader's rule, and the only place of it.

    an error                                 none
    text on stderr, before any value         none
    a last value that is no number           all of them: "True", "tensor(2.)", "[1, 2]"
    nothing                                  all of them
    a number from 0 to the cell's points     that number
    a number below 0, nan or "False"         none, unlike nbgrader, which gives all of them
    a number above the cell's points         refused: nbgrader stops grading there
    a value without any text                 refused as well

Like nbgrader, it reads what a value prints as, not the value.  No text here says a number that an
answer may have chosen.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


class PointsRefused(ValueError):
    """Outputs that nbgrader makes no points of; the message completes "The test cell …"."""


_NO_NUMBER = "ended in a value that is no number of points: below 0, nan or False"
_WARNED = (
    "wrote to stderr before it gave its points, as a warning does, and nbgrader then gives none"
)


def why_no_points(outputs: Iterable[Mapping[str, Any]]) -> str:
    """Why a test cell gave none that ended without an error; completes "Its test cell …".

    Args:
        outputs: A code cell's outputs as a notebook keeps them.

    Returns:
        Nothing where it gave points, or ended in an error.
    """
    found = list(outputs)
    if any(one["output_type"] == "error" for one in found):
        return ""
    for output in found:
        if output["output_type"] == "stream" and output["name"] == "stderr":
            return _WARNED
        if output["output_type"] == "execute_result":
            return _NO_NUMBER if _stands_for_none(output["data"].get("text/plain")) else ""
    return ""


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
    if _stands_for_none(text):
        return 0.0
    points = _number(text)
    if points is None:
        return most
    if points > most:
        raise PointsRefused(f"gave more points than it has, which is {most:g}")
    return points


def _stands_for_none(text: Any) -> bool:
    points = _number(text)
    return _only_line(text) == "False" if points is None else not points >= 0


def _number(text: Any) -> float | None:
    """The number that a value prints as; None where it is none."""
    try:
        return float(_only_line(text))
    except (ValueError, TypeError, OverflowError):
        return None


def _only_line(text: Any) -> Any:
    return text[0] if isinstance(text, list) and len(text) == 1 else text
