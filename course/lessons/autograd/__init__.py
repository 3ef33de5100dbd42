"""What lesson 05, Autograd, alone needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.lazy import lazy_names

if TYPE_CHECKING:
    from course.lessons.autograd import graph_probes
    from course.lessons.autograd.graph_explorer import explore_graph

__all__, __getattr__ = lazy_names(globals())
