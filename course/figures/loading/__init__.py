"""How data is loaded: the time of an epoch, the way into a batch, and who drew which value."""

from __future__ import annotations

from course.figures.loading.batches import show_batches, show_padding
from course.figures.loading.draws import show_draws
from course.figures.loading.timeline import show_loader_timeline

__all__ = ["show_batches", "show_draws", "show_loader_timeline", "show_padding"]
