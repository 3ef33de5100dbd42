"""Loader, sampler and search in plain Python, with every step in the open; real ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.lazy import loading

if TYPE_CHECKING:
    from course.simulators.ranks import by_rank

__all__ = ["by_rank"]

__getattr__ = loading(globals(), {"by_rank": "course.simulators.ranks"})
