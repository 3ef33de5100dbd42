"""What lesson 11, The training loop, alone needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.lazy import lazy_names

if TYPE_CHECKING:
    from course.lessons.training_loop.gradients_figure import show_gradients
    from course.lessons.training_loop.means_figure import show_means
    from course.lessons.training_loop.nan_search_probes import modules_searched
    from course.lessons.training_loop.optimizer_probes import clipped, optimizer_steps
    from course.lessons.training_loop.training_explorer import explore_training

__all__, __getattr__ = lazy_names(globals())
