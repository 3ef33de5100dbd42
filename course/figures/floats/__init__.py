"""Figures of floating-point numbers: their range, their gaps, and what a computation loses."""

from course.figures.floats.neighbours import show_neighbours
from course.figures.floats.ranges import show_floats
from course.figures.floats.sums import show_sums
from course.figures.floats.values import show_values

__all__ = ["show_floats", "show_neighbours", "show_sums", "show_values"]
