"""What an index expression touches, and how shapes are stretched to meet each other."""

from __future__ import annotations

from course.figures.indexing.broadcast import show_broadcast
from course.figures.indexing.selection import show_index

__all__ = ["show_broadcast", "show_index"]
