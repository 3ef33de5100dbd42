"""Successive halving over real trainings, to step through."""

from course.widgets.search.explorer import explore_halving

__all__ = ["explore_halving"]
