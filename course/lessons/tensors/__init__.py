"""What lesson 01, Tensors, alone needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.lazy import lazy_names

if TYPE_CHECKING:
    from course.lessons.tensors.bits_explorer import explore_bits
    from course.lessons.tensors.bits_figure import show_bits
    from course.lessons.tensors.grey_figure import show_grey
    from course.lessons.tensors.promotion_explorer import explore_promotion
    from course.lessons.tensors.promotion_figure import show_promotion

__all__, __getattr__ = lazy_names(globals())
