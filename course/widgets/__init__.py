"""Widgets over the figures. Where no widget can live, each shows a static figure instead."""

from course.widgets.front_end import widgets_alive
from course.widgets.storage import explore_strides

__all__ = ["explore_strides", "widgets_alive"]
