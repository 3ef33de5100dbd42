"""A sheet to mark one question on: a CSV file that any spreadsheet opens, written and read.

answer_id, points, comment     whose id it is nobody can tell; the last two are to be filled in
answer, max                    what the learner wrote, and the points of the question
lesson, question, version      where it belongs, and which version of the answer was read
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from autograder.console import points as written_points
from autograder.errors import AutograderError
from autograder.reporting.export_csv import inert
from autograder.submissions.class_list import delimiter_of

COLUMNS = ("answer_id", "points", "comment", "answer", "max", "lesson", "question", "version")
_NEEDED = frozenset(COLUMNS) - {"answer", "max"}
_CELL_CHARS = 30_000  # a spreadsheet's cell takes 32,767
# Where programs end a cell that are set to part them by semicolons or tabs, as in many countries:
# the quotes around the whole of it mean nothing then.
_ENDS_CELL = re.compile(r"([\n\t;\x85\u2028\u2029])")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


class SheetError(AutograderError):
    """A file that is no marking sheet."""


@dataclass(frozen=True)
class SheetLine:
    """One answer of a sheet; `points` is what stands there, read by `read_points`."""

    number: int  # in the file, counted from 1
    answer_id: str
    points: str
    comment: str
    lesson: str
    question: str
    version: str

    @property
    def is_blank(self) -> bool:
        """Whether nobody has filled it in."""
        return not self.points and not self.comment


def sheet(rows: Iterable[tuple[str, ...]]) -> bytes:
    """The file with these rows, in the order of `COLUMNS`."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    writer.writerows(map(_written, rows))
    return buffer.getvalue().encode("utf-8-sig", "replace")  # Excel asks for the mark


def read_sheet(path: Path) -> list[SheetLine]:
    """The lines of a sheet as a spreadsheet saved it; raises `SheetError` where it is none."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise SheetError(f"cannot be read: {error.strerror}", place=str(path)) from error
    except UnicodeDecodeError as error:
        raise SheetError(
            "is not UTF-8",
            place=str(path),
            remedy="Save it as “CSV UTF-8”; in LibreOffice choose the character set UTF-8.",
        ) from error
    delimiter = delimiter_of(text)
    try:
        reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        rows = [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        raise SheetError(
            f"cannot be read as CSV: {error}", place=str(path), remedy="Save it as CSV again."
        ) from error
    missing = sorted(_NEEDED - set(reader.fieldnames or ()))
    if missing:
        raise SheetError(
            f"is no marking sheet: it has no column {', '.join(missing)}",
            place=str(path),
            remedy="Fill in a file that `autograder export --questions` wrote; keep its columns.",
        )
    return [_line(number, row) for number, row in rows if any(map(str, row.values()))]


def read_points(text: str, most: float) -> float | str:
    """The points that `text` gives, or the reason why it gives none.

    >>> read_points("1,5", 3), read_points("4", 3), read_points("two", 3)
    (1.5, '4 is more than the 3 points of the question', "'two' is no number")
    """
    decimal = text.replace(",", ".") if text.count(",") == 1 and "." not in text else text
    try:
        value = float(decimal) if re.fullmatch(r"[+-]?[\d.]+", decimal) else math.nan
    except ValueError:
        value = math.nan
    if math.isnan(value):
        return f"'{text}' is no number"
    if value < 0:
        return f"{text} is less than 0"
    if value > most:
        return f"{text} is more than the {written_points(most)} points of the question"
    return value


def guarded(cell: str) -> str:
    """`cell` so that no spreadsheet takes it for a formula, and `unguarded` gives it back."""
    return f"'{cell}" if _needs_guard(cell) else cell


def unguarded(cell: str) -> str:
    """What `guarded` was given.

    >>> [unguarded(guarded(one)) for one in ("=1+1", "'=1", "'tis", "- a list", "-", "")]
    ['=1+1', "'=1", "'tis", '- a list', '-', '']
    """
    return cell[1:] if cell[:1] == "'" and _needs_guard(cell[1:]) else cell


def _written(row: tuple[str, ...]) -> list[str]:
    cells = dict(zip(COLUMNS, map(_plain, row), strict=True))
    cells["answer"] = _short(_guarded_throughout(cells["answer"]))
    return [guarded(cell) for cell in cells.values()]


def _guarded_throughout(answer: str) -> str:
    r"""An answer no part of which is a formula either; nobody reads it back.

    >>> _guarded_throughout('It copies;=1+1;"=2"\n- a list; x=1')
    'It copies;\'=1+1;\'"=2"\n\'- a list; x=1'
    """
    parts = _ENDS_CELL.split(answer)  # a mark stands between any two
    guards = [at and at % 2 == 0 and _needs_guard(one.lstrip('"')) for at, one in enumerate(parts)]
    return "".join(f"'{one}" if guard else one for one, guard in zip(parts, guards, strict=True))


def _needs_guard(cell: str) -> bool:
    bare = cell.lstrip("'")
    return inert(bare) != bare


def _plain(cell: str) -> str:
    return _short(_CONTROL.sub(" ", cell.replace("\r\n", "\n").replace("\r", "\n")))


def _short(cell: str) -> str:
    if len(cell) <= _CELL_CHARS:
        return cell
    return f"{cell[:_CELL_CHARS]}\n… ({len(cell) - _CELL_CHARS} more characters; see the page)"


def _line(number: int, row: dict[str, str | None]) -> SheetLine:
    cells = {name: unguarded((row.get(name) or "").strip()) for name in _NEEDED}
    cells["comment"] = cells["comment"].replace("\r\n", "\n").replace("\r", "\n")
    return SheetLine(number=number, **cells)
