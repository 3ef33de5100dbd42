"""A gradebook whose file is broken: how that is known, and the way out of it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy.exc import DatabaseError

from autograder.course_directory import CourseDirectory
from autograder.grading.database_address import database_file
from autograder.records.journal import Journal

RESTORE = (
    "Bring back your last backup: `autograder backup --restore FILE --force`. Without one, move "
    "the file away and run `autograder grade`: the journal brings back what was graded by machine; "
    "points and comments by hand, due dates and extensions are lost, unless the file can be mended."
)
_SIGNS = ("not a database", "is malformed", "malformed database schema", "(0 bytes)")


def is_damaged(error: Exception) -> bool:
    """Whether the database file itself is broken: what it held has to come from elsewhere."""
    return any(sign in str(error).lower() for sign in _SIGNS)


@contextlib.contextmanager
def never_empty(course: CourseDirectory) -> Iterator[None]:
    """Refuse a gradebook that lost all its bytes, which SQLite takes for a new one.

    Filled again from the journal it would look whole, without anybody's points by hand.  A file
    that could not be made, as on a full disk, is not left behind to be mistaken for such a one.
    """
    path = database_file(course)
    if path is not None and _is_empty(path) and any(_records(course)):
        cause = "the file is empty (0 bytes), and the journal says that it was not"
        raise DatabaseError("open", {}, Exception(cause))
    new = path is not None and not path.exists()
    try:
        yield
    finally:
        if new and path is not None and _is_empty(path):
            path.unlink()


def _is_empty(path: Path) -> bool:
    return path.is_file() and path.stat().st_size == 0


def _records(course: CourseDirectory) -> Iterator[Path]:
    found = Journal(course.state).root.glob("*/*.json")
    return (path for path in found if not path.name.startswith("."))
