"""What goes wrong with the gradebook's database, in words that say what to do."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from nbgrader.api import InvalidEntry
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, OperationalError, SQLAlchemyError

from autograder.course_directory import CourseDirectory
from autograder.errors import AutograderError
from autograder.nbgrader_bridge.database_address import database_file
from autograder.records.journal import Journal

RESTORE = (
    "Bring back your last backup: `autograder backup --restore FILE --force`. Without one, move "
    "the file away and run `autograder grade`: the journal brings back what was graded by machine; "
    "points and comments by hand, due dates and extensions are lost, unless the file can be mended."
)
_SIGNS = ("not a database", "is malformed", "malformed database schema", "(0 bytes)")
_KEPT = "Nothing is lost: the journal keeps what was graded, the next `grade` enters it."


class GradebookError(AutograderError):
    """The gradebook cannot be opened, read or written."""


class NoGradebook(GradebookError):
    """There is no gradebook at that address; only `grade` makes one."""


@contextlib.contextmanager
def explained(course: CourseDirectory) -> Iterator[None]:
    """Turn a database's error into one that says what to do; what is graded is in the journal."""
    try:
        yield
    except (SQLAlchemyError, InvalidEntry, ImportError) as error:  # nbgrader hides some in its own
        cause = str(getattr(error, "orig", None) or error).strip().splitlines()
        damaged = is_damaged(error)
        raise GradebookError(
            f"the gradebook refused: {cause[0] if cause else type(error).__name__}",
            place=shown_address(course.db_url),
            remedy=RESTORE if damaged else f"{_remedy(error)} {_KEPT}",
        ) from error


def shown_address(url: str) -> str:
    """The database's address without its password."""
    try:
        return make_url(url).render_as_string(hide_password=True)
    except ArgumentError:
        return url


def _remedy(error: Exception) -> str:
    text = str(error).lower()
    if isinstance(error, ImportError):
        return "Install the database's driver, for PostgreSQL `pip install 'psycopg[binary]'`."
    if isinstance(error, ArgumentError):
        return "Write --db sqlite:///FILE or postgresql://USER@HOST/NAME."
    if "locked" in text:
        return "Another program holds it; close it (formgrader, a database browser)."
    if "disk is full" in text or "disk i/o" in text:
        return "Make room on the disk."
    if "readonly" in text or "read-only" in text or "unable to open" in text:
        return "Give yourself the permission to write to the file and its directory."
    if "no such column" in text or "no such table" in text:
        return "It is of another nbgrader: back it up and run `nbgrader db upgrade`."
    if isinstance(error, OperationalError):
        return "See that the server is running and that the address and the password are right."
    return "See the cause above."


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
