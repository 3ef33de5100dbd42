"""What the grader sets in its own process: whose programs are found."""

from __future__ import annotations

import os
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
