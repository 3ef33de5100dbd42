"""Transfer, drawn: what a training moved in a model, and what a file has for it."""

from course.figures.transfer.drift import show_drift
from course.figures.transfer.loading import Match, matches_of, show_loading

__all__ = ["Match", "matches_of", "show_drift", "show_loading"]
