"""What lesson 17, the final project, alone needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.lazy import lazy_names

if TYPE_CHECKING:
    from course.lessons.project.script import fresh_train, on_copies
    from course.lessons.project.workbench import bench, megabytes_saved, step_apart

__all__, __getattr__ = lazy_names(globals())
