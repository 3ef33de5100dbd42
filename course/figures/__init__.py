"""Figures drawn from facts. Importing this package does not import matplotlib; drawing does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.lazy import loading

if TYPE_CHECKING:
    from course.figures.checkpoints import show_file
    from course.figures.curves import show_curves
    from course.figures.dtypes import show_bits, show_grey, show_promotion
    from course.figures.einsum import show_einsum
    from course.figures.epochs import show_epochs
    from course.figures.floats import show_floats, show_neighbours, show_sums, show_values
    from course.figures.graph import show_graph
    from course.figures.indexing import show_broadcast, show_index, show_joined, show_pieces
    from course.figures.layers import show_resize, show_running, show_windows
    from course.figures.loading import show_batches, show_draws, show_loader_timeline, show_padding
    from course.figures.memory import show_recorded, show_segments, show_timeline
    from course.figures.modules import show_modules, show_shapes, show_spread
    from course.figures.photos import show_photos
    from course.figures.picture import Picture, draw_nothing, not_drawn
    from course.figures.pixels import show_pixels
    from course.figures.ranks import show_ranks, show_ring, show_shards
    from course.figures.sampler import show_sampler
    from course.figures.search import show_arrivals, show_history, show_rungs, show_space
    from course.figures.storage import compare_storage, show_storage, show_walk
    from course.figures.training import show_gradients, show_means
    from course.figures.transfer import show_drift, show_loading
    from course.figures.versions import show_versions
    from course.simulators.loader import LoaderPlan, run_loader
    from course.simulators.trials import trial_losses

__all__ = [
    "LoaderPlan",
    "Picture",
    "compare_storage",
    "draw_nothing",
    "not_drawn",
    "run_loader",
    "show_arrivals",
    "show_batches",
    "show_bits",
    "show_broadcast",
    "show_curves",
    "show_draws",
    "show_drift",
    "show_einsum",
    "show_epochs",
    "show_file",
    "show_floats",
    "show_gradients",
    "show_graph",
    "show_grey",
    "show_history",
    "show_index",
    "show_joined",
    "show_loader_timeline",
    "show_loading",
    "show_means",
    "show_modules",
    "show_neighbours",
    "show_padding",
    "show_photos",
    "show_pieces",
    "show_pixels",
    "show_promotion",
    "show_ranks",
    "show_recorded",
    "show_resize",
    "show_ring",
    "show_rungs",
    "show_running",
    "show_sampler",
    "show_segments",
    "show_shapes",
    "show_shards",
    "show_space",
    "show_spread",
    "show_storage",
    "show_sums",
    "show_timeline",
    "show_values",
    "show_versions",
    "show_walk",
    "show_windows",
    "trial_losses",
]

__getattr__ = loading(
    globals(),
    {
        "LoaderPlan": "course.simulators.loader",  # what the loader's timeline is drawn from
        "Picture": "course.figures.picture",
        "compare_storage": "course.figures.storage",
        "draw_nothing": "course.figures.picture",
        "not_drawn": "course.figures.picture",
        "run_loader": "course.simulators.loader",
        "show_arrivals": "course.figures.search",
        "show_batches": "course.figures.loading",
        "show_bits": "course.figures.dtypes",
        "show_broadcast": "course.figures.indexing",
        "show_curves": "course.figures.curves",
        "show_draws": "course.figures.loading",
        "show_drift": "course.figures.transfer",
        "show_einsum": "course.figures.einsum",
        "show_epochs": "course.figures.epochs",
        "show_file": "course.figures.checkpoints",
        "show_floats": "course.figures.floats",
        "show_gradients": "course.figures.training",
        "show_graph": "course.figures.graph",
        "show_grey": "course.figures.dtypes",
        "show_history": "course.figures.search",
        "show_index": "course.figures.indexing",
        "show_joined": "course.figures.indexing",
        "show_loader_timeline": "course.figures.loading",
        "show_loading": "course.figures.transfer",
        "show_means": "course.figures.training",
        "show_modules": "course.figures.modules",
        "show_neighbours": "course.figures.floats",
        "show_padding": "course.figures.loading",
        "show_photos": "course.figures.photos",
        "show_pieces": "course.figures.indexing",
        "show_pixels": "course.figures.pixels",
        "show_promotion": "course.figures.dtypes",
        "show_ranks": "course.figures.ranks",
        "show_recorded": "course.figures.memory",
        "show_resize": "course.figures.layers",
        "show_ring": "course.figures.ranks",
        "show_rungs": "course.figures.search",
        "show_running": "course.figures.layers",
        "show_sampler": "course.figures.sampler",
        "show_segments": "course.figures.memory",
        "show_shapes": "course.figures.modules",
        "show_shards": "course.figures.ranks",
        "show_space": "course.figures.search",
        "show_spread": "course.figures.modules",
        "show_storage": "course.figures.storage",
        "show_sums": "course.figures.floats",
        "show_timeline": "course.figures.memory",
        "show_values": "course.figures.floats",
        "show_versions": "course.figures.versions",
        "show_walk": "course.figures.storage",
        "show_windows": "course.figures.layers",
        "trial_losses": "course.simulators.trials",  # what a search by halving compares
    },
)
