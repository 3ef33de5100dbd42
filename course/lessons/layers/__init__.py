"""What lesson 08, Layers with a catch, alone needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.lazy import lazy_names

if TYPE_CHECKING:
    from course.lessons.layers.resize_figure import show_resize
    from course.lessons.layers.running_figure import show_running
    from course.lessons.layers.windows_explorer import explore_windows
    from course.lessons.layers.windows_figure import show_windows

__all__, __getattr__ = lazy_names(globals())
