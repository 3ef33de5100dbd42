"""What lesson 02, Indexing and broadcasting, alone needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.lazy import lazy_names

if TYPE_CHECKING:
    from course.lessons.indexing.broadcast_figure import show_broadcast
    from course.lessons.indexing.index_explorer import explore_index
    from course.lessons.indexing.pieces_figure import show_joined, show_pieces
    from course.lessons.indexing.selection_figure import show_index

__all__, __getattr__ = lazy_names(globals())
