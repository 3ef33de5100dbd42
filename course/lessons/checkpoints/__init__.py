"""What lesson 12, Saving and resuming, alone needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.lazy import lazy_names

if TYPE_CHECKING:
    from course.lessons.checkpoints.best_weights_probes import weights_kept
    from course.lessons.checkpoints.checkpoint_explorer import explore_checkpoints
    from course.lessons.checkpoints.file_figure import show_file
    from course.lessons.checkpoints.file_probes import opened, saved_over
    from course.lessons.checkpoints.patience import stopped_at
    from course.lessons.checkpoints.state_probes import made_plain, migrated, slimmed

__all__, __getattr__ = lazy_names(globals())
