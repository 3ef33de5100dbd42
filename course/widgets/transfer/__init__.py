"""Blocks to freeze, and what each choice costs in gradients and memory."""

from course.widgets.transfer.explorer import explore_freezing

__all__ = ["explore_freezing"]
