"""What lesson 03, Tensor mathematics, alone needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.lazy import lazy_names

if TYPE_CHECKING:
    from course.lessons.math.einsum_explorer import explore_einsum
    from course.lessons.math.einsum_figure import show_einsum
    from course.lessons.math.neighbours_figure import show_neighbours
    from course.lessons.math.ranges_figure import show_floats
    from course.lessons.math.sums_figure import show_sums

__all__, __getattr__ = lazy_names(globals())
