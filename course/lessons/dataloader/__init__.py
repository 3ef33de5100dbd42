"""What lesson 09, DataLoader, alone needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.lazy import lazy_names

if TYPE_CHECKING:
    from course.lessons.dataloader.draws_figure import show_draws
    from course.lessons.dataloader.loader_explorer import explore_loader
    from course.lessons.dataloader.simulator import LoaderPlan, run_loader
    from course.lessons.dataloader.timeline_figure import show_loader_timeline
    from course.lessons.dataloader.timing_probes import timed_epoch
    from course.lessons.dataloader.worker_probes import (
        as_worker,
        forked,
        next_draws,
        real_worker_draws,
        worker_draws,
    )

__all__, __getattr__ = lazy_names(globals())
