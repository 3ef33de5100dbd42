"""Who is who in an LMS, as `collect` has seen it; `export` and `feedback --zip` tell it back.

.autograder/lms/<lesson>.json
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import msgspec

from autograder.course_directory import CourseDirectory
from autograder.records.journal import write_json


class LmsStudent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A student as an LMS knows them.

    `file_id` is Canvas's number of what they handed in.  `by_name` is true where only the name said
    that it is this student, and people choose their names.
    """

    lms: str
    name: str
    number: str
    file_id: str = ""
    by_name: bool = False


def lms_students(course: CourseDirectory, lesson: str) -> dict[str, LmsStudent]:
    """Student → how the LMS knows them, as `collect` has seen it for `lesson`."""
    try:
        data = json.loads(_people_path(course, lesson).read_bytes())
        return msgspec.convert(data, dict[str, LmsStudent])
    except (OSError, ValueError):
        return {}


def remember(course: CourseDirectory, lesson: str, people: Mapping[str, LmsStudent | None]) -> None:
    """Keep how the LMS knows each student who handed in.

    Work that comes in another way takes the place of what a name alone said to be theirs: the page
    on it must not go to whoever bore that name.  A number that was taken for somebody else's before
    is nobody's but theirs now.

    Args:
        course: Its state directory keeps it.
        lesson: Of which the submissions are.
        people: Those whose work was taken; None where their number is not known. Others stay known.
    """
    before = lms_students(course, lesson)
    known = dict(before)
    for student, seen in people.items():
        if seen is not None:
            for former in former_holders(before, student, seen):
                if people.get(former) is None:
                    known.pop(former, None)
            known[student] = seen
        elif student in known and known[student].by_name:
            del known[student]
    if known != before:
        write_json(_people_path(course, lesson), msgspec.to_builtins(dict(sorted(known.items()))))


def former_holders(
    known: Mapping[str, LmsStudent], student: str, seen: LmsStudent
) -> tuple[str, ...]:
    """Who else was taken before for the person whom the LMS knows as `seen`.

    Args:
        known: As `lms_students` gives it.
        student: Who it is now.
        seen: How the LMS knows them.
    """
    key = seen.lms, seen.number
    return tuple(
        name for name, one in known.items() if name != student and (one.lms, one.number) == key
    )


def told_apart(
    people: Mapping[str, LmsStudent], numbers: Mapping[str, str]
) -> dict[str, LmsStudent]:
    """Those of `people` whose number is nobody else's, too: points of two for one would be wrong.

    Of several who have one, it is whom students.csv or something surer than a name says.

    Args:
        people: How one LMS knows students.
        numbers: What students.csv says of them; nobody's is empty.
    """
    holders: dict[str, set[str]] = defaultdict(set)
    for student, one in people.items():
        holders[one.number].add(student)
    for student, number in numbers.items():
        holders[number].add(student)
    kept = {}
    for student, one in people.items():
        several = holders[one.number]
        said = {who for who in several if numbers.get(who) == one.number}
        sure = said or {who for who in several if who in people and not people[who].by_name}
        if not one.number or several == {student} or sure == {student}:
            kept[student] = one
    return kept


def _people_path(course: CourseDirectory, lesson: str) -> Path:
    return course.state / "lms" / f"{lesson}.json"
