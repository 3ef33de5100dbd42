"""Widgets over the figures. Where no widget can live, each shows a static figure instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.lazy import lazy_names

if TYPE_CHECKING:
    from course.widgets.front_end import widgets_alive

__all__, __getattr__ = lazy_names(globals())
