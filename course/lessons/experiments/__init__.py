"""What lesson 15, Tracking experiments, alone needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.lazy import lazy_names

if TYPE_CHECKING:
    from course.lessons.experiments.arrivals_figure import show_arrivals
    from course.lessons.experiments.event_file_probes import framed, records_read
    from course.lessons.experiments.halving_explorer import explore_halving
    from course.lessons.experiments.history_figure import show_history
    from course.lessons.experiments.logger_probes import logger_run, record_kept
    from course.lessons.experiments.rungs_figure import show_rungs
    from course.lessons.experiments.search_probes import configs_drawn, folder_searched, halving_run
    from course.lessons.experiments.space_figure import show_space
    from course.lessons.experiments.trials import trial_losses

__all__, __getattr__ = lazy_names(globals())
