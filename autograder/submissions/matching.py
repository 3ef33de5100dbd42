"""Which student of the course an LMS means by a name.

The students are those of students.csv and of the gradebook.  A name is matched by its letters,
in either order of first and last name; where two students, or two people of the LMS, would share
one, nobody is guessed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
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


@dataclass(frozen=True)
class Match:
    """Whom a name means; `reason` says why it means nobody."""

    student: str | None
    reason: str = ""


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

    def submitted_at(self, owner: Owner) -> datetime | None:
        """When the worksheet says that `owner` handed in; None where it does not."""
        participant = self.participants.get((owner.lms, owner.number))
        return participant.submitted_at if participant else None

    def _match(self, owner: Owner) -> Match:
        if owner.key in self.chosen:
            return Match(self.chosen[owner.key])
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

    def _by_name(self, name: str) -> Match:
        for spelling in (letters, plain_letters):
            wanted = spelling(name)
            matching = [
                one.id for one in self.students if wanted and wanted in _names(one, spelling)
            ]
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
        RosterError: students.csv cannot be read, or an id in it cannot name a directory.
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
