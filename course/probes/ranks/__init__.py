"""Ranks: several processes that run one script or function, over gloo, and never stay behind."""

from course.probes.ranks.launching import launch
from course.probes.ranks.running import run_ranks

__all__ = ["launch", "run_ranks"]
