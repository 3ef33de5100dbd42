"""Probes: public procedures that run beside the answer and observe more than one call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.lazy import loading

if TYPE_CHECKING:
    from course.probes import graphs
    from course.probes.decorator import probe
    from course.probes.loading.orders import orders_drawn
    from course.probes.loading.samplers import (
        folder_listing,
        loader_epochs,
        picture_folder,
        sampler_epochs,
    )
    from course.probes.loading.transfers import copies_asked, delivered, fetched, pinned_batches
    from course.probes.loading.workers import as_worker, forked, real_worker_draws, worker_draws
    from course.probes.memory import (
        batch_in_parts,
        blocks_run,
        growth_reported,
        layers_recorded,
        sizes_tried,
    )
    from course.probes.models.freezing import freezing_seen, updates_reported
    from course.probes.models.heads import head_swapped
    from course.probes.models.modules import modules_named, names_used
    from course.probes.models.networks import classified, initialised, stacked, standardised
    from course.probes.models.partial import features_taken, fitted, renamed
    from course.probes.models.searches import modules_searched
    from course.probes.models.thawing import passed_through, thawed
    from course.probes.models.wiring import class_loaded, idle_found, traced, untied
    from course.probes.optimizers import clipped, optimizer_steps
    from course.probes.parallel.files import saved_by_ranks
    from course.probes.parallel.meeting import ring_run
    from course.probes.parallel.processes import trained_alone, trained_by_ranks
    from course.probes.parallel.shards import accumulated, shards_run
    from course.probes.parallel.stages import staged
    from course.probes.ranks.running import run_ranks
    from course.probes.saving.files import opened, saved_over
    from course.probes.saving.keepers import weights_kept
    from course.probes.saving.runs import carried_on, resumed
    from course.probes.saving.states import made_plain, migrated, slimmed
    from course.probes.timing import modules_run, timed_epoch
    from course.probes.tracking.loggers import logger_run, record_kept
    from course.probes.tracking.records import framed, masked_crc, records_read
    from course.probes.tracking.searches import configs_drawn, folder_searched, halving_run
    from course.probes.training import loop_run

__all__ = [
    "accumulated",
    "as_worker",
    "batch_in_parts",
    "blocks_run",
    "carried_on",
    "class_loaded",
    "classified",
    "clipped",
    "configs_drawn",
    "copies_asked",
    "delivered",
    "features_taken",
    "fetched",
    "fitted",
    "folder_listing",
    "folder_searched",
    "forked",
    "framed",
    "freezing_seen",
    "graphs",
    "growth_reported",
    "halving_run",
    "head_swapped",
    "idle_found",
    "initialised",
    "layers_recorded",
    "loader_epochs",
    "logger_run",
    "loop_run",
    "made_plain",
    "masked_crc",
    "migrated",
    "modules_named",
    "modules_run",
    "modules_searched",
    "names_used",
    "opened",
    "optimizer_steps",
    "orders_drawn",
    "passed_through",
    "picture_folder",
    "pinned_batches",
    "probe",
    "real_worker_draws",
    "record_kept",
    "records_read",
    "renamed",
    "resumed",
    "ring_run",
    "run_ranks",
    "sampler_epochs",
    "saved_by_ranks",
    "saved_over",
    "shards_run",
    "sizes_tried",
    "slimmed",
    "stacked",
    "staged",
    "standardised",
    "thawed",
    "timed_epoch",
    "traced",
    "trained_alone",
    "trained_by_ranks",
    "untied",
    "updates_reported",
    "weights_kept",
    "worker_draws",
]

__getattr__ = loading(
    globals(),
    {
        "accumulated": "course.probes.parallel.shards",
        "as_worker": "course.probes.loading.workers",
        "batch_in_parts": "course.probes.memory",
        "blocks_run": "course.probes.memory",
        "carried_on": "course.probes.saving.runs",
        "class_loaded": "course.probes.models.wiring",
        "classified": "course.probes.models.networks",
        "clipped": "course.probes.optimizers",
        "configs_drawn": "course.probes.tracking.searches",
        "copies_asked": "course.probes.loading.transfers",
        "delivered": "course.probes.loading.transfers",
        "features_taken": "course.probes.models.partial",
        "fetched": "course.probes.loading.transfers",
        "fitted": "course.probes.models.partial",
        "folder_listing": "course.probes.loading.samplers",
        "folder_searched": "course.probes.tracking.searches",
        "forked": "course.probes.loading.workers",
        "framed": "course.probes.tracking.records",
        "freezing_seen": "course.probes.models.freezing",
        "graphs": "course.probes.graphs",
        "growth_reported": "course.probes.memory",
        "halving_run": "course.probes.tracking.searches",
        "head_swapped": "course.probes.models.heads",
        "idle_found": "course.probes.models.wiring",
        "initialised": "course.probes.models.networks",
        "layers_recorded": "course.probes.memory",
        "loader_epochs": "course.probes.loading.samplers",
        "logger_run": "course.probes.tracking.loggers",
        "loop_run": "course.probes.training",
        "made_plain": "course.probes.saving.states",
        "masked_crc": "course.probes.tracking.records",
        "migrated": "course.probes.saving.states",
        "modules_named": "course.probes.models.modules",
        "modules_run": "course.probes.timing",
        "modules_searched": "course.probes.models.searches",
        "updates_reported": "course.probes.models.freezing",
        "names_used": "course.probes.models.modules",
        "opened": "course.probes.saving.files",
        "optimizer_steps": "course.probes.optimizers",
        "orders_drawn": "course.probes.loading.orders",
        "passed_through": "course.probes.models.thawing",
        "picture_folder": "course.probes.loading.samplers",
        "pinned_batches": "course.probes.loading.transfers",
        "probe": "course.probes.decorator",
        "real_worker_draws": "course.probes.loading.workers",
        "record_kept": "course.probes.tracking.loggers",
        "records_read": "course.probes.tracking.records",
        "renamed": "course.probes.models.partial",
        "resumed": "course.probes.saving.runs",
        "ring_run": "course.probes.parallel.meeting",
        "run_ranks": "course.probes.ranks.running",
        "sampler_epochs": "course.probes.loading.samplers",
        "saved_by_ranks": "course.probes.parallel.files",
        "saved_over": "course.probes.saving.files",
        "shards_run": "course.probes.parallel.shards",
        "sizes_tried": "course.probes.memory",
        "slimmed": "course.probes.saving.states",
        "stacked": "course.probes.models.networks",
        "staged": "course.probes.parallel.stages",
        "standardised": "course.probes.models.networks",
        "thawed": "course.probes.models.thawing",
        "timed_epoch": "course.probes.timing",
        "traced": "course.probes.models.wiring",
        "trained_alone": "course.probes.parallel.processes",
        "trained_by_ranks": "course.probes.parallel.processes",
        "untied": "course.probes.models.wiring",
        "weights_kept": "course.probes.saving.keepers",
        "worker_draws": "course.probes.loading.workers",
    },
)
