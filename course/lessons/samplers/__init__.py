"""What lesson 10, Samplers, alone needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.lazy import lazy_names

if TYPE_CHECKING:
    from course.lessons.samplers.probes import (
        folder_listing,
        loader_epochs,
        picture_folder,
        sampler_epochs,
    )
    from course.lessons.samplers.sampler_explorer import explore_sampler
    from course.lessons.samplers.sampler_figure import show_sampler

__all__, __getattr__ = lazy_names(globals())
