"""Grades as text: a table for a person, JSON lines for a program."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from autograder.console import json_text, plain, plain_lines, points, quantity, say, terminal
from autograder.records.model import UNJUDGED, Status, SubmissionRecord
from autograder.reporting.statistics import share
from autograder.reporting.status_texts import counts, is_unread

if TYPE_CHECKING:
    from rich.table import Table

_NAMED = 20  # in the line of those who need you
_REASON_CHARS, _NAME_CHARS, _FEW_CHARS = 90, 40, 8
_COLUMNS = ("student", "lesson", "status", "score", "max", "waiting", "seconds")
_NUMBERS = ("score", "max", "waiting", "seconds")


@dataclass(frozen=True)
class Standing:
    """What counts of a submission: points by hand are in it, and late penalties are off.

    `score` is None where nothing was judged; `waiting` are the points of `unread` answers and
    tasks that a person has yet to mark.
    """

    score: float | None
    waiting: float
    unread: int


Standings = Mapping[tuple[str, str], Standing]
"""(lesson, student) → what counts, as the gradebook has it."""


def standing_of(record: SubmissionRecord) -> Standing:
    """What counts as far as the record itself tells: nothing that a person did is in it."""
    unread = [one for one in record.exercises if is_unread(one)]
    score = record.score if counts(record) else None
    return Standing(score, sum(one.max for one in unread), len(unread))


def print_grades(
    records: Iterable[SubmissionRecord], stream: TextIO, standings: Standings | None = None
) -> None:
    """Print `grades_table`: fitted to the width of a terminal, else as plain text."""
    records = tuple(records)
    if not stream.isatty():
        say(grades_table(records, standings), file=stream)
        return
    console = terminal(stream)
    table = _table(records, standings or {}, console.width)
    console.print(table, "", summary(records, standings), *needing_you(records), sep="\n")


def grades_table(records: Iterable[SubmissionRecord], standings: Standings | None = None) -> str:
    """Student, lesson, status and points of each submission, what became of all, who needs you.

    Args:
        records: A line each.
        standings: What the gradebook says of them; a record that is not in it speaks for itself.
    """
    records = tuple(records)
    lines = plain_lines(_table(records, standings or {}))
    return "\n".join([*lines, "", summary(records, standings), *needing_you(records)])


def _standing(record: SubmissionRecord, standings: Standings) -> Standing:
    return standings.get((record.lesson, record.student)) or standing_of(record)


def _table(
    records: Sequence[SubmissionRecord], standings: Standings, width: int | None = None
) -> Table:
    """The table of grades; where `width` columns are too few for it, without what matters least."""
    from rich.table import Table
    from rich.text import Text

    rows = [_row(one, _standing(one, standings)) for one in records]
    shown = _fitting(rows, width)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for at in shown:
        name, right = _COLUMNS[at], _COLUMNS[at] in _NUMBERS
        table.add_column(
            name, justify="right" if right else "left", no_wrap=at > 0, overflow="fold"
        )
    for record, row in zip(records, rows, strict=True):
        style = "" if record.status is Status.GRADED else "yellow"
        table.add_row(*(Text(row[at]) for at in shown), style=style)
    return table


def _fitting(rows: Sequence[Sequence[str]], width: int | None) -> list[int]:
    """The columns that fit beside a name of a few letters, which can go on in the next line."""
    needs = [max(map(len, column)) + 2 for column in zip(_COLUMNS, *rows, strict=True)]
    waits = _COLUMNS.index("waiting")
    shown = [at for at in range(len(_COLUMNS)) if at != waits or any(row[at] for row in rows)]
    for least in map(_COLUMNS.index, ("seconds", "max", "lesson")):
        if width is None or _FEW_CHARS + sum(needs[at] for at in shown[1:]) <= width:
            break
        shown.remove(least)
    return shown


def needing_you(records: Sequence[SubmissionRecord]) -> list[str]:
    """One line that names whose submission a person has to look at, and why; none for nobody."""
    found = [one for one in records if one.status is not Status.GRADED]
    if not found:
        return []
    several = len({one.lesson for one in records}) > 1
    reasons = [_reason(one, several) for one in found[:_NAMED]]
    more = f" · and {len(found) - _NAMED} more, see `autograder report`"
    verb = "needs" if len(found) == 1 else "need"
    return [f"{len(found)} {verb} you: {' · '.join(reasons)}{more if len(found) > _NAMED else ''}"]


def _reason(record: SubmissionRecord, several: bool) -> str:
    """`ada (missing: 04-memory-layout.ipynb is not in the submission)`."""
    # Notes about repairs and names come first; what the status comes from is said last.
    own = [one.notes[0] for one in record.exercises if one.status is record.status and one.notes]
    why = (own or record.notes[-1:] or [""])[0]
    first = plain(why.split("\n")[0]).removesuffix(".")
    short = _cut(first, _REASON_CHARS)
    lesson = f", {record.lesson}" if several else ""
    return f"{_name(record)}{lesson} ({record.status}{': ' if short else ''}{short})"


def summary(records: Sequence[SubmissionRecord], standings: Standings | None = None) -> str:
    """One line: how many submissions, how many of each status, the mean of those judged.

    Args:
        records: Of the whole table.
        standings: As `grades_table` takes them.
    """
    found = {status: sum(one.status is status for one in records) for status in Status}
    counts = ", ".join(f"{count} {status}" for status, count in found.items() if count)
    shares = [share(one) for one in records if one.status not in UNJUDGED and one.max]
    mean = f" · mean {100 * sum(shares) / len(shares):.0f} %" if shares else ""
    found_unread = [_standing(one, standings or {}) for one in records]
    words, waiting = sum(s.unread for s in found_unread), sum(s.waiting for s in found_unread)
    unread = f" · to be read by a person: {words} ({quantity(waiting, 'point')})" if words else ""
    count = f"{len(records)} submission{'' if len(records) == 1 else 's'}"
    return f"{count}: {counts or 'none'}{mean}{unread}"


def grades_json(records: Iterable[SubmissionRecord], standings: Standings | None = None) -> str:
    """The records in the form that `grade --json` prints, as one JSON list.

    Args:
        records: An object each.
        standings: As `grades_table` takes them.

    Returns:
        Text: an object a submission with student, lesson, status, score and max in points, the
        points that wait for a person, wall seconds, and its exercises with the checks that failed.
    """
    found = []
    for one in records:
        counted = _standing(one, standings or {})
        about = {"score": counted.score or 0.0, "waiting": counted.waiting}
        found.append({**one.summary(), **about})
    return json_text(found)


def _row(record: SubmissionRecord, counted: Standing) -> tuple[str, ...]:
    # A bare 0 would say that the answers were judged wrong; where nothing was judged, a dash.
    score = "–" if counted.score is None else points(counted.score)
    seconds = f"{record.seconds:.2f}"
    return (
        _name(record),
        record.lesson,
        str(record.status),
        score,
        points(record.max),
        points(counted.waiting) if counted.waiting else "",
        seconds,
    )


def _name(record: SubmissionRecord) -> str:
    return _cut(plain(record.student), _NAME_CHARS)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"
