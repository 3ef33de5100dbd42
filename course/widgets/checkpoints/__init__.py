"""Two checkpoints, entry by entry: what is the same, what changed, what is missing."""

from course.widgets.checkpoints.explorer import explore_checkpoints

__all__ = ["explore_checkpoints"]
