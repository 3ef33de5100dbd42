"""Which student of the course an LMS means by a name.

The students are those of students.csv and of the gradebook.  The surest sign that the class has is
the only one: in Canvas the number, in Moodle the address that the worksheet has.  Where it has
none, a name is matched by its letters, in either order of first and last name.  Where two students,
or two people of the LMS, would share a sign, nobody is guessed: a person decides.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from autograder.course_directory import CourseDirectory
from autograder.errors import UsageError, did_you_mean
from autograder.lms import LMS
from autograder.lms.interface import Owner, Participant, Worksheet
from autograder.nbgrader_bridge.gradebook import enrolled
from autograder.submissions.class_list import (
    ROSTER,
    RosterError,
    Student,
    read_students,
    read_text,
    rows_of,
)
from autograder.submissions.signs import Match, Signs, nobody, only, small

FOLDER = "folder"  # an owner whom no LMS has named
_MOST_CLOSE = 200  # names
_UNCLEAR_QUOTE = '\\"'
_TWO_LINES = (
    "the worksheet has two lines for this participant, of which one may stand in somebody's online "
    "text, as a quote follows a backslash there; take the column with the texts out of the file"
)
_UNCLEAR_LINE = (
    "the worksheet's line for this participant has a quote behind a backslash in a name, so nobody "
    "can tell what stands in it"
)
_OPEN = "\ufffe"  # ends what was read of a line before such a quote; nobody writes it
_SEVERAL = nobody(
    "its name can be read in several ways, as a learner may have written numbers into it"
)


@dataclass(frozen=True)
class Roster:
    """Everyone who may hand something in.

    `chosen` are the owners whom the instructor matched by hand; `participants` are the lines of an
    LMS's worksheet, by the name of the LMS and their numbers.  `system` has written the names by
    which they are matched: one of `systems`, or nothing where that is guessed.
    """

    students: tuple[Student, ...]
    participants: Mapping[tuple[str, str], Participant] = field(default_factory=dict)
    chosen: Mapping[str, str] = field(default_factory=dict)
    system: str = ""

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
            surest = [one for one in claimants if not found[one].by_name] or claimants
            people = {_person(one) for one in surest}
            keys = ", ".join(one.key for one in claimants)
            doubt = f"{len(claimants)} people of the LMS would be the student {student} ({keys})"
            left = [one for one in claimants if len(people) > 1 or _person(one) not in people]
            found |= {one: nobody(doubt) for one in left}
        return found

    def student_of(self, account: str) -> str | None:
        """The student to whom an account of the machine belongs, by its name; None for nobody."""
        whose = self.signs.exact.get(small(account), [])
        return whose[0] if len(whose) == 1 else None

    def number_of(self, student: str) -> str:
        """The lms_user_id of a student; empty where students.csv has none."""
        known = self.signs.ids.get(student)
        return known.lms_user_id if known else ""

    def submitted_at(self, owner: Owner) -> datetime | None:
        """When the worksheet says that `owner` handed in; None where it does not."""
        participant = self.participants.get((owner.lms, owner.number))
        return participant.submitted_at if participant else None

    def unread_time(self, owner: Owner) -> str:
        """What the worksheet says of when `owner` handed in, where nobody can read it."""
        participant = self.participants.get((owner.lms, owner.number))
        return participant.unread_time if participant else ""

    @cached_property
    def signs(self) -> Signs:
        """By what the students are known."""
        return Signs(self.students)

    def _match(self, owner: Owner) -> Match:
        if owner.key in self.chosen:
            return Match(self.chosen[owner.key])
        if owner.others:
            readings = [replace(one, written="", others=()) for one in (owner, *owner.others)]
            numbers = self.signs.numbers
            return self._agreed(
                [one for one in readings if not one.only_if_known or one.number in numbers]
            )
        if owner.doubt:
            return Match(None, owner.doubt)
        if owner.lms == FOLDER:
            return Match(owner.name, by_name=owner.by_name)
        participant = self.participants.get((owner.lms, owner.number))
        if participant and participant.doubt:
            return nobody(participant.doubt)
        name = participant.name if participant else owner.name
        if LMS[owner.lms].number_lasts and self.signs.numbers:
            whose = self.signs.numbers.get(owner.number, [])
            return self._sure(whose, f"the lms_user_id {owner.number}", name)
        if owner.lms in self._with_addresses:
            address = participant.email if participant else ""
            if not address:
                lacks = "has no address" if participant else "is not"
                return nobody(f"this participant {lacks} in the worksheet")
            return self._sure(self._with_address(address), f"the address {address}", name)
        return self._by_name(name)

    def _sure(self, whose: list[str], what: str, name: str) -> Match:
        """Whom a sign means that counts more than the name."""
        if whose:
            return only(whose, what)
        named = self.signs.named(name)
        but = f", but {', '.join(named)} has this name" if named else ""
        return nobody(f"no student has {what}{but}")

    def _by_name(self, name: str) -> Match:
        named = self.signs.named(name)
        if not named:
            unknown = nobody("no student has this name" if name else "it carries no name")
            return Match(None, f"{unknown.reason}.{self._close(name)}")
        if len(named) == 1 and named[0] in self.chosen.values():
            return Match(None, f"{named[0]} has this name, and --match says who that is")
        return only(named, "this name", by_name=True)

    def _with_address(self, address: str) -> list[str]:
        return self.signs.addresses.get(small(address), [])

    @cached_property
    def _with_addresses(self) -> set[str]:
        """The LMSs that know people by the addresses of students.csv, and not by others."""
        lines = self.participants.items()
        return {lms for (lms, _), one in lines if self._with_address(one.email)}

    def _agreed(self, readings: Iterable[Owner]) -> Match:
        """Whom all readings of a name mean.

        One that means nobody may be the right one, of somebody whose number is not known: of a
        student without one, or of somebody who is none.  Where no number is known, names decide.
        """
        found = [self._match(one) for one in readings]
        named = {one.student: one for one in found if one.student is not None}
        some_are_nobodys = any(one.student is None for one in found)
        if len(named) > 1 or (named and self.signs.numbers and some_are_nobodys):
            return _SEVERAL
        return next(iter(named.values()), found[0])

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


def _person(owner: Owner) -> tuple[str, str]:
    return owner.lms, owner.number or owner.name


def read_roster(
    course: CourseDirectory,
    *,
    worksheet: Path | None = None,
    chosen: Iterable[str] = (),
    zone: tzinfo | None = None,
    system: str = "",
) -> Roster:
    """The students of `course`.

    Args:
        course: Has students.csv, or a gradebook.
        worksheet: Of an LMS, such as Moodle's grading worksheet: addresses and times.
        chosen: `KEY=STUDENT`, whom a person matched by hand.
        zone: Of the worksheet's times; None for this machine's.
        system: The one that has written the names; empty where that is to be guessed.

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
    return Roster(tuple(students.values()), people, by_hand, system)


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
    text = read_text(path)
    rows = rows_of(text, path)
    sheets = {one.name: one.worksheet for one in LMS.values() if one.worksheet is not None}
    for lms, sheet in sheets.items():
        if rows and set(sheet.columns) <= rows[0].keys():
            if _UNCLEAR_QUOTE in text:
                return _by_lines(lms, sheet, text, path, zone)
            people = [sheet.participant(row, zone) for row in rows]
            return {(lms, one.number): one for one in people}
    lacks = (f"{one.title}: {' or '.join(one.columns)} is missing" for one in sheets.values())
    raise RosterError(
        f"is no {'; no '.join(lacks)}",
        place=str(path),
        remedy=" ".join(one.remedy for one in sheets.values()),
    )


def _by_lines(
    lms: str, sheet: Worksheet, text: str, path: Path, zone: tzinfo | None
) -> dict[tuple[str, str], Participant]:
    """What a worksheet says in which somebody's text may end its cell, or seem to.

    PHP leaves a quote alone that follows a backslash, so nobody can tell where such a text ends,
    and it may hold lines that look like others'. What stands before the first one is sure. Of the
    others each has one line of their own: of whom there are two, nothing is known. Of a line with
    such a quote in it, only what stands before that is read.
    """
    sure = rows_of(text[: text.index(_UNCLEAR_QUOTE)], path)[:-1]  # its own line goes on
    known = {one.number: one for one in (sheet.participant(row, zone) for row in sure)}
    starts = [one.start() for one in sheet.begin.finditer(text)]
    heading = text[: starts[0]] if starts else text
    found: dict[str, Participant] = {}
    for start, end in pairwise([*starts, len(text)]):
        whole, mark, _ = text[start:end].partition(_UNCLEAR_QUOTE)
        row = rows_of(heading + whole + (_OPEN if mark else ""), path)[0]
        columns = list(row)
        open_from = next((n for n, name in enumerate(columns) if _OPEN in row[name]), len(row))
        row |= dict.fromkeys(columns[open_from:], "")
        one = sheet.participant(row, zone)
        if not set(sheet.signs).isdisjoint(columns[open_from:]):  # somebody's name, for example
            one = Participant(one.number, one.name, doubt=_UNCLEAR_LINE)
        if one.number in found:
            one = Participant(one.number, one.name, doubt=_TWO_LINES)
        found[one.number] = one
    return {(lms, number): one for number, one in {**found, **known}.items()}
