"""How numbers are stored in each dtype, and which dtype two operands agree on."""

from __future__ import annotations

from course.figures.dtypes.bits import show_bits
from course.figures.dtypes.grey import show_grey
from course.figures.dtypes.lattice import show_promotion

__all__ = ["show_bits", "show_grey", "show_promotion"]
