"""A tensor's logical grid beside its flat storage, and the walk through it."""

from __future__ import annotations

from course.figures.storage.figure import compare_storage, show_storage
from course.figures.storage.walk import show_walk

__all__ = ["compare_storage", "show_storage", "show_walk"]
