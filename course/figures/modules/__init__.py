"""Pictures of modules: shapes on their way through, and the tree with its gradients."""

from __future__ import annotations

from course.figures.modules.calls import tensors_in
from course.figures.modules.gradients import picture_of, show_modules
from course.figures.modules.parts import copied
from course.figures.modules.shapes import show_shapes
from course.figures.modules.spread import show_spread
from course.figures.modules.tree import Row, Subject, rows_of, subjects_of

__all__ = [
    "Row",
    "Subject",
    "copied",
    "picture_of",
    "rows_of",
    "show_modules",
    "show_shapes",
    "show_spread",
    "subjects_of",
    "tensors_in",
]
