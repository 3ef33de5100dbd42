"""Grades as text: a table for a person, JSON lines for a program."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Sequence

from autograder.measures import share
from autograder.records import UNJUDGED, Status, SubmissionRecord
from autograder.wording import counts, is_unread, points


def grades_table(records: Iterable[SubmissionRecord]) -> str:
    """Student, lesson, status and points of each submission, and what became of all."""
    records = tuple(records)
    rows = [("student", "lesson", "status", "score", "max", "seconds"), *map(_row, records)]
    return "\n".join([*_aligned(rows, right=(3, 4, 5)), "", summary(records)])


def summary(records: Sequence[SubmissionRecord]) -> str:
    """One line: how many submissions, how many of each status, the mean of those judged."""
    found = {status: sum(one.status is status for one in records) for status in Status}
    told = ", ".join(f"{count} {status}" for status, count in found.items() if count)
    shares = [share(one) for one in records if one.status not in UNJUDGED and one.max]
    mean = f" · mean {100 * sum(shares) / len(shares):.0f} %" if shares else ""
    words = sum(is_unread(one) for record in records for one in record.exercises)
    unread = f" · to be read by a person: {words}" if words else ""
    return f"{len(records)} submissions: {told or 'none'}{mean}{unread}"


def grades_json(records: Iterable[SubmissionRecord]) -> str:
    """The records in the form that `grade --json` prints, as one JSON list."""
    return json.dumps([one.summary() for one in records], indent=1, ensure_ascii=False)


def _row(record: SubmissionRecord) -> tuple[str, ...]:
    # A bare 0 would say that the answers were judged wrong; where nothing was judged, a dash.
    score = points(record.score) if counts(record) else "–"
    seconds = f"{record.seconds:.2f}"
    return (
        _plain(record.student),
        record.lesson,
        str(record.status),
        score,
        points(record.max),
        seconds,
    )


def _plain(text: str) -> str:
    """`text` without control characters, which could rewrite the terminal."""
    return "".join(c if unicodedata.category(c)[0] != "C" else "�" for c in text)


def _aligned(rows: Sequence[Sequence[str]], right: Sequence[int]) -> list[str]:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join(
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
