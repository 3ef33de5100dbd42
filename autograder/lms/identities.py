"""Who is who in an LMS, as `collect` has seen it; `export` and `feedback --zip` tell it back.

.autograder/lms/<lesson>.json
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import msgspec

from autograder.course_directory import CourseDirectory
from autograder.lms.interface import ArchiveName
from autograder.records.journal import write_json


class LmsStudent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A student as an LMS knows them; `file_id` is Canvas's number of what they handed in."""

    lms: str
    name: str
    number: str
    file_id: str = ""


def lms_students(course: CourseDirectory, lesson: str) -> dict[str, LmsStudent]:
    """Student → how the LMS knows them, as `collect` has seen it for `lesson`."""
    try:
        data = json.loads(_people_path(course, lesson).read_bytes())
        return msgspec.convert(data, dict[str, LmsStudent])
    except (OSError, ValueError):
        return {}


def remember(course: CourseDirectory, lesson: str, people: Mapping[str, ArchiveName]) -> None:
    """Keep how the LMS knows each student who handed in.

    Args:
        course: Its state directory keeps it.
        lesson: Of which the archive was.
        people: Student → the name of their notebook in it; who is not among them stays known.
    """
    known = lms_students(course, lesson) | {one: _known(named) for one, named in people.items()}
    if people:
        write_json(_people_path(course, lesson), msgspec.to_builtins(dict(sorted(known.items()))))


def _known(named: ArchiveName) -> LmsStudent:
    return LmsStudent(named.owner.lms, named.owner.name, named.owner.number, named.file_id)


def _people_path(course: CourseDirectory, lesson: str) -> Path:
    return course.state / "lms" / f"{lesson}.json"
