"""What a learner has done, and the start page that says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.lazy import loading

if TYPE_CHECKING:
    from course.progress.start_page import lessons
    from course.progress.summary import lesson_progress

__all__ = ["lesson_progress", "lessons"]

__getattr__ = loading(
    globals(),
    {
        "lesson_progress": "course.progress.summary",
        "lessons": "course.progress.start_page",
    },
)
