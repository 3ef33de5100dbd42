"""What the grader sets in its own process: whose programs are found."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
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


@contextlib.contextmanager
def alembic_in_process() -> Iterator[None]:
    """Let nbgrader learn the version of its tables in this process, not from a program: 1 s."""
    import nbgrader.api  # only here: whoever grades without a gradebook does not wait for it
    from alembic.script import ScriptDirectory
    from nbgrader.dbutil import ALEMBIC_DIR

    theirs = nbgrader.api.get_alembic_version
    nbgrader.api.get_alembic_version = lambda: str(ScriptDirectory(ALEMBIC_DIR).get_current_head())
    try:
        yield
    finally:
        nbgrader.api.get_alembic_version = theirs
