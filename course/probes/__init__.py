"""Probes: public procedures that run beside the answer and observe more than one call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.lazy import loading

if TYPE_CHECKING:
    from course.probes.decorator import Probe, probe
    from course.probes.modules import modules_named, names_used
    from course.probes.samplers import folder_listing, picture_folder, sampler_epochs
    from course.probes.workers import as_worker, forked

__all__ = [
    "Probe",
    "as_worker",
    "folder_listing",
    "forked",
    "modules_named",
    "names_used",
    "picture_folder",
    "probe",
    "sampler_epochs",
]

__getattr__ = loading(
    globals(),
    {
        "Probe": "course.probes.decorator",
        "as_worker": "course.probes.workers",
        "folder_listing": "course.probes.samplers",
        "forked": "course.probes.workers",
        "modules_named": "course.probes.modules",
        "names_used": "course.probes.modules",
        "picture_folder": "course.probes.samplers",
        "probe": "course.probes.decorator",
        "sampler_epochs": "course.probes.samplers",
    },
)
