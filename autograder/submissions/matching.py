"""Which student of the course an LMS means by a name.

The students are those of students.csv and of the gradebook.  A name is matched by its letters,
in either order of first and last name; where two students, or two people of the LMS, would share
one, nobody is guessed.

What learners may choose, their names and those of their files, never decides against a number or
an address: where a name can be read in two ways, or a surer sign says otherwise, a person decides.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from functools import cached_property
from pathlib import Path

from autograder.course_directory import CourseDirectory
from autograder.errors import UsageError, did_you_mean
from autograder.lms import LMS
from autograder.lms.interface import Owner, Participant, letters, plain_letters
from autograder.nbgrader_bridge.gradebook import enrolled
from autograder.submissions.class_list import (
    ROSTER,
    RosterError,
    Student,
    read_students,
    read_table,
)

FOLDER = "folder"  # an owner whom no LMS has named
_LONG_NUMBER = 5  # digits
_MOST_CLOSE = 200  # names
_SEVERAL = (
    "its name can be read in several ways, as a learner may have written numbers into it: see in "
    "the LMS whose it is, and say so by --match"
)
_NOBODY = "none of its names is a student's id, lms_user_id, address or name"
# The folders of ILIAS: last name, first name, login, number of the user.
_ILIAS = re.compile(r"(?P<last>.+)_(?P<first>[^_]+)_(?P<login>[^_]+)_\d+")
_ILIAS_UNDERSCORES = 3  # where no name has one


@dataclass(frozen=True)
class Match:
    """Whom a name means; `reason` says why it means nobody.

    It is `sure` where it rests on more than a name, which anybody may call themselves.
    """

    student: str | None
    reason: str = ""
    sure: bool = False


@dataclass(frozen=True)
class FolderName:
    """Whom the name of a folder, or of a file, means.

    `student` is empty where it means nobody, or it is not clear whom; `somebody` is true where it
    means a person, whether or not it is clear whom.  `before` is what stands before a sign of a
    student at its end, as the assignment does before the user's name in what GitHub Classroom calls
    a repository, and `by_ending` is true where nothing else says whom it means.  `by_name` is true
    where a learner's name says so and their login in the LMS does not; `doubt` says why that is
    not enough.
    """

    student: str = ""
    somebody: bool = False
    before: str | None = None
    by_ending: bool = False
    by_name: bool = False
    doubt: str = ""
    readings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Roster:
    """Everyone who may hand something in.

    `chosen` are the owners whom the instructor matched by hand; `participants` are the lines of an
    LMS's worksheet, by the name of the LMS and their numbers.
    """

    students: tuple[Student, ...]
    participants: Mapping[tuple[str, str], Participant] = field(default_factory=dict)
    chosen: Mapping[str, str] = field(default_factory=dict)

    def match(self, owners: Iterable[Owner]) -> dict[Owner, Match]:
        """Each owner's student; one student is never given to two people.

        Where a sure sign says that one of them is the student, the others' names cost them nothing.
        """
        found = {owner: self._match(owner) for owner in sorted(set(owners))}
        claims: dict[str, list[Owner]] = defaultdict(list)
        for owner, match in found.items():
            if match.student is not None:
                claims[match.student].append(owner)
        for student, claimants in claims.items():
            sure = [one for one in claimants if found[one].sure]
            left = claimants if _people_among(sure or claimants) > 1 else []
            if sure and not left:
                left = [one for one in claimants if one not in sure]
            keys = ", ".join(one.key for one in claimants)
            reason = f"{len(claimants)} people of the LMS would be the student {student}: {keys}"
            found |= {one: Match(None, reason) for one in left}
        return found

    def people(self, names: Iterable[str], slugs: Iterable[str] = ()) -> dict[str, str]:
        """Each name that means a person → the student; empty where it is not clear who that is.

        A user's name on GitHub may end as another's does, after a hyphen: beside `lab1-kim`, the
        repository `lab1-not-ada` is of somebody who is called not-ada.  By itself it may be one or
        the other, and nobody can tell.

        Args:
            names: All that stand beside one another, without what is no name of a person.
            slugs: Of lessons, whose names an assignment may have.
        """
        read = {name: self.folder_name(name) for name in names}
        clear = {one.before for one in read.values() if not one.readings}
        read = {name: _settled(one, clear) for name, one in read.items()}
        beginning = _by_beginning(read)
        known = {*(one.casefold() for one in slugs), *_shared(beginning, read)}
        anothers = _longer(beginning)
        logins = {one.student for one in read.values() if not (one.by_name or one.by_ending)}
        found = {}
        for name, one in read.items():
            start = one.before or ""
            if one.somebody and not (one.by_ending and start in anothers):
                unclear = one.by_ending and re.search("[-_]", start) and start not in known
                is_anothers = one.by_name and one.student in logins
                found[name] = "" if unclear or is_anothers else one.student
        return found

    def student_of(self, account: str) -> str | None:
        """The student to whom an account of the machine belongs, by its name; None for nobody."""
        return self._signs.get(small(account)) if account else None

    def number_of(self, student: str) -> str:
        """The lms_user_id of a student; empty where students.csv has none."""
        known = self._by_id.get(student)
        return known.lms_user_id if known else ""

    def submitted_at(self, owner: Owner) -> datetime | None:
        """When the worksheet says that `owner` handed in; None where it does not."""
        participant = self.participants.get((owner.lms, owner.number))
        return participant.submitted_at if participant else None

    def _match(self, owner: Owner) -> Match:
        if owner.key in self.chosen:
            return Match(self.chosen[owner.key], sure=True)
        if owner.others:
            return self._agreed(
                [replace(one, written="", others=()) for one in (owner, *owner.others)]
            )
        if owner.doubt:
            return Match(None, owner.doubt)
        if owner.lms == FOLDER:
            return Match(owner.name) if owner.name in self._by_id else Match(None, _NOBODY)
        if LMS[owner.lms].number_lasts:
            by_number = [one.id for one in self.students if one.lms_user_id == owner.number]
            if by_number:
                return _only(by_number, f"the lms_user_id {owner.number}", sure=True)
        participant = self.participants.get((owner.lms, owner.number))
        address = participant.email if participant else ""
        if address:
            by_address = self._with_address(address)
            if by_address:
                return _only(by_address, f"the address {address}", sure=True)
        found = self._by_name(participant.name if participant else owner.name)
        if found.student in self._by_hand:
            return Match(None, f"{found.student} has this name, and --match says who that is")
        doubt = self._doubt(found.student, owner, address)
        return Match(None, doubt) if doubt else found

    def _doubt(self, student: str | None, owner: Owner, address: str) -> str:
        """Why the name alone does not make `owner` this student, where it says so; else empty.

        Where students.csv knows another number, or another address, somebody else has that name.
        """
        one = self._by_id.get(student or "")
        if one is None:
            return ""
        lasts = LMS[owner.lms].number_lasts and one.lms_user_id.isdecimal()
        if lasts:  # also against an anonymous one: whom it is of is not known
            return _contradicts(one, "lms_user_id", one.lms_user_id, owner.number)
        if address and one.email and self._addresses_tell:
            return _contradicts(one, "email", one.email, address)
        return ""

    @cached_property
    def _by_id(self) -> dict[str, Student]:
        return {one.id: one for one in self.students}

    @cached_property
    def _by_hand(self) -> frozenset[str | None]:
        """The students of whom the instructor has said who they are in the LMS."""
        return frozenset(self.chosen.values())

    @cached_property
    def _addresses_tell(self) -> bool:
        """Whether the LMS knows people by the addresses of students.csv, and not by others."""
        return any(self._with_address(one.email) for one in self.participants.values())

    def _with_address(self, address: str) -> list[str]:
        wanted = small(address)
        return [one.id for one in self.students if wanted and small(one.email) == wanted]

    def _agreed(self, readings: Iterable[Owner]) -> Match:
        """Whom all readings of a name mean.

        One that means nobody may be the right one, of somebody whose number is not known: of a
        student without one, or of somebody who is none.  Where no number is known, names decide.
        """
        found = [self._match(one) for one in readings]
        named = {one.student: one for one in found if one.student is not None}
        are_known = any(one.lms_user_id.isdecimal() for one in self.students)
        if len(named) > 1 or (named and are_known and None in {one.student for one in found}):
            return Match(None, _SEVERAL)
        return replace(next(iter(named.values()), found[0]), sure=False)

    def folder_name(self, name: str) -> FolderName:
        """Whom a name means, whatever stands beside it."""
        if name not in self._folders:
            # nbgrader's inbound/; a name or a login in ILIAS may hold anything.
            is_inbound = name.count("+") > 1 and not _ILIAS.fullmatch(name)
            bare = name.split("+")[0] if is_inbound else name
            ending = self._ending(bare)
            before = ending.before
            whole = self._by_whole_name(bare)
            if whole is None:
                self._folders[name] = ending
            else:
                is_theirs = ending.student and ending.student == whole.student
                before = before if is_theirs else None
                self._folders[name] = replace(whole, before=before)
        return self._folders[name]

    def _by_whole_name(self, name: str) -> FolderName | None:
        """Whom it means, whatever it ends in; None where that is nobody."""
        if several := self._with_sign.get(small(name)):
            return (
                FolderName(min(several), True) if len(several) == 1 else _ambiguous(name, several)
            )
        ilias = _ILIAS.fullmatch(name)
        named = self._named(f"{ilias['first']} {ilias['last']}" if ilias else name)
        sign = small(ilias["login"]) if ilias else ""
        login = self._logins.get(sign) or self._signs.get(sign)
        if login is not None and not named:
            # Learners choose their logins, and an underscore in one makes it end as another's does.
            is_theirs = sign in self._logins and name.count("_") == _ILIAS_UNDERSCORES
            return FolderName(login if is_theirs else "", True)
        if login is not None:
            is_one = login in named and len(self._logins_at_the_end(ilias)) <= 1
            # Anybody may choose another's id, or address, for a login.
            return FolderName(login if is_one else "", True, by_name=sign not in self._logins)
        if named:
            student = named[0] if len(named) == 1 else ""
            known = self._by_id.get(student)
            if ilias and known and known.lms_user_id and not known.lms_user_id.isdecimal():
                doubt = _contradicts(known, "lms_user_id", known.lms_user_id, ilias["login"])
                return FolderName("", True, by_name=True, doubt=doubt)
            alike = self._with_letters.get(letters(name), set()) | {student}
            if student and not ilias and len(alike) > 1:
                return _ambiguous(name, alike)
            return FolderName(student, True, by_name=ilias is not None)
        return None

    def _logins_at_the_end(self, ilias: re.Match[str] | None) -> set[str]:
        """Whose login a folder of ILIAS may end in, as logins hold underscores, too."""
        words = small(ilias[0]).split("_")[:-1] if ilias else []
        ends = ("_".join(words[at:]) for at in range(2, len(words)))  # behind two names
        return {self._logins[one] for one in ends if one in self._logins}

    def _ending(self, name: str) -> FolderName:
        """Whom the signs at the end of a name mean: the longest, where all are one student's.

        So GitHub Classroom calls repositories: the assignment, a hyphen, and the user's name. That
        name is anybody's choice, and may be another student's id: then somebody is meant, but
        nobody can tell who. Only a name of their own in the column `lms_user_id` says it.  Without
        anything before it, the sign is what an instructor's file says beside its lesson.
        """
        readings, whose = [], set()
        for hyphen in re.finditer("[-_]", name):
            before, sign = name[: hyphen.start()].casefold(), small(name[hyphen.end() :])
            # week-1 is nobody's
            is_sign = sign in self._signs and (len(sign) >= _LONG_NUMBER or not sign.isdecimal())
            if sign in self._logins or is_sign:
                one = self._logins.get(sign) or self._signs[sign]
                readings.append((before, one if sign in self._logins or not before else ""))
                whose.add(one)
        if not readings:
            return FolderName(by_ending=True)
        before, student = readings[0]
        if len(whose) == 1:
            return FolderName(student, True, before, by_ending=True)
        doubt = (
            f"{name} ends in signs of several students, {', '.join(sorted(whose))}: say whose it "
            "is by --match"
        )
        return FolderName("", True, before, True, doubt=doubt, readings=tuple(readings))

    @cached_property
    def _folders(self) -> dict[str, FolderName]:
        """What `folder_name` has said already."""
        return {}

    @cached_property
    def _signs(self) -> dict[str, str]:
        """What is one student's alone, in small letters: id, number or name in an LMS, address."""
        return {sign: min(ids) for sign, ids in self._with_sign.items() if len(ids) == 1}

    @cached_property
    def _with_sign(self) -> dict[str, set[str]]:
        """Such a sign → the students who have it, as an id or as another sign."""
        found: dict[str, set[str]] = defaultdict(set)
        for one in self.students:
            for sign in filter(None, (one.id, one.lms_user_id, one.email)):
                found[small(sign)].add(one.id)
        return dict(found)

    @cached_property
    def _with_letters(self) -> dict[str, set[str]]:
        """The letters of a sign → who has it: blanks and the like tell nobody apart."""
        found: dict[str, set[str]] = defaultdict(set)
        for sign, ids in self._with_sign.items():
            found[letters(sign)] |= ids
        return dict(found)

    @cached_property
    def _logins(self) -> dict[str, str]:
        """The names on GitHub, or in an LMS, that are one student's alone.

        Numbers are Canvas's, and anybody may call themselves by one on GitHub.
        """
        found: dict[str, set[str]] = defaultdict(set)
        for one in self.students:
            if one.lms_user_id and not one.lms_user_id.isdecimal():
                found[small(one.lms_user_id)].add(one.id)
        return {login: min(ids) for login, ids in found.items() if len(ids) == 1}

    def _named(self, name: str) -> list[str]:
        """The students who have this name, in the first spelling in which there are any."""
        found = (names.get(spelling(name)) for spelling, names in self._spelt.items())
        return next(filter(None, found), [])

    @cached_property
    def _spelt(self) -> dict[Callable[[str], str], dict[str, list[str]]]:
        """Each spelling, with whose the names are in it."""
        found: dict[Callable[[str], str], dict[str, list[str]]] = {}
        for spelling in (letters, plain_letters):
            names = found.setdefault(spelling, defaultdict(list))
            for one in self.students:
                for name in _names(one, spelling) - {""}:
                    names[name].append(one.id)
        return found

    def _by_name(self, name: str) -> Match:
        matching = self._named(name)
        if matching:
            return _only(matching, "this name")
        return Match(
            None, f"no student has this name.{self._close(name)}" if name else "it carries no name"
        )

    def _close(self, name: str) -> str:
        """Whom a misspelt name may mean; of the first names alone, as each takes a while."""
        if name not in self._close_names and len(self._close_names) < _MOST_CLOSE:
            names = [f"{one.first_name} {one.last_name}" for one in self.students]
            self._close_names[name] = did_you_mean(name, names)
        return self._close_names.get(name, "")

    @cached_property
    def _close_names(self) -> dict[str, str]:
        """What `_close` has said already."""
        return {}


def read_roster(
    course: CourseDirectory,
    *,
    worksheet: Path | None = None,
    chosen: Iterable[str] = (),
    zone: tzinfo | None = None,
) -> Roster:
    """The students of `course`.

    Args:
        course: Has students.csv, or a gradebook.
        worksheet: Of an LMS, such as Moodle's grading worksheet: addresses and times.
        chosen: `KEY=STUDENT`, whom a person matched by hand.
        zone: Of the worksheet's times; None for this machine's.

    Raises:
        RosterError: Nobody is known, or a list cannot be read.
        GradebookError: The database refuses.
        UsageError: A pair of `chosen` names no student.
    """
    students = known_students(course)
    if not students:
        raise RosterError(
            "no student of this course is known",
            place=str(course.root / ROSTER),
            remedy="Write the file, with the columns id, first_name, last_name and email.",
        )
    by_hand = {}
    for pair in chosen:
        key, _, student = pair.rpartition("=")
        if not key or student not in students:
            raise UsageError(
                f"--match {pair} names no student of this course."
                + did_you_mean(student, students),
                remedy="Write --match KEY=STUDENT, with a key as `collect` lists it.",
            )
        by_hand[key] = student
    people = _participants(worksheet, zone) if worksheet else {}
    return Roster(tuple(students.values()), people, by_hand)


def known_students(course: CourseDirectory) -> dict[str, Student]:
    """The students of the gradebook and of students.csv, which wins, by their ids.

    Raises:
        RosterError: students.csv cannot be read, or an id in it cannot be used.
        GradebookError: The database refuses.
    """
    of_gradebook = (Student(id_, *names) for id_, names in enrolled(course).items())
    return {one.id: one for one in (*of_gradebook, *read_students(course.root / ROSTER))}


def _participants(path: Path, zone: tzinfo | None) -> dict[tuple[str, str], Participant]:
    """The lines of a worksheet, by the LMS that it is of and their numbers."""
    rows = read_table(path)
    sheets = {one.name: one.worksheet for one in LMS.values() if one.worksheet is not None}
    for lms, sheet in sheets.items():
        if rows and set(sheet.columns) <= rows[0].keys():
            people = [sheet.participant(row, zone) for row in rows]
            return {(lms, one.number): one for one in people}
    lacks = (f"{one.title}: {' or '.join(one.columns)} is missing" for one in sheets.values())
    raise RosterError(
        f"is no {'; no '.join(lacks)}",
        place=str(path),
        remedy=" ".join(one.remedy for one in sheets.values()),
    )


def small(sign: str) -> str:
    """A sign in small letters; one that only looks like another letter stays another.

    Case folding would make a k of the sign for kelvin, and an s of the long one: another address.

    >>> small("J\u00d6RG@X.org"), small("\u212aim") == "kim", "\u212aim".casefold() == "kim"
    ('j\u00f6rg@x.org', False, True)
    """
    return "".join(lower if (lower := c.lower()).upper() == c else c for c in sign)


def _names(student: Student, spelling: Callable[[str], str]) -> set[str]:
    first, last = student.first_name, student.last_name
    names = {spelling(student.id)}
    if first or last:
        names |= {spelling(f"{first} {last}"), spelling(f"{last} {first}")}
    return names


def _people_among(owners: Iterable[Owner]) -> int:
    return len({(one.lms, one.name, one.number) for one in owners})


def _shared(before: Iterable[str], names: Iterable[str]) -> set[str]:
    """Those of the beginnings that two names have at least."""
    lower = [one.casefold() for one in names]
    starts = {one: (f"{one}-", f"{one}_") for one in before}
    return {one for one, start in starts.items() if sum(n.startswith(start) for n in lower) > 1}


def _settled(one: FolderName, clear: Collection[str | None]) -> FolderName:
    """A name that can be read in several ways, read in the only one that begins as others do.

    Args:
        one: A name.
        clear: What stands before the sign in those names that can be read in one way.
    """
    begun = [reading for reading in one.readings if reading[0] in clear]
    if len(begun) != 1:
        return one
    before, student = begun[0]
    return replace(one, before=before, student=student, readings=(), doubt="")


def _by_beginning(read: Mapping[str, FolderName]) -> dict[str, list[str]]:
    """What stands before a sign → the names in which it does, without those of nobody."""
    found: dict[str, list[str]] = defaultdict(list)
    for name, one in read.items():
        if one.before is not None and not one.readings:
            found[one.before].append(name.casefold())
    return dict(found)


def _longer(beginning: Mapping[str, list[str]]) -> set[str]:
    """Those beginnings that are another one, and the start of a user's name.

    A name that begins so as well tells nothing of it: its owner's may be what is longer.
    """
    return {
        one
        for one in beginning
        for hyphen in re.finditer("[-_]", one)
        for name in beginning.get(one[: hyphen.start()], ())
        if not name.startswith((f"{one}-", f"{one}_"))
    }


def _contradicts(student: Student, column: str, known: str, found: str) -> str:
    return (
        f"{student.id} has this name, but {known} for {column}, not {found}: if it is theirs all "
        f"the same, say so by --match, or correct {ROSTER}"
    )


def _ambiguous(name: str, students: Iterable[str]) -> FolderName:
    whose = ", ".join(sorted(students))
    doubt = (
        f"{name} is an id, lms_user_id or address of several students, {whose}: say whose it is "
        "by --match"
    )
    return FolderName("", True, doubt=doubt)


def _only(students: list[str], what: str, *, sure: bool = False) -> Match:
    if len(students) == 1:
        return Match(students[0], sure=sure)
    return Match(None, f"{len(students)} students have {what}: {', '.join(sorted(students))}")
