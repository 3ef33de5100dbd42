"""The module names that earlier editions of the notebooks import, for one more release.

A learner may still have last week's edition. Its deep imports find what they ask for where it
stands now, and a warning says that there is a newer edition.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

__all__ = ["MOVED", "redirect"]

# Earlier name -> where it stands now. Only what a released notebook imported.
MOVED = {
    "course.desk": "course.progress.start_page",
    "course.gpu.allocator": "course.gpu.simulator.allocator.caching",
    "course.gpu.snapshot": "course.gpu.simulator.allocator.snapshot",
    "course.loader_model": "course.simulators.loader",
    "course.probes_samplers": "course.probes.loading.samplers",
    "course.probes_workers": "course.probes.loading.workers",
}


def redirect() -> None:
    """From now on, importing an earlier name gives the module of today, with a warning."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.append(_Finder())  # last: asked only for what nobody else has


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in MOVED:
            return None
        warnings.warn(
            f"This notebook is of an earlier edition: `{fullname}` has moved. It still works; "
            "the newest edition of the lesson no longer needs it.",
            FutureWarning,
            stacklevel=2,
        )
        return ModuleSpec(fullname, _Redirect(MOVED[fullname]))


class _Redirect(Loader):
    def __init__(self, name: str) -> None:
        self._name = name

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module of today; it keeps its own name."""
        return import_module(self._name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: it has run already."""
