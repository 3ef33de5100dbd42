"""One course and not many notebooks: the map of the lessons, paths through it, where to begin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.lazy import loading

if TYPE_CHECKING:
    from course.guide.drawing import drawn
    from course.guide.lesson_cards import PATHS, Card, card_of, cards, on_path, read_cards, written
    from course.guide.lesson_map import LessonMap
    from course.guide.placement_quiz import placement
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
        "PATHS": "course.guide.lesson_cards",
        "Card": "course.guide.lesson_cards",
        "LessonMap": "course.guide.lesson_map",
        "card_of": "course.guide.lesson_cards",
        "cards": "course.guide.lesson_cards",
        "drawn": "course.guide.drawing",
        "in_markdown": "course.guide.text",
        "on_path": "course.guide.lesson_cards",
        "picture": "course.guide.text",
        "placement": "course.guide.placement_quiz",
        "read_cards": "course.guide.lesson_cards",
        "summary": "course.guide.text",
        "table": "course.guide.text",
        "written": "course.guide.lesson_cards",
    },
)
