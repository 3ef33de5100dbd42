"""One course and not many notebooks: the map of the lessons, paths through it, where to begin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.lazy import lazy_names

if TYPE_CHECKING:
    from course.guide.lesson_cards import PATHS, Card, card_of, cards, on_path, written
    from course.guide.lesson_map import LessonMap
    from course.guide.map_drawing import drawn
    from course.guide.map_text import in_markdown, picture, summary, table
    from course.guide.placement_quiz import placement

__all__, __getattr__ = lazy_names(globals())
