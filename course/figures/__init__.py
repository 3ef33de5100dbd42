"""Figures drawn from facts. Importing this package does not import matplotlib; drawing does."""

from course.figures.picture import Picture, draw_nothing, not_drawn
from course.figures.storage.figure import compare_storage, show_storage

__all__ = ["Picture", "compare_storage", "draw_nothing", "not_drawn", "show_storage"]
