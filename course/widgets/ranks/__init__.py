"""A step of several ranks, to go through: who has which samples, gradients and weights."""

from course.widgets.ranks.explorer import explore_ranks

__all__ = ["explore_ranks"]
