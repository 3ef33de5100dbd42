"""Which database holds the grades of a course: one address for every command.

`--db` wins, then nbgrader_config.py, then nbgrader's own default.  `grade` writes the address down,
without its password; a command that would go somewhere else without being told to is refused, so
that nobody gets grades of one gradebook and feedback of another.
"""

from __future__ import annotations

from pathlib import Path

from autograder.course_directory import CourseDirectory
from autograder.errors import UsageError
from autograder.records.journal import write_bytes


class OtherGradebook(UsageError):
    """The command would use another gradebook than the one that holds the grades."""


def check_address(course: CourseDirectory) -> None:
    """Raise `OtherGradebook` where the grades are elsewhere and nobody named this address.

    Raises:
        OtherGradebook: The remedy tells how to use the database with the grades, and how to move.
    """
    grades_in = remembered(course)
    if course.db_named or grades_in is None or grades_in == (asked := address_of(course)):
        return
    there, here = _in_full(course, grades_in), _in_full(course, asked)
    raise OtherGradebook(
        f"the grades of this course are in {there}, and this command would use {here}",
        place=str(course.root),
        remedy=f"Add --db {there}, or write c.CourseDirectory.db_url into nbgrader_config.py, "
        f"which formgrader reads too. To move, say `autograder grade --db {here}` once: what was "
        "graded follows from the journal; points and comments by hand do not.",
    )


def remember_address(course: CourseDirectory) -> None:
    """Write down that the grades of `course` are where it says."""
    if remembered(course) != (address := address_of(course)):
        write_bytes(_note(course), f"{address}\n".encode())


def remembered(course: CourseDirectory) -> str | None:
    """The address that the last `grade` used; None where nobody graded yet."""
    try:
        return _note(course).read_text(encoding="utf-8").strip() or None
    except (OSError, UnicodeDecodeError):
        return None


def address_of(course: CourseDirectory) -> str:
    """The address of the gradebook as it is compared and shown.

    It has no password and no driver; a file in the course directory is named from there, so that
    the directory can be moved.
    """
    from sqlalchemy.engine import (
        URL,
        make_url,
    )  # a fifth of a second; most commands compare nothing
    from sqlalchemy.exc import ArgumentError

    try:
        url = make_url(course.db_url)
    except ArgumentError:
        return course.db_url  # whoever opens it says what is wrong with it
    if url.get_backend_name() != "sqlite":
        about = (url.get_backend_name(), url.username, None, url.host, url.port, url.database)
        return str(URL.create(*about, url.query).difference_update_query(["password"]))
    file = database_file(course)
    if file is None:
        return str(url)
    inside = file.is_relative_to(course.root)
    return f"sqlite:///{file.relative_to(course.root) if inside else file}"


def database_file(course: CourseDirectory) -> Path | None:
    """The file of an SQLite gradebook; None for a server, and where the address names no file."""
    from sqlalchemy.engine import make_url

    url = make_url(course.db_url)
    name = url.database or ""
    if url.get_backend_name() != "sqlite" or not name or name == ":memory:" or "file:" in name:
        return None
    return Path(name).resolve()


def _in_full(course: CourseDirectory, address: str) -> str:
    """`address` as --db takes it, whatever the current directory."""
    kind, name = address.partition("sqlite:///")[1:]
    return f"{kind}{course.root / name}" if kind and ":" not in name else address


def _note(course: CourseDirectory) -> Path:
    return course.state / "gradebook"
