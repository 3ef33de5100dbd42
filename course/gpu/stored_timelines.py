"""Timelines of lesson 14 as they were recorded, for a PyTorch without the simulated device.

`recorded.json` has them; tests/course/gpu/test_stored_timelines.py compares it with what the
lesson's cells record today, and `python -m tests.course.gpu.test_stored_timelines` writes it anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from course.gpu.timeline import CATEGORIES, Held, Mark, Moment, Taken, Timeline

__all__ = ["from_plain", "recorded_timelines", "to_plain"]

_FILE = Path(__file__).with_name("recorded.json")


def recorded_timelines() -> dict[str, Timeline]:
    """The timelines by the titles of their figures, in the order of the lesson."""
    plain = json.loads(_FILE.read_text(encoding="utf-8"))
    return {title: from_plain(one) for title, one in plain.items()}


def to_plain(timeline: Timeline) -> dict[str, Any]:
    """A timeline as JSON may hold it: a row of values for each entry, in the order of its fields.

    A category is its place in `CATEGORIES`, and what a moment has of each stands in that order.
    """
    return {
        "held": _rows({**vars(h), "category": CATEGORIES.index(h.category)} for h in timeline.held),
        "taken": _rows(map(vars, timeline.taken)),
        "moments": [
            [m.at, m.allocated, m.reserved, *(m.by_category.get(name, 0) for name in CATEGORIES)]
            for m in timeline.moments
        ],
        "marks": _rows(map(vars, timeline.marks)),
        "shortages": list(timeline.shortages),
    }


def from_plain(plain: Mapping[str, Any]) -> Timeline:
    """The timeline that `to_plain` wrote; a moment names every category."""
    return Timeline(
        held=tuple(
            Held(address, nbytes, begin, end, CATEGORIES[category], name)
            for address, nbytes, begin, end, category, name in plain["held"]
        ),
        taken=tuple(Taken(*row) for row in plain["taken"]),
        moments=tuple(
            Moment(at, allocated, reserved, dict(zip(CATEGORIES, each, strict=True)))
            for at, allocated, reserved, *each in plain["moments"]
        ),
        marks=tuple(Mark(*row) for row in plain["marks"]),
        shortages=tuple(plain["shortages"]),
    )


def _rows(entries: Iterable[Mapping[str, Any]]) -> list[list[Any]]:
    return [list(entry.values()) for entry in entries]
