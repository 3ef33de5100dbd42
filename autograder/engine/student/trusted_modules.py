"""Copies of the measuring modules that no learner's code has a name for.

A notebook may replace `course.inspection.facts.facts`, `len`, or any other name it can reach;
what it reaches by `import course` and `import builtins` is a second set.  The first set, loaded
before, measures: modules that are not in `sys.modules`, whose functions look names up in each
other and in built-ins of their own.
"""

from __future__ import annotations

import builtins
import gc
import inspect
import os
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import find_spec
from pkgutil import walk_packages
from types import ModuleType
from typing import Any

from autograder.engine.loaded_ahead import load_offered
from autograder.engine.student.capabilities import Capabilities
from autograder.engine.student.frozen_modules import FrozenModule, freeze

_MEASURING = (
    "course.testing.answers",
    "course.testing.observe",
    "course.serialization",
)  # and all probes
# Those that serve and record; a probe may well replace a function of torch while it looks.
_CORE = ("course.testing", "course.serialization", "course.inspection", "autograder.")
_SERVING = (
    "autograder.engine.student.student_process",
    "autograder.engine.protocol.frames",
    "autograder.engine.student.integrity",
    "autograder.engine.student.audit",
    "autograder.engine.student.capabilities",
    "autograder.engine.student.cell_modes",
    "autograder.engine.student.introspection",
    "autograder.engine.student.thread_pools",
    "autograder.engine.student.audit_rules",
)


@dataclass(frozen=True)
class Trusted:
    """The measuring modules, which no learner's code can reach.

    Attributes:
        modules: By name; they are not in `sys.modules`.
        builtins: The built-ins that they use.
        capabilities: What they may ask of the audit hook.
        frozen: The copies of other modules that they use.
    """

    modules: dict[str, ModuleType]
    builtins: dict[str, Any]
    capabilities: Capabilities
    frozen: list[FrozenModule]

    def get(self, module: str, name: str) -> Any:
        """The object `name` of one of the modules; raises LookupError where it is not there."""
        found = getattr(self.modules.get(module), name, None)
        if found is None:
            raise LookupError(f"there is no {module}.{name}")
        return found


def load_trusted() -> Trusted:
    """Load the measuring modules apart, then those that a notebook imports."""
    own = dict(vars(builtins))
    before = _taken_out([name for name in sys.modules if _is_trusted(name)])
    with _own_builtins(own):
        for name in (*_MEASURING, *_probe_modules(), *_SERVING):
            import_module(name)
    mine = _taken_out([name for name in sys.modules if _is_trusted(name)])
    sys.modules.update(before)
    core = [module for name, module in mine.items() if name.startswith(_CORE)]
    frozen = freeze(core)
    introspection = mine["autograder.engine.student.introspection"]
    inspect.currentframe, inspect.stack = introspection.currentframe, introspection.stack
    gc.get_objects = introspection.get_objects
    capabilities = _install_audit(mine)
    load_offered()
    return Trusted(mine, own, capabilities, frozen)


def _install_audit(modules: dict[str, ModuleType]) -> Capabilities:
    """Hide what learner code must not reach; after this the modules have no name for it."""
    operators = modules["course.inspection.operators"]
    counting_started = modules["course.inspection.concurrency"].counting_started
    with counting_started():  # adds a hook, which the one below would not let in
        pass
    sessions = operators.Sessions(operators.torchs_profiler())
    operators.PROFILER._profiler = None
    audit = modules.pop("autograder.engine.student.audit")
    return audit.install(sessions, trusted=modules.values(), libraries=_LIBRARIES)


def _folder_of(package: str) -> str:
    """Where a package lies; it is not imported."""
    spec = find_spec(package)
    assert spec is not None and spec.submodule_search_locations is not None
    return spec.submodule_search_locations[0]


# Where code comes from that is not the learner's: nobody can write there.
_LIBRARIES = (
    "<frozen ",
    *dict.fromkeys(
        os.path.join(path, "")
        for path in (
            *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
            *(os.path.dirname(_folder_of(name)) for name in ("course", "torch")),
        )
    ),
)


def _probe_modules() -> list[str]:
    """All probes, those that one lesson alone needs included: modules whose name ends in probes."""
    shared, lessons = import_module("course.probes"), import_module("course.lessons")
    return [
        *(found.name for found in walk_packages(shared.__path__, f"{shared.__name__}.")),
        *(
            found.name
            for found in walk_packages(lessons.__path__, f"{lessons.__name__}.")
            if found.name.endswith("probes")
        ),
    ]


def _is_trusted(name: str) -> bool:
    return name == "course" or name.startswith("course.") or name in _SERVING


def _taken_out(names: Iterable[str]) -> dict[str, ModuleType]:
    return {name: sys.modules.pop(name) for name in list(names) if name in sys.modules}


@contextmanager
def _own_builtins(own: dict[str, Any]) -> Iterator[None]:
    """While this lasts, trusted modules are loaded with these built-ins."""
    finder = _Finder(own)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _Finder(MetaPathFinder):
    """Finds trusted modules where they always are, and has them loaded by `_Loader`."""

    def __init__(self, own: dict[str, Any]) -> None:
        self._own = own

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not _is_trusted(fullname):
            return None
        spec = PathFinder.find_spec(fullname, path)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(fullname, spec.loader.path, self._own)
        return spec


class _Loader(SourceFileLoader):
    """Loads a module whose functions look up `len` and the like in a dictionary of their own."""

    def __init__(self, name: str, path: str, own: dict[str, Any]) -> None:
        super().__init__(name, path)
        self._own = own

    def exec_module(self, module: ModuleType) -> None:
        vars(module)["__builtins__"] = self._own
        super().exec_module(module)
