"""The claims of all lessons: nothing is read before the first question, and each file once."""

from collections.abc import Iterable
from functools import cache

from course.claims.errors import UnknownId
from course.claims.lesson_files import texts, unknown
from course.claims.schema import (
    Claim,
    Entries,
    Misconception,
    lesson_of,
    parse,
    refuse_duplicates,
)

__all__ = ["claim", "claims", "lessons", "misconception", "misconceptions"]

CLAIMS = "claims.toml"


def lessons() -> tuple[str, ...]:
    """The slugs of the lessons that have a claims file, in order."""
    return tuple(sorted(_texts()))


def claims(lesson: str | None = None) -> tuple[Claim, ...]:
    """The claims of one lesson, or of all lessons, in the order of the files.

    Args:
        lesson: A slug such as "04-memory-layout"; None for all lessons.

    Raises:
        UnknownId: There is no claims file of that lesson.
        MalformedClaims: A file breaks its form.
    """
    return tuple(c for file in _files(lesson) for c in file.claims)


def misconceptions(lesson: str | None = None) -> tuple[Misconception, ...]:
    """The misconceptions of one lesson, or of all lessons, in the order of the files.

    Args:
        lesson: A slug such as "04-memory-layout"; None for all lessons.

    Raises:
        UnknownId: There is no claims file of that lesson.
        MalformedClaims: A file breaks its form.
    """
    return tuple(m for file in _files(lesson) for m in file.misconceptions)


def claim(id: str) -> Claim:
    """The claim with that id.

    Args:
        id: Its name in a claims file.

    Raises:
        UnknownId: No claim has that id; the message names the nearest ones.
        MalformedClaims: A file breaks its form.
    """
    for entry in (c for file in _mentioning(id) for c in file.claims):
        if entry.id == id:
            return entry
    raise UnknownId(unknown("claim", id, (c.id for c in claims())))


def misconception(id: str) -> Misconception:
    """The misconception with that id.

    Args:
        id: Its name in a claims file.

    Raises:
        UnknownId: No misconception has that id; the message names the nearest ones.
        MalformedClaims: A file breaks its form.
    """
    for entry in (m for file in _mentioning(id) for m in file.misconceptions):
        if entry.id == id:
            return entry
    raise UnknownId(unknown("misconception", id, (m.id for m in misconceptions())))


def _files(lesson: str | None) -> tuple[Entries, ...]:
    known = lessons()
    if lesson is None:
        files = tuple(_load(slug) for slug in known)
        refuse_duplicates(files)
        return files
    if lesson not in known:
        raise UnknownId(unknown("lesson", lesson, known))
    return (_load(lesson),)


def _mentioning(id: str) -> Iterable[Entries]:
    """The files in which the id stands in quotes: parsing all for one id takes too long."""
    return (_load(slug) for slug in lessons() if f'"{id}"' in _texts()[slug])


@cache
def _texts() -> dict[str, str]:
    """The text of each claims file, by its lesson."""
    return {lesson_of(text, f"{folder}/{CLAIMS}"): text for folder, text in texts(CLAIMS).items()}


@cache
def _load(slug: str) -> Entries:
    return parse(_texts()[slug], slug)
