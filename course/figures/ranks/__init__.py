"""Several ranks, drawn: what each does when, which samples it gets, and a ring of messages."""

from course.figures.ranks.ring import show_ring
from course.figures.ranks.shards import show_shards
from course.figures.ranks.timeline import show_ranks

__all__ = ["show_ranks", "show_ring", "show_shards"]
