"""Copies of the course's measuring modules that no learner's code has a name for.

A notebook may replace `course.facts.facts` or any other name of the package; what it reaches by
`import course` is a second set of modules.  The first set, loaded before, measures.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

import torch
from torch.overrides import resolve_name

# What serves a request, and what a set-up cell is likely to import.
_MEASURING = ("course.answers", "course.probes", "course.observe", "course.wire")
_OFFERED = (
    "course",
    "course.checks",
    "course.probes",
    "course.figures",
    "course.figures.storage",
    "course.quiz",
    "course.widgets",
    "course.widgets.storage",
)


@dataclass(frozen=True)
class Trusted:
    """The measuring modules by name, out of `sys.modules`."""

    modules: dict[str, ModuleType]

    def get(self, module: str, name: str) -> Any:
        """The object `name` of one of the modules; raises LookupError where it is not there."""
        found = getattr(self.modules.get(module), name, None)
        if found is None:
            raise LookupError(f"there is no {module}.{name}")
        return found


def load_trusted() -> Trusted:
    """Load the course twice: the modules that measure, and those that a notebook imports."""
    for name in _MEASURING:
        import_module(name)
    mine = {name: sys.modules.pop(name) for name in list(sys.modules) if _is_course(name)}
    load_offered()
    return Trusted(mine)


def load_offered() -> None:
    """Import what set-up cells import; the course's own figures will not be drawn here."""
    for name in _OFFERED:
        with suppress(ImportError):  # a lesson that needs it will say so
            import_module(name)
    import_module("course.figures").draw_nothing()


def warm_up_torch() -> None:
    """Load and fill what torch loads and fills at first use; no operator runs."""
    import_module("torch._dynamo")  # 0.9 s: the first optimizer of a process imports it
    resolve_name(torch.Tensor.reshape)  # 17 ms: a table of all functions that can be overridden
    torch.manual_seed(torch.initial_seed())  # 5 ms: reads the sources named in a stack trace


def _is_course(name: str) -> bool:
    return name == "course" or name.startswith("course.")
