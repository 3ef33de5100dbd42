"""nbgrader's rules for one cell of a graded notebook, and for the time in timestamp.txt."""

from __future__ import annotations

from datetime import UTC, datetime

from nbformat import NotebookNode
from nbgrader.utils import determine_grade, parse_utc


def automatic_points(cell: NotebookNode) -> float | None:
    """The points that nbgrader gives an executed cell; None where it leaves them to a person.

    An answer in words that is still the stub has 0.
    """
    points = determine_grade(cell)[0]
    return None if points is None else float(points)


def time_of(text: str) -> datetime:
    """The time that nbgrader reads in `text`, in UTC.

    Raises:
        Exception: Whatever dateutil makes of bytes that are no date.
    """
    found: datetime = parse_utc(text)
    return found.replace(tzinfo=UTC)
