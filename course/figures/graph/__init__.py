"""The autograd graph behind a tensor."""

from __future__ import annotations

from course.figures.graph.figure import show_graph

__all__ = ["show_graph"]
