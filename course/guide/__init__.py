"""One course and not many notebooks: the map of the lessons, paths through it, where to begin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.lazy import loading

if TYPE_CHECKING:
    from course.guide.cards import PATHS, Card, card_of, cards, on_path, read_cards, written
    from course.guide.drawing import drawn
    from course.guide.picture import LessonMap, lesson_map
    from course.guide.placement import ASKED, Placement, placement
    from course.guide.words import described, in_markdown, summary

__all__ = [
    "ASKED",
    "PATHS",
    "Card",
    "LessonMap",
    "Placement",
    "card_of",
    "cards",
    "described",
    "drawn",
    "in_markdown",
    "lesson_map",
    "on_path",
    "placement",
    "read_cards",
    "summary",
]
