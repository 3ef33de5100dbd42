"""The grading engine: learners' code in a sandbox, test cells in a process of their own.

    EngineRunner (main process)
      └─ torch, course, nbformat loaded once
           ├─ fork → worker, one a core: repairs, supervises, records  worker/
           │    └─ fork → checker: runs the test cells, keeps the score  checker/
           └─ bubblewrap → torch, course, IPython loaded once           sandbox/
                └─ fork → fork server, one a worker                     forkserver/
                     └─ fork → init → student process → snapshots       sandbox/init.py, student/

Importing this package is cheap; torch is loaded in the workers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograder.engine.limits import Limits
    from autograder.engine.runner import EngineRunner

__all__ = ["EngineRunner", "Limits"]


def __getattr__(name: str) -> Any:
    # Lazy: the fork server imports this package inside the sandbox, where the rest of the grader
    # cannot be imported.
    from importlib import import_module

    homes = {"EngineRunner": "autograder.engine.runner", "Limits": "autograder.engine.limits"}
    if name not in homes:
        raise AttributeError(f"module 'autograder.engine' has no attribute {name!r}")
    return getattr(import_module(homes[name]), name)
