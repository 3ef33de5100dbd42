"""Grades as text: a table for a person, JSON lines for a program."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from autograder.console import plain, points
from autograder.records.model import UNJUDGED, Status, SubmissionRecord
from autograder.reporting.statistics import share
from autograder.reporting.status_texts import counts, is_unread

_NAMED = 20  # in the line of those who need you
_REASON_CHARS, _NAME_CHARS = 90, 40


def grades_table(records: Iterable[SubmissionRecord]) -> str:
    """Student, lesson, status and points of each submission, what became of all, who needs you."""
    records = tuple(records)
    rows = [("student", "lesson", "status", "score", "max", "seconds"), *map(_row, records)]
    table = _aligned(rows, right=(3, 4, 5))
    return "\n".join([*table, "", summary(records), *needing_you(records)])


def needing_you(records: Sequence[SubmissionRecord]) -> list[str]:
    """One line that names whose submission a person has to look at, and why; none for nobody."""
    found = [one for one in records if one.status is not Status.GRADED]
    if not found:
        return []
    several = len({one.lesson for one in records}) > 1
    told = [_reason(one, several) for one in found[:_NAMED]]
    more = f" · and {len(found) - _NAMED} more, see `autograder report`"
    verb = "needs" if len(found) == 1 else "need"
    return [f"{len(found)} {verb} you: {' · '.join(told)}{more if len(found) > _NAMED else ''}"]


def _reason(record: SubmissionRecord, several: bool) -> str:
    """`ada (missing: 04-memory-layout.ipynb is not in the submission)`."""
    # Notes about repairs and names come first; what the status comes from is said last.
    own = [one.notes[0] for one in record.exercises if one.status is record.status and one.notes]
    why = (own or record.notes[-1:] or [""])[0]
    first = plain(why.split("\n")[0]).removesuffix(".")
    short = _cut(first, _REASON_CHARS)
    lesson = f", {record.lesson}" if several else ""
    return f"{_name(record)}{lesson} ({record.status}{': ' if short else ''}{short})"


def summary(records: Sequence[SubmissionRecord]) -> str:
    """One line: how many submissions, how many of each status, the mean of those judged."""
    found = {status: sum(one.status is status for one in records) for status in Status}
    told = ", ".join(f"{count} {status}" for status, count in found.items() if count)
    shares = [share(one) for one in records if one.status not in UNJUDGED and one.max]
    mean = f" · mean {100 * sum(shares) / len(shares):.0f} %" if shares else ""
    words = sum(is_unread(one) for record in records for one in record.exercises)
    unread = f" · to be read by a person: {words}" if words else ""
    count = f"{len(records)} submission{'' if len(records) == 1 else 's'}"
    return f"{count}: {told or 'none'}{mean}{unread}"


def grades_json(records: Iterable[SubmissionRecord]) -> str:
    """The records in the form that `grade --json` prints, as one JSON list."""
    return json.dumps([one.summary() for one in records], indent=1, ensure_ascii=False)


def _row(record: SubmissionRecord) -> tuple[str, ...]:
    # A bare 0 would say that the answers were judged wrong; where nothing was judged, a dash.
    score = points(record.score) if counts(record) else "–"
    seconds = f"{record.seconds:.2f}"
    return (
        _name(record),
        record.lesson,
        str(record.status),
        score,
        points(record.max),
        seconds,
    )


def _name(record: SubmissionRecord) -> str:
    return _cut(plain(record.student), _NAME_CHARS)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def _aligned(rows: Sequence[Sequence[str]], right: Sequence[int]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join(
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
