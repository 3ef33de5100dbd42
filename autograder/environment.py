"""What the grader sets in its own process: whose programs are found, and with whom it ends."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path


def own_programs_first() -> None:
    """Put this Python's programs at the front of PATH; nothing changes when they are there.

    nbgrader starts `alembic` by its bare name.  In a virtual environment that is not activated,
    the name is not found, or belongs to another environment.
    """
    own = str(Path(sys.executable).parent)
    path = os.environ.get("PATH", "")
    if path.split(os.pathsep)[:1] != [own]:
        os.environ["PATH"] = os.pathsep.join([own, *filter(None, [path])])


def end_with_parent(parent: int, how: int = signal.SIGTERM) -> None:
    """Have this process get signal `how` when the one that started it ends, however that ends.

    Where the system offers no such thing, nothing happens.

    Args:
        parent: The process that started this one; where it has ended already, so does this one.
        how: A signal; SIGTERM leaves time to end others.
    """
    if sys.platform == "linux":
        from autograder.linux import die_with_parent

        die_with_parent(parent, how)


def adopt_orphans() -> None:
    """Become the parent of what processes below this one leave behind, where the system can."""
    if sys.platform == "linux":
        from autograder import linux

        linux.adopt_orphans()
