"""What lesson 14, GPU memory, alone needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.lazy import lazy_names

if TYPE_CHECKING:
    from course.lessons.gpu_memory.memory_explorer import explore_memory
    from course.lessons.gpu_memory.memory_figure import show_recorded, show_segments, show_timeline
    from course.lessons.gpu_memory.peaks import Peak
    from course.lessons.gpu_memory.probes import (
        batch_in_parts,
        blocks_run,
        growth_reported,
        layers_recorded,
        sizes_tried,
    )

__all__, __getattr__ = lazy_names(globals())
