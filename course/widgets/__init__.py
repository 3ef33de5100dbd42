"""Widgets over the figures. Where no widget can live, each shows a static figure instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course.lazy import loading

if TYPE_CHECKING:
    from course.widgets.autograd.versions import explore_versions
    from course.widgets.checkpoints import explore_checkpoints
    from course.widgets.dtypes import explore_bits, explore_promotion
    from course.widgets.einsum import explore_einsum
    from course.widgets.front_end import widgets_alive
    from course.widgets.graph import explore_graph
    from course.widgets.indexing.selection import explore_index
    from course.widgets.layers import explore_windows
    from course.widgets.loader import explore_loader
    from course.widgets.memory import explore_memory
    from course.widgets.modules import explore_modules
    from course.widgets.ranks import explore_ranks
    from course.widgets.sampler import explore_sampler
    from course.widgets.search import explore_halving
    from course.widgets.storage import explore_strides
    from course.widgets.strides.walk import explore_walk
    from course.widgets.training import explore_training
    from course.widgets.transfer import explore_freezing

__all__ = [
    "explore_bits",
    "explore_checkpoints",
    "explore_einsum",
    "explore_freezing",
    "explore_graph",
    "explore_halving",
    "explore_index",
    "explore_loader",
    "explore_memory",
    "explore_modules",
    "explore_promotion",
    "explore_ranks",
    "explore_sampler",
    "explore_strides",
    "explore_training",
    "explore_versions",
    "explore_walk",
    "explore_windows",
    "widgets_alive",
]

__getattr__ = loading(
    globals(),
    {
        "explore_bits": "course.widgets.dtypes",
        "explore_checkpoints": "course.widgets.checkpoints",
        "explore_einsum": "course.widgets.einsum",
        "explore_freezing": "course.widgets.transfer",
        "explore_graph": "course.widgets.graph",
        "explore_halving": "course.widgets.search",
        "explore_index": "course.widgets.indexing.selection",
        "explore_loader": "course.widgets.loader",
        "explore_memory": "course.widgets.memory",
        "explore_modules": "course.widgets.modules",
        "explore_promotion": "course.widgets.dtypes",
        "explore_ranks": "course.widgets.ranks",
        "explore_sampler": "course.widgets.sampler",
        "explore_strides": "course.widgets.storage",
        "explore_training": "course.widgets.training",
        "explore_versions": "course.widgets.autograd.versions",
        "explore_walk": "course.widgets.strides.walk",
        "explore_windows": "course.widgets.layers",
        "widgets_alive": "course.widgets.front_end",
    },
)
