"""What lesson 04, Memory layout, alone needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.lazy import lazy_names

if TYPE_CHECKING:
    from course.lessons.memory_layout.photos_figure import show_photos
    from course.lessons.memory_layout.stride_explorer import explore_strides
    from course.lessons.memory_layout.walk_explorer import explore_walk
    from course.lessons.memory_layout.walk_figure import show_walk

__all__, __getattr__ = lazy_names(globals())
