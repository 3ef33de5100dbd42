"""One course and not many notebooks: the map of the lessons, paths through it, where to begin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.lazy import loading

if TYPE_CHECKING:
    from course.guide.cards import PATHS, Card, card_of, cards, on_path, read_cards, written
    from course.guide.drawing import drawn
    from course.guide.picture import LessonMap
    from course.guide.placement import placement
    from course.guide.text import in_markdown, picture, summary, table

__all__ = [
    "PATHS",
    "Card",
    "LessonMap",
    "card_of",
    "cards",
    "drawn",
    "in_markdown",
    "on_path",
    "picture",
    "placement",
    "read_cards",
    "summary",
    "table",
    "written",
]

__getattr__ = loading(
    globals(),
    {
        "PATHS": "course.guide.cards",
        "Card": "course.guide.cards",
        "LessonMap": "course.guide.picture",
        "card_of": "course.guide.cards",
        "cards": "course.guide.cards",
        "drawn": "course.guide.drawing",
        "in_markdown": "course.guide.text",
        "on_path": "course.guide.cards",
        "picture": "course.guide.text",
        "placement": "course.guide.placement",
        "read_cards": "course.guide.cards",
        "summary": "course.guide.text",
        "table": "course.guide.text",
        "written": "course.guide.cards",
    },
)
