"""Probes: public procedures that run beside the answer and observe more than one call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.lazy import loading

if TYPE_CHECKING:
    from course.probes import graphs
    from course.probes.decorator import probe
    from course.probes.memory import (
        batch_in_parts,
        blocks_run,
        growth_told,
        layers_recorded,
        sizes_tried,
    )
    from course.probes.modules import modules_named, names_used
    from course.probes.networks import classified, initialised, stacked, standardised
    from course.probes.orders import orders_drawn
    from course.probes.samplers import (
        folder_listing,
        loader_epochs,
        picture_folder,
        sampler_epochs,
    )
    from course.probes.searches import modules_searched
    from course.probes.timing import modules_run, timed_epoch
    from course.probes.training import clipped, loop_run, optimizer_steps
    from course.probes.transfers import copies_asked, delivered, fetched, pinned_batches
    from course.probes.wiring import class_loaded, idle_found, traced, untied
    from course.probes.workers import as_worker, forked, real_worker_draws, worker_draws

__all__ = [
    "as_worker",
    "batch_in_parts",
    "blocks_run",
    "class_loaded",
    "classified",
    "clipped",
    "copies_asked",
    "delivered",
    "fetched",
    "folder_listing",
    "forked",
    "graphs",
    "growth_told",
    "idle_found",
    "initialised",
    "layers_recorded",
    "loader_epochs",
    "loop_run",
    "modules_named",
    "modules_run",
    "modules_searched",
    "names_used",
    "optimizer_steps",
    "orders_drawn",
    "picture_folder",
    "pinned_batches",
    "probe",
    "real_worker_draws",
    "sampler_epochs",
    "sizes_tried",
    "stacked",
    "standardised",
    "timed_epoch",
    "traced",
    "untied",
    "worker_draws",
]

__getattr__ = loading(
    globals(),
    {
        "as_worker": "course.probes.workers",
        "batch_in_parts": "course.probes.memory",
        "blocks_run": "course.probes.memory",
        "class_loaded": "course.probes.wiring",
        "classified": "course.probes.networks",
        "clipped": "course.probes.training",
        "copies_asked": "course.probes.transfers",
        "delivered": "course.probes.transfers",
        "fetched": "course.probes.transfers",
        "folder_listing": "course.probes.samplers",
        "forked": "course.probes.workers",
        "graphs": "course.probes.graphs",
        "growth_told": "course.probes.memory",
        "idle_found": "course.probes.wiring",
        "initialised": "course.probes.networks",
        "layers_recorded": "course.probes.memory",
        "loader_epochs": "course.probes.samplers",
        "loop_run": "course.probes.training",
        "modules_named": "course.probes.modules",
        "modules_run": "course.probes.timing",
        "modules_searched": "course.probes.searches",
        "names_used": "course.probes.modules",
        "optimizer_steps": "course.probes.training",
        "orders_drawn": "course.probes.orders",
        "picture_folder": "course.probes.samplers",
        "pinned_batches": "course.probes.transfers",
        "probe": "course.probes.decorator",
        "real_worker_draws": "course.probes.workers",
        "sampler_epochs": "course.probes.samplers",
        "sizes_tried": "course.probes.memory",
        "stacked": "course.probes.networks",
        "standardised": "course.probes.networks",
        "timed_epoch": "course.probes.timing",
        "traced": "course.probes.wiring",
        "untied": "course.probes.wiring",
        "worker_draws": "course.probes.workers",
    },
)
