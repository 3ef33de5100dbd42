"""A gradebook taken out as a file, and put back.

Of SQLite it is a consistent copy of the file, through SQLite's own interface: nobody need close
the gradebook for it.  Of any other database it is every row of nbgrader's tables, read in one
transaction, as JSON: students, due dates and extensions, points of the grader and by hand, extra
credit, flags, and comments.  Neither needs a program of the database, such as pg_dump.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import nbgrader.api
from sqlalchemy import Connection, Engine, Interval, Table, create_engine, inspect, text
from sqlalchemy.exc import DatabaseError, OperationalError

from autograder.course_directory import CourseDirectory
from autograder.nbgrader_bridge.database_address import database_file
from autograder.nbgrader_bridge.gradebook import GradebookWriter
from autograder.nbgrader_bridge.gradebook_errors import GradebookError, explained

COPY_NAMES = {".db": "gradebook.db", ".json": "gradebook.json"}
_TABLES: tuple[Table, ...] = tuple(nbgrader.api.Base.metadata.sorted_tables)
_WAIT_S = 10.0


def copy_of(course: CourseDirectory, folder: Path) -> Path | None:
    """The gradebook's copy in `folder`; None where there is no gradebook yet."""
    with explained(course), _sqlite_explained():
        path = database_file(course)
        if path is not None:
            return _copied(path, folder / "gradebook.db") if path.is_file() else None
        with _engine(course.db_url) as engine:
            if not inspect(engine).has_table(_TABLES[0].name):
                return None
            target = folder / "gradebook.json"
            target.write_text(json.dumps(_rows_of(engine), allow_nan=False), encoding="utf-8")
            return target


def described(copy: Path) -> str:
    """What a copy holds, in words."""
    try:
        rows = _read(copy)["rows"]
    except OperationalError:  # a table or column that this nbgrader expects is not there
        return "of another version of nbgrader"
    by_hand = sum(row["manual_score"] is not None for row in rows["grade"])
    comments = sum(bool(row["manual_comment"]) for row in rows["comment"])
    submissions = len(rows["submitted_assignment"])
    return f"{submissions} submissions, {by_hand} points and {comments} comments by hand"


def put_back(course: CourseDirectory, copy: Path) -> None:
    """Make the gradebook of `course` what `copy` holds: all of it, or nothing changes."""
    path = database_file(course)
    _refuse_others(course, copy)
    if path is not None and copy.suffix == ".db":
        with explained(course), _sqlite_explained():
            _into(copy, path)
        return
    data = _read(copy)
    GradebookWriter(course).close()  # makes the tables where there are none
    with explained(course), _engine(course.db_url) as engine, engine.begin() as connection:
        _replace(connection, data)


def is_used(course: CourseDirectory) -> bool:
    """Whether the gradebook knows a student or an assignment; raises where it is damaged."""
    return any(_ids(course, table) for table in ("student", "assignment"))


def _refuse_others(course: CourseDirectory, copy: Path) -> None:
    """Raise where the database holds courses that the copy would take away."""
    others = _ids(course, "course") - {row["id"] for row in _read(copy)["rows"]["course"]}
    if _ids(course, "assignment") and others - {course.course_id}:
        raise GradebookError(
            f"the database also holds the course {min(others - {course.course_id})}, of which the "
            "backup knows nothing",
            place=course.course_id,
            remedy="Restore into a database of its own: --db URL.",
        )


def _ids(course: CourseDirectory, table: str) -> set[str]:
    path = database_file(course)
    if path is not None and not path.is_file():
        return set()
    with explained(course), _engine(course.db_url) as engine:
        if not inspect(engine).has_table(table):
            return set()
        with engine.connect() as connection:
            return {str(row[0]) for row in connection.execute(text(f"SELECT id FROM {table}"))}


def _copied(source: Path, target: Path) -> Path:
    with _sqlite(source) as theirs, _sqlite(target) as ours:
        theirs.backup(ours, progress=_patient())
        (found,) = ours.execute("PRAGMA integrity_check").fetchone()
        if found != "ok":
            raise sqlite3.DatabaseError("database disk image is malformed")
    return target


def _into(copy: Path, path: Path) -> None:
    """Write `copy` over the database at `path`, for those too who have it open."""
    if path.is_file():
        with _sqlite(copy) as ours, _sqlite(path) as theirs:
            ours.backup(theirs, progress=_patient())  # one transaction of SQLite
        return
    unfinished = path.with_name(f".{path.name}.part")
    unfinished.write_bytes(copy.read_bytes())
    os.replace(unfinished, path)


def _patient() -> Callable[[int, int, int], None]:
    """Ends a copy that another program keeps waiting; Python itself would wait for ever."""
    until = time.monotonic() + _WAIT_S

    def told(status: int, *_: int) -> None:
        if status in _LOCKED and time.monotonic() > until:
            raise sqlite3.OperationalError("database is locked")

    return told


_LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


@contextlib.contextmanager
def _sqlite(path: Path) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(sqlite3.connect(path, timeout=_WAIT_S)) as connection:
        yield connection


@contextlib.contextmanager
def _sqlite_explained() -> Iterator[None]:
    """Let `explained` know an error of SQLite that did not come through SQLAlchemy."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise OperationalError("backup", {}, error) from error
    except sqlite3.DatabaseError as error:
        raise DatabaseError("backup", {}, error) from error


@contextlib.contextmanager
def _engine(url: str) -> Iterator[Engine]:
    engine = create_engine(url)
    try:
        yield engine
    finally:
        engine.dispose()


def _read(copy: Path) -> dict[str, Any]:
    if copy.suffix == ".json":
        return dict(json.loads(copy.read_text(encoding="utf-8")))
    with _engine(f"sqlite:///{copy}") as engine:
        return _rows_of(engine)


def _rows_of(engine: Engine) -> dict[str, Any]:
    """Every row of nbgrader's tables at one moment, and the version of the tables."""
    level = "SERIALIZABLE" if engine.dialect.name == "sqlite" else "REPEATABLE READ"
    with engine.connect().execution_options(isolation_level=level) as connection:
        rows = {
            table.name: [_plain(row) for row in connection.execute(table.select()).mappings()]
            for table in _TABLES
        }
        return {"version": _version(connection), "rows": rows}


def _replace(connection: Connection, data: Mapping[str, Any]) -> None:
    have = _version(connection)
    if have != data["version"]:
        cause = f"its tables are of version {have}, those of the backup of {data['version']}"
        raise OperationalError("restore", {}, Exception(f"no such column: {cause}"))
    for table in reversed(_TABLES):
        connection.execute(table.delete())
    for table in _TABLES:
        rows = [_typed(table, row) for row in data["rows"][table.name]]
        if rows:
            connection.execute(table.insert(), rows)


def _version(connection: Connection) -> str | None:
    row = connection.execute(text("SELECT version_num FROM alembic_version")).first()
    return str(row[0]) if row else None


def _plain(row: Mapping[Any, Any]) -> dict[str, Any]:
    return {str(name): _as_json(value) for name, value in row.items()}


def _as_json(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    return value.total_seconds() if isinstance(value, timedelta) else value


def _typed(table: Table, row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _of_type(table, name, value) for name, value in row.items()}


def _of_type(table: Table, name: str, value: Any) -> object:
    kind = table.columns[name].type
    if value is None:
        return None
    if isinstance(kind, Interval):
        return timedelta(seconds=value)
    return datetime.fromisoformat(value) if kind.python_type is datetime else value
