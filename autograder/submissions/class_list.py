"""`students.csv`: who is in the class, and who has more time for a lesson.

A column `extension_04` or `extension_04-memory-layout` holds the learners' extensions for that
lesson, such as `2 days` or `1 week 12 hours`; an empty cell means none.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from autograder.errors import AutograderError, did_you_mean

ROSTER = "students.csv"
_EXTENSION = "extension_"
_SPAN = re.compile(r"(\d+(?:\.\d+)?) *(weeks?|w|days?|d|hours?|h|minutes?|min)\b[ ,]*", re.I)
_UNITS = {"w": "weeks", "d": "days", "h": "hours", "m": "minutes"}
_LONGEST = timedelta(weeks=520)  # ten years; far longer ones end no calendar holds

Extensions = Mapping[str, timedelta | None]
"""Student → more time than the others have; None where the roster gives none."""


@dataclass(frozen=True)
class Student:
    """One student of the course."""

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_user_id: str = ""


class RosterError(AutograderError):
    """A list of students cannot be read."""


def read_table(path: Path) -> list[dict[str, str]]:
    """The lines of a CSV file by its headings; commas, semicolons or tabs part its cells.

    Raises:
        RosterError: It cannot be read, or is no CSV in UTF-8.
    """
    return rows_of(read_text(path), path)


def read_text(path: Path) -> str:
    """The text of a CSV file.

    Raises:
        RosterError: It cannot be read, or is not in UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(path, error) from error


def rows_of(text: str, path: Path) -> list[dict[str, str]]:
    """The lines of a CSV text by its headings; `path` is where it is from.

    A cell may be of any length: Moodle's worksheet has one with what a learner has typed.

    Raises:
        RosterError: It is no CSV.
    """
    longest = csv.field_size_limit()
    try:
        csv.field_size_limit(max(longest, len(text)))
        named = re.match(r"sep=(.)\r?\n", text)  # Excel's own line
        text = text[named.end() :] if named else text
        delimiter = named[1] if named else delimiter_of(text)
        rows = list(csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter))
    except csv.Error as error:
        raise _unreadable(path, error) from error
    finally:
        csv.field_size_limit(longest)
    return [{str(k).strip(): str(v or "").strip() for k, v in row.items() if k} for row in rows]


def _unreadable(path: Path, error: Exception) -> RosterError:
    return RosterError(
        f"cannot be read: {getattr(error, 'strerror', None) or error}",
        place=str(path),
        remedy="Save it as CSV in UTF-8.",
    )


def delimiter_of(text: str) -> str:
    """What parts the cells of a CSV text: a comma, semicolon or tab, as its headings tell.

    Args:
        text: Begins with the line of the headings.
    """
    heading = text.partition("\n")[0]
    return max(",;\t", key=heading.count)


def roster_rows(path: Path) -> list[dict[str, str]]:
    """The lines of the roster at `path` that have an id.

    Raises:
        RosterError: It cannot be read, has no column `id`, has an id that cannot name a directory,
            or has an id in two lines that differ.
    """
    rows = read_table(path)
    if rows and "id" not in rows[0]:
        raise RosterError(
            f"has no column 'id', but {', '.join(rows[0])}",
            place=str(path),
            remedy="Write the headings id, first_name, last_name and email into its first line.",
        )
    found: dict[str, dict[str, str]] = {}
    for row in (row for row in rows if row["id"]):
        _refuse_unusable(row["id"], path)
        if found.setdefault(row["id"], row) != row:
            raise RosterError(
                f"the id '{row['id']}' stands in two lines, which say different things",
                place=str(path),
                remedy="Give one of the two another id, or take the line out that is not right.",
            )
    return list(found.values())


def _refuse_unusable(id_: str, path: Path) -> None:
    if re.search(r"[/\\<>\"\x00-\x1f\x7f-\x9f]|^\.", id_):
        raise RosterError(
            f"'{id_}' cannot be a student's id, as it cannot be a directory's name, or would "
            "act as a tag or a command where it is shown",
            place=str(path),
            remedy="Use letters, digits, hyphens and dots inside.",
        )


def read_students(path: Path) -> list[Student]:
    """The students in the roster at `path`; nobody where there is no such file.

    Raises:
        RosterError: As `roster_rows`.
    """
    if not path.is_file():
        return []
    known = ("first_name", "last_name", "email", "lms_user_id")
    rows = roster_rows(path)
    return [Student(row["id"], **{key: row.get(key, "") for key in known}) for row in rows]


def read_extensions(path: Path, slugs: Iterable[str]) -> dict[str, Extensions]:
    """Lesson → its extensions, for the lessons that have a column in the roster at `path`.

    Raises `RosterError` for a column that names no lesson and a cell that is no span of time: a
    slip there would cost somebody points.
    """
    if not path.is_file():
        return {}
    rows, known = roster_rows(path), tuple(slugs)
    columns = [name for name in (rows[0] if rows else {}) if name.lower().startswith(_EXTENSION)]
    return {
        _lesson_of(name, known, path): {row["id"]: _span(row, name, path) for row in rows}
        for name in columns
    }


def _lesson_of(column: str, slugs: tuple[str, ...], path: Path) -> str:
    word = column[len(_EXTENSION) :].lower()
    for slug in slugs:
        if word in (slug, slug[:2], slug[:2].lstrip("0"), slug[3:]):
            return slug
    raise RosterError(
        f"the column '{column}' names no lesson.{did_you_mean(word, slugs)}",
        place=str(path),
        remedy=f"Write {_EXTENSION} and one of {', '.join(slugs)}, or its number.",
    )


def _span(row: Mapping[str, str], column: str, path: Path) -> timedelta | None:
    """The span of time in a cell.

    >>> _span({"id": "ada", "extension_4": "1 week 12h"}, "extension_4", Path("students.csv"))
    datetime.timedelta(days=7, seconds=43200)
    """
    text = row[column]
    total = _total(_SPAN.findall(text))
    if _SPAN.sub("", text).strip() or total > _LONGEST:
        raise RosterError(
            f"the {column} of {row['id']} is no span of time: '{text}'",
            place=str(path),
            remedy="Write a number and a unit, such as '2 days' or '12 hours'; nothing for none.",
        )
    return total or None


def _total(parts: Iterable[tuple[str, str]]) -> timedelta:
    try:
        spans = (timedelta(**{_UNITS[unit[0].lower()]: float(n)}) for n, unit in parts)
        return sum(spans, timedelta())
    except OverflowError:
        return timedelta.max
