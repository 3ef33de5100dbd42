"""The map of the lessons as a notebook shows it, with what a learner has done."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from html import escape

from course.guide.lesson_cards import Card
from course.guide.map_drawing import drawn
from course.guide.map_text import described, summary

__all__ = ["LessonMap"]

_PHONE = "(max-width: 600px)"


class LessonMap:
    """The map: a picture, and behind it the same in words.

    Args:
        lessons: The cards in their order.
        states: A few words on what was done in a lesson, by its number: `{"04": "✓ done"}`.
    """

    def __init__(self, lessons: Sequence[Card], states: Mapping[str, str] | None = None) -> None:
        self.lessons = tuple(lessons)
        self.states = dict(states or {})

    def __repr__(self) -> str:
        return described(self.lessons, self.states)

    def _repr_html_(self) -> str:
        wide, narrow = (self._address(narrow=narrow) for narrow in (False, True))
        lines = "".join(f"<li>{escape(line)}</li>" for line in repr(self).splitlines())
        return (
            f'<picture><source media="{_PHONE}" srcset="{narrow}">'
            f'<img src="{wide}" alt="{escape(summary(self.lessons))}" style="max-width:100%">'
            "</picture><details><summary>The map in words</summary>"
            f'<ul style="line-height:1.45">{lines}</ul></details>'
        )

    def _address(self, *, narrow: bool) -> str:
        svg = drawn(self.lessons, narrow=narrow, states=self.states)
        return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode('ascii')}"
