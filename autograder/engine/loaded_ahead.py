"""What processes load before they fork, so that no submission pays for it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from importlib import import_module
from typing import Any

import torch
from torch.overrides import resolve_name

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


def warm_up_recording(find: Callable[[str, str], Any], profiler: object) -> None:
    """Record a call that does nothing: a process's first takes 2 ms more than the others.

    Each snapshot would spend them anew.

    Args:
        find: Gives an object of a measuring module, by the module's name and its own.
        profiler: The operator log.
    """
    find("course.inspection.operator_notes", "operators_of_torch")()
    monitor = find("course.testing.recording", "Monitor")(profiler=profiler)
    usual = find("course.testing.recording", "USUAL")
    run = find("course.testing.recording", "run_recorded")
    run(lambda: None, known=set(), options=usual, monitor=monitor)
