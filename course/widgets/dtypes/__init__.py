"""Explorers of dtypes: what two operands are computed in, and what is stored of a number."""

from __future__ import annotations

from course.widgets.dtypes.bits import explore_bits
from course.widgets.dtypes.promotion import explore_promotion

__all__ = ["explore_bits", "explore_promotion"]
