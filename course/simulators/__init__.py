"""Loader, sampler and search in plain Python, every step in the open; real ranks, scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.lazy import loading

if TYPE_CHECKING:
    from course.simulators.ranks import by_rank
    from course.simulators.scripts import run_script

__all__ = ["by_rank", "run_script"]

__getattr__ = loading(
    globals(),
    {"by_rank": "course.simulators.ranks", "run_script": "course.simulators.scripts"},
)
