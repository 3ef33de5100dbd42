"""What processes load before they fork, so that no submission pays for it."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING

import torch
from torch.overrides import resolve_name

if TYPE_CHECKING:
    from autograder.engine.student.trusted_modules import Trusted

# What every set-up cell imports; a lesson's other modules are loaded when it is first graded.
_OFFERED = (
    "course",
    "course.claims.quiz",
    "course.figures.picture",
    "course.inspection.facts",
    "course.practice.task",
    "course.probes.decorator",
    "course.testing.checks",
    "torch.utils.data",
)


def load_offered() -> None:
    """Import what all notebooks import; the course's own figures will not be drawn here."""
    load_modules(_OFFERED)
    import_module("course.claims").claims()  # read once here, or in every submission
    import_module("course.figures.picture").draw_nothing()


def load_modules(names: Iterable[str]) -> None:
    """Import modules, or what a package imports when asked for a name, for this process's forks."""
    for name in names:
        # A lesson that needs what cannot be imported will say so itself.
        with suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                import_module(name)
            except ModuleNotFoundError:
                package, _, last = name.rpartition(".")
                getattr(import_module(package), last)


def warm_up_torch() -> None:
    """Fill what torch fills at first use; no operator runs."""
    resolve_name(torch.Tensor.reshape)  # 17 ms: a table of all functions that can be overridden
    torch.manual_seed(torch.initial_seed())  # 5 ms: reads the sources named in a stack trace


def warm_up_recording(trusted: Trusted) -> None:
    """Record a call that does nothing: a process's first takes 2 ms more than the others.

    Each snapshot would spend them anew.
    """
    trusted.get("course.inspection.operator_notes", "operators_of_torch")()
    monitor = trusted.get("course.testing.recording", "Monitor")(
        profiler=trusted.capabilities.profiler
    )
    usual = trusted.get("course.testing.recording", "USUAL")
    run = trusted.get("course.testing.recording", "run_recorded")
    run(lambda: None, known=set(), options=usual, monitor=monitor)
