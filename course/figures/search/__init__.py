"""Searches, drawn: logged histories, spaces of hyperparameters, and rungs."""

from course.figures.search.arrivals import show_arrivals
from course.figures.search.history import show_history
from course.figures.search.rungs import rungs_picture, show_rungs
from course.figures.search.space import show_space

__all__ = ["rungs_picture", "show_arrivals", "show_history", "show_rungs", "show_space"]
