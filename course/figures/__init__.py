"""Figures drawn from facts. Importing this package does not import matplotlib; drawing does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.lazy import lazy_names

if TYPE_CHECKING:
    from course.figures.batches import show_batches, show_padding
    from course.figures.curves import show_curves
    from course.figures.epochs import show_epochs
    from course.figures.graph import show_graph
    from course.figures.picture import Picture, draw_nothing, not_drawn
    from course.figures.pixels import show_pixels
    from course.figures.storage import compare_storage, show_storage
    from course.figures.values import show_values

__all__, __getattr__ = lazy_names(globals())
