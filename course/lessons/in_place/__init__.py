"""What lesson 06, In-place operations, alone needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.lazy import lazy_names

if TYPE_CHECKING:
    from course.lessons.in_place.version_explorer import explore_versions
    from course.lessons.in_place.versions_figure import show_versions

__all__, __getattr__ = lazy_names(globals())
