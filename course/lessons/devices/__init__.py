"""What lesson 16, Several devices, alone needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.lazy import lazy_names

if TYPE_CHECKING:
    from course.lessons.devices.disk_probes import saved_by_ranks
    from course.lessons.devices.forked_ranks import by_rank
    from course.lessons.devices.process_probes import trained_alone, trained_by_ranks
    from course.lessons.devices.ranks_explorer import explore_ranks
    from course.lessons.devices.ranks_figure import show_ranks
    from course.lessons.devices.ring_figure import show_ring
    from course.lessons.devices.ring_probes import ring_run
    from course.lessons.devices.scripts import run_script
    from course.lessons.devices.shard_probes import accumulated, shards_run
    from course.lessons.devices.shards_figure import show_shards
    from course.lessons.devices.stage_probes import staged

__all__, __getattr__ = lazy_names(globals())
