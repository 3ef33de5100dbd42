"""Whose each file of a source is: an LMS's name says so, a person, or the name of a folder.

The outermost name decides.  What stands below it, and all names inside an archive that lies in the
source, are those that a learner has chosen for work of their own: they never say whose it is.

Who has written the names, an instructor can say.  Where it is guessed, a part of a path may be in
the form of several systems, as learners choose what stands in it; then it is nobody's.

In nbgrader's inbound/ all who hand in choose the outermost name, too.  There the account to which
it belongs decides, however the name is spelt and whatever it is a name of.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from autograder.lms import LMS, in_doubt, read_name
from autograder.lms.interface import ARCHIVES, ArchiveName, Owner
from autograder.submissions.matching import FOLDER, Roster
from autograder.submissions.people import (
    NOBODY,
    is_of_ilias,
    not_written_by,
    people,
    people_of,
)
from autograder.submissions.signs import Match

_NAMED = (".ipynb", *ARCHIVES)  # files whose own names may say whose they are
_ENDING = re.compile(f"({'|'.join(map(re.escape, sorted(_NAMED, key=len)[::-1]))})$", re.I)


@dataclass(frozen=True)
class Place:
    """Where a file lies.

    The first `outside` parts of the path stand in the source itself.  Where there are others, the
    last of those is an archive, and the others stand in it.  `account` has laid it into nbgrader's
    inbound/; empty elsewhere.
    """

    path: tuple[str, ...]
    outside: int
    account: str = ""


class _Level:
    """The names that stand beside one another in one folder of the source."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.below: dict[str, _Level] = {}
        self.people: dict[str, Match] | None = None


class Owners:
    """Tells of each file of a source whose it is, once all of its places are known.

    A level of folders is that of people where at least one of its names means a student.  Then
    each name beside it is somebody's, known or not, and what stands below says nothing.

    Args:
        places: All that may be asked about.
        roster: Who may hand in.
        slugs: Names of lessons, which tell nothing of a person.
    """

    def __init__(self, places: Iterable[Place], roster: Roster, slugs: Sequence[str]) -> None:
        self._roster, self._slugs, self._top = roster, slugs, _Level()
        self._places = list(places)
        self._several = _with_several_files(self._places, all_of_them=bool(roster.system))
        for place in self._places:
            self._enter(place, self._written(place))

    def of(self, place: Place) -> ArchiveName:
        """Whose a file is; where nothing says so, the folder or archive in which it lies."""
        named = self._named(place)
        doubt = self._another_account(place, named) if place.account else ""
        if not doubt:
            return named
        key = "/".join(place.path[: named.at + 1])
        return ArchiveName(Owner(FOLDER, key, "", doubt), place.path[-1], at=named.at)

    def match(self, owner: Owner) -> Match:
        """The student whom an owner means, whoever else may mean the same."""
        if owner not in self._matches:
            self._matches[owner] = self._roster.match([owner])[owner]
        return self._matches[owner]

    @cached_property
    def _matches(self) -> dict[Owner, Match]:
        """What `match` has said already."""
        return {}

    def _another_account(self, place: Place, named: ArchiveName) -> str:
        """Why what lies in inbound/ is not of whom it is named after; empty where it may be.

        An account tells something only where it is a learner's own: on many servers everybody works
        under the same one.
        """
        student, owner = self.match(named.owner).student, self._roster.student_of(place.account)
        is_known = owner is not None or bool(self._with_accounts)
        if student in (None, owner) or not is_known or self._is_by_hand(place, named.owner):
            return ""
        return (
            f"it belongs to the user {place.account}, not to {student}; if it is theirs all the "
            "same, say so by --match"
        )

    @cached_property
    def _with_accounts(self) -> set[str]:
        """The students who have something in inbound/ that belongs to an account of their own."""
        owners = ((one, self._roster.student_of(one.account)) for one in self._places)
        return {
            owner
            for place, owner in owners
            if owner is not None and owner == self.match(self._named(place).owner).student
        }

    def _is_by_hand(self, place: Place, owner: Owner) -> bool:
        return owner.key in self._roster.chosen or self._by_hand(place.path) is not None

    def _named(self, place: Place) -> ArchiveName:
        """Whose a file is by its names alone."""
        written = self._written(place)
        folder = self._by_folder(place, written)
        asked = written.at if written and not folder else len(place.path)
        found = self._by_hand(place.path[:asked]) or folder
        if found is None:
            system = self._roster.system
            reason = (not_written_by(system) if system else NOBODY).reason
            nobody = Owner(FOLDER, _nobodys(place), "", reason)
            return written or ArchiveName(nobody, place.path[-1])
        at, match = found
        name = match.student or "/".join(place.path[: at + 1])
        owner = Owner(FOLDER, name, "", match.reason, by_name=match.by_name)
        return ArchiveName(owner, place.path[-1], at=at)

    def _written(self, place: Place) -> ArchiveName | None:
        system = self._roster.system
        if system and system not in LMS:
            return None
        found = read_name(place.path, place.outside, self._several, system)
        if found is None or system or not self._may_be_of_ilias(place, found.at):
            return found
        return in_doubt(found, place.path, (LMS[found.owner.lms].title, "ILIAS"))

    def _may_be_of_ilias(self, place: Place, at: int) -> bool:
        """Whether a part is a folder in ILIAS's form, and ILIAS's logins may tell more."""
        has_logins = bool(self._roster.signs.logins_and_numbers)
        return has_logins and at < place.outside - 1 and is_of_ilias(place.path[at])

    def _enter(self, place: Place, written: ArchiveName | None) -> None:
        level = self._top
        for at in range(written.at if written else place.outside):
            if at < place.outside - 1 or place.path[at].lower().endswith(_NAMED):
                level.names.add(self._name(place, at))
            level = level.below.setdefault(place.path[at], _Level())

    def _name(self, place: Place, at: int) -> str:
        """A part of the path as far as it may say who somebody is."""
        part = place.path[at]
        return part if at < place.outside - 1 else without_lessons(part, self._slugs)

    def _by_hand(self, path: tuple[str, ...]) -> tuple[int, Match] | None:
        """The part for which a person has said whose it is, and the student."""
        if not self._roster.chosen:
            return None
        for at in range(len(path)):
            student = self._roster.chosen.get("/".join(path[: at + 1]))
            if student is not None:
                return at, Match(student)
        return None

    def _by_folder(self, place: Place, written: ArchiveName | None) -> tuple[int, Match] | None:
        """The part that stands at the level of people, and whom it means.

        Where an LMS has written a name, only what stands above it is asked.
        """
        level, system = self._top, self._roster.system
        if system in LMS:
            return None
        read = partial(people_of, system) if system else people
        for at in range(written.at if written else place.outside):
            if level.people is None:
                signs, is_source = self._roster.signs, level is self._top
                level.people = read(signs, level.names, self._slugs, is_source=is_source)
            if level.people:
                return at, level.people.get(self._name(place, at), NOBODY)
            level = level.below[place.path[at]]
        return None


def _with_several_files(places: Iterable[Place], *, all_of_them: bool) -> set[tuple[str, ...]]:
    """The folders of the source that hold more than one file, an archive counting as one.

    Args:
        places: Of all files.
        all_of_them: Only those that hold every file: two learners can have one hold two.
    """
    files = {place.path[: place.outside] for place in places}
    held = Counter(path[:end] for path in files for end in range(1, len(path)))
    least = max(2, len(files)) if all_of_them else 2
    return {folder for folder, count in held.items() if count >= least}


def _nobodys(place: Place) -> str:
    """The key of a file whose owner nothing names."""
    own = place.outside < len(place.path)  # then the archive in which it lies
    path = place.path[: place.outside]
    return "/".join(path[:-1] if len(path) > 2 and not own else path)


def without_lessons(file: str, slugs: Iterable[str]) -> str:
    """What the name of a notebook, or of an archive, says beside its lesson.

    >>> without_lessons("04-memory-layout_ada.ipynb", ["04-memory-layout"])
    '_ada'
    >>> without_lessons("ada.tar.gz", [])
    'ada'
    """
    stem = _ENDING.sub("", file)
    for slug in slugs:
        stem = stem.replace(slug, "")
    return stem
