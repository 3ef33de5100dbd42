"""What a learner has done, and the start page that says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.lazy import loading

if TYPE_CHECKING:
    from course.progress.carry import carry_progress
    from course.progress.start_page import lesson_map, lessons
    from course.progress.summary import lesson_progress

__all__ = ["carry_progress", "lesson_map", "lesson_progress", "lessons"]

__getattr__ = loading(
    globals(),
    {
        "carry_progress": "course.progress.carry",
        "lesson_map": "course.progress.start_page",
        "lesson_progress": "course.progress.summary",
        "lessons": "course.progress.start_page",
    },
)
