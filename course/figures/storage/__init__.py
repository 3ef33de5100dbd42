"""A tensor's logical grid beside its flat storage."""

from __future__ import annotations

from course.figures.storage.figure import compare_storage, show_storage

__all__ = ["compare_storage", "show_storage"]
