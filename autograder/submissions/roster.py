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
from datetime import UTC, datetime, tzinfo
from pathlib import Path

from autograder.course_directory import CourseDirectory
from autograder.errors import UsageError, did_you_mean
from autograder.submissions.class_list import ROSTER, RosterError, read_table
from autograder.submissions.lms_names import Owner, letters, plain_letters

_DATES = ("%A, %d %B %Y, %I:%M %p", "%A, %d %B %Y, %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M")


Enrolled = Mapping[str, tuple[str, str]]  # student -> first and last name, as in the gradebook


@dataclass(frozen=True)
class Student:
    """One student of the course."""

    id: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    lms_user_id: str = ""


@dataclass(frozen=True)
class Participant:
    """One line of Moodle's grading worksheet."""

    number: str
    name: str
    email: str = ""
    submitted_at: datetime | None = None


@dataclass(frozen=True)
class Match:
    """Whom a name means; `reason` says why it means nobody."""

    student: str | None
    reason: str = ""


@dataclass(frozen=True)
class Roster:
    """Everyone who may hand something in.

    `chosen` are the owners whom the instructor matched by hand; `participants` is Moodle's
    worksheet by its numbers.
    """

    students: tuple[Student, ...]
    participants: Mapping[str, Participant] = field(default_factory=dict)
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
        participant = self.participants.get(owner.number) if owner.lms == "moodle" else None
        return participant.submitted_at if participant else None

    def _match(self, owner: Owner) -> Match:
        if owner.key in self.chosen:
            return Match(self.chosen[owner.key])
        if owner.lms == "canvas":
            by_number = [one.id for one in self.students if one.lms_user_id == owner.number]
            if by_number:
                return _only(by_number, f"the lms_user_id {owner.number}")
        participant = self.participants.get(owner.number) if owner.lms == "moodle" else None
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
    enrolled: Enrolled,
    *,
    worksheet: Path | None = None,
    chosen: Iterable[str] = (),
    zone: tzinfo | None = None,
) -> Roster:
    """The students of `course`.

    Args:
        course: Has students.csv, or not.
        enrolled: Student → first and last name, from the gradebook.
        worksheet: Moodle's grading worksheet: addresses and times.
        chosen: `KEY=STUDENT`, whom a person matched by hand.
        zone: Of the worksheet's times; None for this machine's.

    Raises:
        RosterError: Nobody is known, or a list cannot be read.
        UsageError: A pair of `chosen` names no student.
    """
    students = known_students(course, enrolled)
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
    people = {one.number: one for one in _participants(worksheet, zone)} if worksheet else {}
    return Roster(tuple(students.values()), people, by_hand)


def known_students(course: CourseDirectory, enrolled: Enrolled) -> dict[str, Student]:
    """The students of the gradebook and of students.csv, which wins, by their ids.

    Args:
        course: Has students.csv, or not.
        enrolled: Student → first and last name, from the gradebook.

    Raises:
        RosterError: students.csv cannot be read, or an id in it cannot name a directory.
    """
    of_gradebook = (Student(id_, *names) for id_, names in enrolled.items())
    return {one.id: one for one in (*of_gradebook, *_of_file(course.root / ROSTER))}


def _of_file(path: Path) -> list[Student]:
    if not path.is_file():
        return []
    known = ("first_name", "last_name", "email", "lms_user_id")
    rows = [row for row in read_table(path) if row.get("id")]
    for row in rows:
        if re.search(r"[/\\\x00-\x1f]|^\.", row["id"]):
            raise RosterError(
                f"'{row['id']}' cannot be a student's id, as it cannot be a directory's name",
                place=str(path),
                remedy="Use letters, digits, hyphens and dots inside.",
            )
    return [Student(row["id"], **{key: row.get(key, "") for key in known}) for row in rows]


def _participants(path: Path, zone: tzinfo | None) -> list[Participant]:
    rows = read_table(path)
    if not rows or not {"Identifier", "Full name"} <= rows[0].keys():
        raise RosterError(
            "is no grading worksheet of Moodle in English: Identifier or Full name is missing",
            place=str(path),
            remedy="Set Moodle's language to English and choose Download grading worksheet.",
        )
    return [
        Participant(
            number=re.sub(r"\D", "", row["Identifier"]),
            name=row["Full name"],
            email=row.get("Email address", ""),
            submitted_at=_moment(row.get("Last modified (submission)", ""), zone),
        )
        for row in rows
    ]


def _moment(text: str, zone: tzinfo | None) -> datetime | None:
    """The time in UTC; Moodle writes it in the zone of whoever downloads."""
    for form in _DATES:
        try:
            local = datetime.strptime(text, form)
        except ValueError:
            continue
        placed = local.replace(tzinfo=zone) if zone else local
        return placed.astimezone(UTC)
    return None


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
