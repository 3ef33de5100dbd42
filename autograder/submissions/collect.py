"""`autograder collect`: from the zip that an LMS gives to submitted/.

Everything in the archive ends in one of three lists: taken, not matched to a student, refused with
the reason.  One bad file never costs another.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any

from autograder.console import Progress
from autograder.course_directory import CourseDirectory, load_course
from autograder.lessons.cells import cells_of, grader
from autograder.lessons.model import Lesson
from autograder.lessons.repair import Malformed, read_submission
from autograder.lms import LMS, read_name
from autograder.lms.identities import remember
from autograder.lms.interface import ArchiveName, Owner
from autograder.records.journal import only_grader
from autograder.submissions.archive import ArchiveFile, RefusedEntry, read_archive
from autograder.submissions.handing_in import State, forget_staged, hand_in, stage
from autograder.submissions.matching import Roster, read_roster

_BOM = b"\xef\xbb\xbf"
# What a browser, an LMS or an operating system adds to the name of a file saved once more.
_AGAIN = re.compile(r"(?:-\d{1,2}| ?\(\d{1,2}\)|[ _-]+(?:copy|Copy)\d*|-checkpoint)+$")


@dataclass(frozen=True)
class CollectedNotebook:
    """A notebook that became a submission; `late` is what the LMS says of it."""

    student: str
    lesson: str
    file: str
    state: State
    late: bool = False
    submitted_at: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Unmatched:
    """Somebody of the LMS who is no student of the course, with what they handed in."""

    key: str
    reason: str
    files: tuple[str, ...]


@dataclass(frozen=True)
class RefusedFile:
    """A file that was not taken."""

    file: str
    reason: str
    student: str | None = None


@dataclass(frozen=True)
class Collected:
    """What became of everything in the archive."""

    taken: tuple[CollectedNotebook, ...]
    unmatched: tuple[Unmatched, ...]
    refused: tuple[RefusedFile, ...]


@dataclass(frozen=True)
class _Candidate:
    """A notebook that is kept aside until everything was read."""

    named: ArchiveName
    file: str
    lesson: str
    notebook: Path
    notes: tuple[str, ...]


def run(
    course: Path,
    archive: Path,
    lessons: tuple[Lesson, ...],
    *,
    worksheet: Path | None = None,
    match: Sequence[str] = (),
    zone: tzinfo | None = None,
    db: str | None = None,
    as_json: bool = False,
) -> int:
    """Collect and print what became of everything; 0 where all was taken, else 1.

    Args:
        course: The course directory.
        archive: A zip of an LMS, as downloaded.
        lessons: Notebooks of others are refused.
        worksheet: The list that the LMS gives beside the archive.
        match: `KEY=STUDENT`, whom a person matched by hand.
        zone: Of the worksheet's times; None for this machine's.
        db: The gradebook's address, where it is not the configured one.
        as_json: Print what became of every file as JSON.
    """
    directory = load_course(course, db=db)
    roster = read_roster(directory, worksheet=worksheet, chosen=match, zone=zone)
    with Progress(sys.stderr, "collect") as progress:
        found = collect(directory, archive, lessons, roster, progress=progress)
    if as_json:
        print(json.dumps(asdict(found), indent=1, ensure_ascii=False))
    else:
        print("\n".join(summary_lines(found)))
    return 1 if found.unmatched or found.refused else 0


def collect(
    course: CourseDirectory,
    archive: Path,
    lessons: tuple[Lesson, ...],
    roster: Roster,
    *,
    progress: Progress | None = None,
) -> Collected:
    """Take in what `archive` holds for `lessons`.

    Args:
        course: Where submitted/ is.
        archive: A zip of an LMS, as downloaded.
        lessons: Notebooks of others are refused.
        roster: Who may hand in.
        progress: Hears of each notebook that is written.

    Raises:
        ArchiveError: It is no zip at all; of a bad file in it the result tells.
        JournalError: A `grade` is at work on this course, or the disk refuses.
    """
    with only_grader(course.state):
        forget_staged(course)
        try:
            candidates, refused = _read(course, archive, lessons)
            return _decide(course, roster, candidates, refused, progress or Progress(None))
        finally:
            forget_staged(course)


def summary_lines(found: Collected) -> Iterable[str]:
    """What became of everything, for people."""
    by_lesson: dict[str, Counter[str]] = defaultdict(Counter)
    for one in found.taken:
        by_lesson[one.lesson][one.state] += 1
    for lesson, states in sorted(by_lesson.items()):
        counts = ", ".join(f"{states[state]} {state}" for state in ("new", "replaced", "unchanged"))
        yield f"{lesson}: {counts}"
    for one in found.taken:
        for note in (*one.notes, *(["the LMS says it was late"] if one.late else [])):
            yield f"  {one.student}: {note}"
    if found.unmatched:
        yield f"not matched to a student ({len(found.unmatched)}), use --match KEY=STUDENT:"
        for who in found.unmatched:
            yield f"  {who.key}: {who.reason}"
            yield from (f"      {file}" for file in who.files)
    if found.refused:
        yield f"refused ({len(found.refused)}):"
        yield from (f"  {left.file}: {left.reason}" for left in found.refused)
    if not (found.taken or found.unmatched or found.refused):
        yield "The archive holds no file."


def _read(
    course: CourseDirectory, archive: Path, lessons: tuple[Lesson, ...]
) -> tuple[list[_Candidate], list[tuple[ArchiveName | None, RefusedFile]]]:
    """Every notebook of the archive, kept aside, and what is none."""
    candidates: list[_Candidate] = []
    refused: list[tuple[ArchiveName | None, RefusedFile]] = []
    for number, found in enumerate(read_archive(archive)):
        file, named = "/".join(found.path), read_name(found.path)
        verdict = _judge(found, named, lessons)
        if isinstance(verdict, str):
            refused.append((named, RefusedFile(file, verdict)))
            continue
        lesson, notebook, notes = verdict
        assert named is not None
        kept = stage(course, number, notebook)
        candidates.append(_Candidate(named, file, lesson, kept, notes))
    return candidates, refused


def _judge(
    found: ArchiveFile | RefusedEntry, named: ArchiveName | None, lessons: tuple[Lesson, ...]
) -> tuple[str, bytes, tuple[str, ...]] | str:
    """The lesson, the bytes and notes of a notebook, or the reason why it is not taken."""
    if isinstance(found, RefusedEntry):
        return found.reason
    if named is None:
        known = " nor ".join(f"{one.title}'s" for one in LMS.values())
        return f"its name is neither {known}, so nobody can be found by it"
    if not named.file:
        return "is text or a link typed into the LMS, not a file"
    if not named.file.lower().endswith(".ipynb"):
        return "is not a notebook (.ipynb)"
    notes = ("a byte order mark was taken off",) if found.data.startswith(_BOM) else ()
    data = found.data.removeprefix(_BOM)
    try:
        notebook = read_submission(data)  # what the engine would not read is not taken
    except Malformed as malformed:
        return str(malformed)
    lesson = _lesson_of(named.file, notebook, lessons)
    if isinstance(lesson, str):
        return lesson
    if base_name(named.file) != lesson.slug:  # Canvas numbers what is uploaded again
        notes = (*notes, f"was handed in as {named.file}")
    return lesson.slug, data, notes


def _lesson_of(file: str, notebook: dict[str, Any], lessons: tuple[Lesson, ...]) -> Lesson | str:
    """The lesson that a notebook answers, by its graded cells, then by its name."""
    ids = {str(grader(cell).get("grade_id", "")) for cell in cells_of(notebook)}
    shared = {one.slug: len(ids & {each.test_id for each in one.exercises}) for one in lessons}
    most = max(shared.values(), default=0)
    best = [one for one in lessons if most and shared[one.slug] == most]
    if len(best) == 1:
        return best[0]
    named = [one for one in lessons if one.slug == base_name(file)]
    if named:
        return named[0]
    names = ", ".join(one.slug for one in lessons)
    return f"has no graded cell of {names}; it is another notebook"


def base_name(file: str) -> str:
    """The name of a notebook without its ending and without what saving it again added.

    >>> base_name("04-memory-layout-1.ipynb"), base_name("04-memory-layout (2).ipynb")
    ('04-memory-layout', '04-memory-layout')
    """
    stem = re.sub(r"\.ipynb$", "", file, flags=re.IGNORECASE)
    return _AGAIN.sub("", stem)


def _decide(
    course: CourseDirectory,
    roster: Roster,
    candidates: list[_Candidate],
    refused: list[tuple[ArchiveName | None, RefusedFile]],
    progress: Progress,
) -> Collected:
    """Match everyone, refuse what is there twice, and write the rest."""
    owners = {one.named.owner for one in candidates}
    matches = roster.match(owners | {named.owner for named, _ in refused if named})
    files: dict[Owner, list[str]] = defaultdict(list)
    mine: dict[tuple[str, str], list[_Candidate]] = defaultdict(list)
    for one in candidates:
        student = matches[one.named.owner].student
        files[one.named.owner].append(one.file)
        if student is not None:
            mine[student, one.lesson].append(one)
    left = [
        RefusedFile(one.file, one.reason, matches[named.owner].student if named else None)
        for named, one in refused
    ]
    left += [
        RefusedFile(one.file, _twice(one, several), student)
        for (student, _), several in mine.items()
        if len(several) > 1
        for one in several
    ]
    single = {where: several[0] for where, several in mine.items() if len(several) == 1}
    unmatched = tuple(
        Unmatched(owner.key, matches[owner].reason, tuple(files[owner]))
        for owner in sorted(owners)
        if matches[owner].student is None
    )
    return Collected(_write(course, roster, single, progress), unmatched, tuple(left))


def _twice(one: _Candidate, several: list[_Candidate]) -> str:
    others = ", ".join(each.file for each in several if each is not one)
    return f"is one of {len(several)} notebooks of {one.lesson} by one student; the other: {others}"


def _write(
    course: CourseDirectory,
    roster: Roster,
    single: dict[tuple[str, str], _Candidate],
    progress: Progress,
) -> tuple[CollectedNotebook, ...]:
    taken = []
    people: dict[str, dict[str, ArchiveName]] = defaultdict(dict)
    progress.expect(len(single))
    for (student, lesson), one in sorted(single.items()):
        moment: datetime | None = roster.submitted_at(one.named.owner)
        state = hand_in(course, student, lesson, one.notebook, moment)
        time = moment.isoformat() if moment else None
        taken.append(
            CollectedNotebook(student, lesson, one.file, state, one.named.late, time, one.notes)
        )
        people[lesson][student] = one.named
        progress.step(student)
    for lesson, names in people.items():
        remember(course, lesson, names)
    return tuple(taken)
