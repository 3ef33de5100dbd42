"""What a learner has done, and the start page that says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.lazy import lazy_names

if TYPE_CHECKING:
    from course.progress.carry import carry_progress
    from course.progress.start_page import lesson_map, lessons
    from course.progress.summary import lesson_progress

__all__, __getattr__ = lazy_names(globals())
