"""The time in timestamp.txt, in UTC: nbgrader's form, and what other programs write.

nbgrader 0.9.6 reads an offset of +0200 as 200 seconds and takes CEST for UTC.  A zone is therefore
read here; a name that is not known, or that means two, is refused rather than guessed.  So is a
year in which nobody handed in: at the ends of the calendar another zone has no such time, and
nbgrader's pages fail where they show one.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

# Hours from UTC.  CST, IST and BST are each the time of several countries.
_NAMES = {
    0: "Z UT UTC GMT WET",
    1: "WEST CET MEZ",
    2: "CEST MESZ EET",
    3: "EEST MSK",
    -4: "EDT",
    -5: "EST CDT",
    -6: "MDT",
    -7: "MST PDT",
    -8: "PST",
}
_HOURS = {name: hours for hours, names in _NAMES.items() for name in names.split()}
_DAY_OR_MONTH = re.compile(
    "MON|TUE|WED|THU|FRI|SAT|SUN|JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC"
)
_ISO = re.compile(r"(\d{4}-\d\d-\d\d.*\d) ?(Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)")
_AFTER_CLOCK = re.compile(
    r"(?P<clock>\d{1,2}:\d\d(?::\d\d(?:[.,]\d+)?)?(?:\s*[AP]M)?)\s*"
    r"(?:(?:UTC|GMT)?(?P<sign>[+-])(?P<hours>\d{1,2})(?::?(?P<minutes>\d\d))?"
    r"|(?P<name>[A-Z]{1,5}|[A-Z][A-Za-z]+/[\w/+-]+))(?=\s|$)"
)
_YEARS = range(1970, 2201)


class UnknownZone(ValueError):
    """A time whose zone nobody can tell; the message is its name."""


def time_in_utc(text: str) -> datetime:
    """The time that `text` says; without a zone it is UTC, as nbgrader has it.

    >>> time_in_utc("2026-07-10 14:00:00 CEST") == time_in_utc("2026-07-10 12:00:00 UTC")
    True

    Args:
        text: A line that a program has written, such as `2026-07-10 14:00:00 +02`.

    Raises:
        UnknownZone: It names a zone that is not known.
        ValueError: It lies before 1970 or after 2200.
        Exception: Whatever dateutil makes of text that is no date.
    """
    found = _in_utc(text)
    if found.year not in _YEARS:
        raise ValueError(f"nobody handed in in the year {found.year}")
    return found


def _in_utc(text: str) -> datetime:
    known = _ISO.fullmatch(text)
    if known:
        offset = "+00:00" if known[2] in ("Z", "UTC", "GMT") else known[2]
        return datetime.fromisoformat(known[1] + offset).astimezone(UTC)
    found = _AFTER_CLOCK.search(text)
    if found is None or _DAY_OR_MONTH.fullmatch(found["name"] or ""):
        return _parsed(text)
    local = _parsed(f"{text[: found.end('clock')]}{text[found.end() :]}")
    if found["name"] and "/" in found["name"]:
        return local.replace(tzinfo=_place(found["name"])).astimezone(UTC)
    return local - _offset(found)


def _offset(found: re.Match[str]) -> timedelta:
    if found["name"]:
        if found["name"] not in _HOURS:
            raise UnknownZone(found["name"])
        return timedelta(hours=_HOURS[found["name"]])
    span = timedelta(hours=int(found["hours"]), minutes=int(found["minutes"] or 0))
    return -span if found["sign"] == "-" else span


def _place(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise UnknownZone(name) from error


def _parsed(text: str) -> datetime:
    from autograder.nbgrader_bridge.cells import time_of  # nbgrader takes a second to import

    # Of three words nbgrader takes the last for a zone: PM, or a year.
    return time_of(f"{text} UTC" if len(text.split(" ")) == 3 else text)
