"""The version of the gradebook's tables, for which nbgrader starts a program when it makes some."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import nbgrader.api
from alembic.script import ScriptDirectory
from nbgrader.dbutil import ALEMBIC_DIR


@contextlib.contextmanager
def table_version_in_process() -> Iterator[None]:
    """Let nbgrader learn the version of its tables in this process, not from a program: 1 s."""
    theirs = nbgrader.api.get_alembic_version
    nbgrader.api.get_alembic_version = lambda: str(ScriptDirectory(ALEMBIC_DIR).get_current_head())
    try:
        yield
    finally:
        nbgrader.api.get_alembic_version = theirs
