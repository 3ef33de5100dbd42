"""What the notebooks of "PyTorch, measured" import: facts, observations, checks, figures."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from course.inspection.facts import facts, overlap, positions, same_storage
from course.probes import probe
from course.testing.answers import answer
from course.testing.checks import Check
from course.testing.observe import observe

if TYPE_CHECKING:
    from course.claims.quiz import predict
    from course.figures.storage.figure import show_storage
    from course.widgets.storage import explore_strides

__all__ = [
    "Check",
    "answer",
    "explore_strides",
    "facts",
    "observe",
    "overlap",
    "positions",
    "predict",
    "probe",
    "same_storage",
    "show_storage",
]

# Loaded when first asked for: drawing and widgets cost time that grading does not need.
_LATER = {
    "explore_strides": "course.widgets.storage",
    "predict": "course.claims.quiz",
    "show_storage": "course.figures.storage.figure",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'course' has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)
