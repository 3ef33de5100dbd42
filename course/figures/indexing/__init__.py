"""What an index touches, how shapes meet each other, and how tensors are joined and cut."""

from __future__ import annotations

from course.figures.indexing.broadcast import show_broadcast
from course.figures.indexing.pieces import show_joined, show_pieces
from course.figures.indexing.selection import show_index

__all__ = ["show_broadcast", "show_index", "show_joined", "show_pieces"]
