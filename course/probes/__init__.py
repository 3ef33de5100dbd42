"""Probes: public procedures that run beside the answer and observe more than one call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.lazy import lazy_names

if TYPE_CHECKING:
    from course.inspection.class_names import class_name
    from course.probes.decorator import probe
    from course.probes.forks import in_a_fork
    from course.probes.modules import modules_named, names_used
    from course.probes.orders import hashes_of_another_process, orders_drawn
    from course.probes.saved_runs import carried_on, resumed
    from course.probes.sealing import sealed
    from course.probes.training import loop_run
    from course.probes.transfers import copies_asked, delivered, fetched, pinned_batches
    from course.probes.whole_module import WholeModule

__all__, __getattr__ = lazy_names(globals())
