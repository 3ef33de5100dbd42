"""Figures of layers with a catch: running statistics, windows, and where resized pixels lie."""

from course.figures.layers.reading import Reading, reading_of
from course.figures.layers.resize import show_resize
from course.figures.layers.running import show_running
from course.figures.layers.windows import picture_of, show_windows, sum_words

__all__ = [
    "Reading",
    "picture_of",
    "reading_of",
    "show_resize",
    "show_running",
    "show_windows",
    "sum_words",
]
