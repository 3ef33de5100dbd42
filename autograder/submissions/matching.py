"""Which student of the course an LMS means by a name.

The students are those of students.csv and of the gradebook.  A name is matched by its letters,
in either order of first and last name; where two students, or two people of the LMS, would share
one, nobody is guessed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
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
_NOBODY = "none of its names is a student's id, lms_user_id, address or name"
# The folders of ILIAS: last name, first name, login, number of the user.
_ILIAS = re.compile(r"(?P<last>.+)_(?P<first>[^_]+)_(?P<login>[^_]+)_\d+")


@dataclass(frozen=True)
class Match:
    """Whom a name means; `reason` says why it means nobody."""

    student: str | None
    reason: str = ""


@dataclass(frozen=True)
class FolderName:
    """Whom the name of a folder, or of a file, means.

    `student` is empty where it means nobody, or it is not clear whom; `somebody` is true where it
    means a person, whether or not it is clear whom.  `before` is what stands before a sign of a
    student at its end, as the assignment does before the user's name in what GitHub Classroom calls
    a repository, and `by_ending` is true where nothing else says whom it means.
    """

    student: str = ""
    somebody: bool = False
    before: str | None = None
    by_ending: bool = False


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
        """Each owner's student; one student is never given to two owners."""
        found = {owner: self._match(owner) for owner in sorted(set(owners))}
        claims: dict[str, list[Owner]] = defaultdict(list)
        for owner, match in found.items():
            if match.student is not None:
                claims[match.student].append(owner)
        for student, claimants in claims.items():
            if len(claimants) > 1:
                keys = ", ".join(one.key for one in claimants)
                reason = (
                    f"{len(claimants)} people of the LMS would be the student {student}: {keys}"
                )
                found |= {one: Match(None, reason) for one in claimants}
        return found

    def people(self, names: Iterable[str]) -> dict[str, str]:
        """Each name that means a person → the student; empty where it is not clear who that is.

        A user's name on GitHub may end as another's does, after a hyphen: beside `lab1-kim`, the
        repository `lab1-not-ada` is of somebody who is called not-ada.

        Args:
            names: All that stand beside one another, without what is no name of a person.
        """
        read = {name: self.folder_name(name) for name in names}
        before = {one.before for one in read.values() if one.before is not None}
        longer = tuple(f"{one}{hyphen}" for one in before for hyphen in "-_")
        return {
            name: one.student
            for name, one in read.items()
            if one.somebody and not (one.by_ending and (one.before or "").startswith(longer))
        }

    def submitted_at(self, owner: Owner) -> datetime | None:
        """When the worksheet says that `owner` handed in; None where it does not."""
        participant = self.participants.get((owner.lms, owner.number))
        return participant.submitted_at if participant else None

    def _match(self, owner: Owner) -> Match:
        if owner.key in self.chosen:
            return Match(self.chosen[owner.key])
        if owner.doubt:
            return Match(None, owner.doubt)
        if owner.lms == FOLDER:
            known = any(one.id == owner.name for one in self.students)
            return Match(owner.name) if known else Match(None, _NOBODY)
        if LMS[owner.lms].number_lasts:
            by_number = [one.id for one in self.students if one.lms_user_id == owner.number]
            if by_number:
                return _only(by_number, f"the lms_user_id {owner.number}")
        participant = self.participants.get((owner.lms, owner.number))
        if participant and participant.email:
            address = participant.email.casefold()
            by_address = [one.id for one in self.students if one.email.casefold() == address]
            if by_address:
                return _only(by_address, f"the address {participant.email}")
        return self._by_name(participant.name if participant else owner.name)

    def folder_name(self, name: str) -> FolderName:
        """Whom a name means, whatever stands beside it."""
        if name not in self._folders:
            bare = name.split("+")[0] if name.count("+") > 1 else name  # nbgrader's inbound/
            before, ending = self._ending(bare)
            whole = self._by_whole_name(bare)
            if whole is None:
                self._folders[name] = FolderName(ending, before is not None, before, by_ending=True)
            else:
                before = before if ending and ending == whole else None
                self._folders[name] = FolderName(whole, True, before)
        return self._folders[name]

    def _by_whole_name(self, name: str) -> str | None:
        """The student; empty where it is not clear who that is, None where it means nobody."""
        if name.casefold() in self._signs:
            return self._signs[name.casefold()]
        ilias = _ILIAS.fullmatch(name)
        named = self._named(f"{ilias['first']} {ilias['last']}" if ilias else name)
        login = self._signs.get(ilias["login"].casefold()) if ilias else None
        if login is not None:  # which a learner may have chosen: the name must not say otherwise
            return login if not named or login in named else ""
        if named:
            return named[0] if len(named) == 1 else ""
        return None

    def _ending(self, name: str) -> tuple[str | None, str]:
        """What stands before the longest sign at the end of a name, and whose sign it is.

        So GitHub Classroom calls repositories: the assignment, a hyphen, and the user's name. That
        name is anybody's choice, and may be another student's id: then somebody is meant, but
        nobody can tell who. Only a name of their own in the column `lms_user_id` says it.  Without
        anything before it, the sign is what an instructor's file says beside its lesson.
        """
        for hyphen in re.finditer("[-_]", name):
            before, sign = name[: hyphen.start()].casefold(), name[hyphen.end() :].casefold()
            if sign in self._logins:
                return before, self._logins[sign]
            # week-1 is nobody's
            if sign in self._signs and (len(sign) >= _LONG_NUMBER or not sign.isdecimal()):
                return before, "" if before else self._signs[sign]
        return None, ""

    @cached_property
    def _folders(self) -> dict[str, FolderName]:
        """What `folder_name` has said already."""
        return {}

    @cached_property
    def _signs(self) -> dict[str, str]:
        """What is one student's alone, in small letters: id, number or name in an LMS, address."""
        found: dict[str, set[str]] = defaultdict(set)
        for one in self.students:
            for sign in filter(None, (one.id, one.lms_user_id, one.email)):
                found[sign.casefold()].add(one.id)
        return {sign: min(ids) for sign, ids in found.items() if len(ids) == 1}

    @cached_property
    def _logins(self) -> dict[str, str]:
        """The names on GitHub, or in an LMS, that are one student's alone.

        Numbers are Canvas's, and anybody may call themselves by one on GitHub.
        """
        found: dict[str, set[str]] = defaultdict(set)
        for one in self.students:
            if one.lms_user_id and not one.lms_user_id.isdecimal():
                found[one.lms_user_id.casefold()].add(one.id)
        return {login: min(ids) for login, ids in found.items() if len(ids) == 1}

    def _named(self, name: str) -> list[str]:
        """The students who have this name, in the first spelling in which there are any."""
        for spelling in (letters, plain_letters):
            wanted = spelling(name)
            found = [one.id for one in self.students if wanted and wanted in _names(one, spelling)]
            if found:
                return found
        return []

    def _by_name(self, name: str) -> Match:
        matching = self._named(name)
        if matching:
            return _only(matching, "this name")
        close = did_you_mean(name, [f"{one.first_name} {one.last_name}" for one in self.students])
        return Match(None, f"no student has this name.{close}" if name else "it carries no name")


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


def _names(student: Student, spelling: Callable[[str], str]) -> set[str]:
    first, last = student.first_name, student.last_name
    names = {spelling(student.id)}
    if first or last:
        names |= {spelling(f"{first} {last}"), spelling(f"{last} {first}")}
    return names


def _only(students: list[str], what: str) -> Match:
    if len(students) == 1:
        return Match(students[0])
    return Match(None, f"{len(students)} students have {what}: {', '.join(sorted(students))}")
