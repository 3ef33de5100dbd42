"""What a learner answers between the exercises: tasks of one minute, without points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.lazy import lazy_names

if TYPE_CHECKING:
    from course.practice.task import warm_up

__all__, __getattr__ = lazy_names(globals())
