"""By what the class list knows its students: ids, numbers and logins, addresses, names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from autograder.lms.interface import is_number, letters, plain_letters
from autograder.submissions.class_list import Student

_SAY = "say whose it is by --match"


@dataclass(frozen=True)
class Match:
    """Whom a name means; `reason` says why it means nobody.

    `by_name` is true where only a name says so, and people choose their names.
    """

    student: str | None
    reason: str = ""
    by_name: bool = False


@dataclass(frozen=True)
class Signs:
    """The signs of all students; one that several have is nobody's."""

    students: tuple[Student, ...]

    @cached_property
    def ids(self) -> dict[str, Student]:
        """Each student by id."""
        return {one.id: one for one in self.students}

    @cached_property
    def numbers(self) -> dict[str, list[str]]:
        """Numbers in an LMS → whose they are."""
        return _by((one.lms_user_id, one.id) for one in self.students if is_number(one.lms_user_id))

    @cached_property
    def logins(self) -> dict[str, list[str]]:
        """Names on GitHub, or logins on ILIAS, in small letters → whose they are."""
        logins = ((small(one.lms_user_id), one.id) for one in self.students)
        return _by(one for one in logins if not is_number(one[0]))

    @cached_property
    def logins_and_numbers(self) -> dict[str, list[str]]:
        """The same with numbers, by which people log in at some universities."""
        return _by((small(one.lms_user_id), one.id) for one in self.students)

    @cached_property
    def addresses(self) -> dict[str, list[str]]:
        """Addresses in small letters → whose they are."""
        return _by((small(one.email), one.id) for one in self.students)

    @cached_property
    def exact(self) -> dict[str, list[str]]:
        """Ids and all of these, in small letters → whose they are."""
        return _by(self._exact())

    @cached_property
    def by_letters(self) -> dict[str, list[str]]:
        """The letters of the exact signs → whose they are: blanks and dots tell nobody apart."""
        return _by((letters(sign), one) for sign, one in self._exact())

    def named(self, name: str) -> list[str]:
        """The students who have this name, in the first spelling in which there are any."""
        found = (names.get(spelling(name)) for spelling, names in self._names.items())
        return next(filter(None, found), [])

    def _exact(self) -> Iterator[tuple[str, str]]:
        for one in self.students:
            for sign in (one.id, one.lms_user_id, one.email):
                yield small(sign), one.id

    @cached_property
    def _names(self) -> dict[Callable[[str], str], dict[str, list[str]]]:
        found: dict[Callable[[str], str], dict[str, list[str]]] = {}
        for spelling in (letters, plain_letters):
            names = ((spelling(n), one.id) for one in self.students for n in _names(one))
            found[spelling] = _by(names)
        return found


def nobody(cause: str) -> Match:
    """Nobody, until a person decides.

    Args:
        cause: Why; a clause that a colon may follow.
    """
    return Match(None, f"{cause}: {_SAY}")


def only(students: list[str], what: str, *, by_name: bool = False) -> Match:
    """The one student who has a sign; nobody where several have it.

    Args:
        students: All who have it, one at least.
        what: The sign, as a sentence names it.
        by_name: Whether it is a name.
    """
    if len(students) == 1:
        return Match(students[0], by_name=by_name)
    return nobody(f"{len(students)} students have {what}: {', '.join(sorted(students))}")


def small(sign: str) -> str:
    """A sign in small letters; one that only looks like another letter stays another.

    Case folding would make a k of the sign for kelvin, and an s of the long one: another address.

    >>> small("J\u00d6RG@X.org"), small("\u212aim") == "kim", "\u212aim".casefold() == "kim"
    ('j\u00f6rg@x.org', False, True)
    """
    return "".join(lower if (lower := c.lower()).upper() == c else c for c in sign)


def _by(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Signs → the ids of those who have them, each once."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for sign, one in pairs:
        if sign:
            found[sign][one] = None
    return {sign: list(ids) for sign, ids in found.items()}


def _names(student: Student) -> Iterable[str]:
    first, last = student.first_name, student.last_name
    return (student.id, f"{first} {last}", f"{last} {first}")
