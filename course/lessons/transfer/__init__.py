"""What lesson 13, Transfer learning, alone needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.lazy import lazy_names

if TYPE_CHECKING:
    from course.lessons.transfer.drift_figure import show_drift
    from course.lessons.transfer.freezing_explorer import explore_freezing
    from course.lessons.transfer.freezing_probes import freezing_seen, updates_reported
    from course.lessons.transfer.head_probes import head_swapped
    from course.lessons.transfer.loading_figure import show_loading
    from course.lessons.transfer.partial_weights_probes import features_taken, fitted, renamed
    from course.lessons.transfer.thawing_probes import passed_through, thawed

__all__, __getattr__ = lazy_names(globals())
