"""What lesson 07, Building models, alone needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.lazy import lazy_names

if TYPE_CHECKING:
    from course.lessons.modules.gradients_figure import show_modules
    from course.lessons.modules.module_explorer import explore_modules
    from course.lessons.modules.network_probes import classified, initialised, stacked, standardised
    from course.lessons.modules.shapes_figure import show_shapes
    from course.lessons.modules.spread_figure import show_spread
    from course.lessons.modules.wiring_probes import class_loaded, idle_found, traced, untied

__all__, __getattr__ = lazy_names(globals())
