"""`autograder collect`: from the zip that an LMS gives, or any folder, to submitted/.

Everything in it ends in one of three lists: taken, not matched to a student, refused with the
reason.  One bad file never costs another.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any

from autograder.console import Progress, say
from autograder.course_directory import CourseDirectory, load_course
from autograder.lessons.cells import cells_of, grade_id
from autograder.lessons.model import Lesson
from autograder.lessons.repair import Malformed, read_submission
from autograder.lms import read_name
from autograder.lms.identities import remember
from autograder.lms.interface import ArchiveName, Owner
from autograder.records.journal import only_grader
from autograder.submissions.archive import ArchiveError, ArchiveFile, RefusedEntry
from autograder.submissions.handed_in_at import time_in_utc
from autograder.submissions.handing_in import State, forget_staged, hand_in, stage
from autograder.submissions.matching import FOLDER, Roster, read_roster
from autograder.submissions.sources import NO_NOTEBOOK, read_source

_BOM = b"\xef\xbb\xbf"
# What a browser, an LMS or an operating system adds to the name of a file saved once more.
_TIME = "timestamp.txt"  # nbgrader's, beside a notebook
_AGAIN = re.compile(r"(?:-\d{1,2}| ?\(\d{1,2}\)|[ _-]+(?:copy|Copy)\d*|-checkpoint)+$")


@dataclass(frozen=True)
class CollectedNotebook:
    """A notebook that became a submission; `late` is what the LMS says of it.

    Where the assignment has several, `file` names each that was taken.
    """

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
    part: str  # the name of the source's notebook
    notebook: Path
    notes: tuple[str, ...]
    moment: datetime | None = None  # of a time that lies beside it


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
        archive: A zip of an LMS as downloaded, another archive, a folder or a notebook.
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
        say(json.dumps(asdict(found), indent=1, ensure_ascii=False))
    else:
        say("\n".join(summary_lines(found)))
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
        archive: A zip of an LMS as downloaded, another archive, a folder or a notebook.
        lessons: Notebooks of others are refused.
        roster: Who may hand in.
        progress: Hears of each notebook that is written.

    Raises:
        ArchiveError: It is nothing of these; of a bad file in it the result tells.
        JournalError: A `grade` is at work on this course, or the disk refuses.
    """
    if archive.is_dir() and course.root.is_relative_to(archive.resolve()):
        raise ArchiveError(
            "is the course itself, or holds it",
            place=str(archive),
            remedy="Name the folder with the submissions alone.",
        )
    with only_grader(course.state):
        forget_staged(course)
        try:
            candidates, refused = _read(course, archive, lessons, roster)
            parts = {one.slug: [part.notebook for part in one.notebooks] for one in lessons}
            return _decide(course, roster, candidates, refused, parts, progress or Progress(None))
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
    course: CourseDirectory, archive: Path, lessons: tuple[Lesson, ...], roster: Roster
) -> tuple[list[_Candidate], list[tuple[ArchiveName, RefusedFile]]]:
    """Every notebook of the archive, kept aside, and what is none."""
    candidates: list[_Candidate] = []
    refused: list[tuple[ArchiveName, RefusedFile]] = []
    times: dict[str, datetime] = {}
    slugs = [one.slug for one in lessons]
    for number, found in enumerate(read_source(archive)):
        file = "/".join(found.path)
        named = read_name(found.path) or roster.named_by(found.path, slugs)
        if named.owner.lms == FOLDER and found.path[-1] == _TIME:
            times |= _time_beside(found)
            continue
        verdict = _judge(found, named, lessons)
        if isinstance(verdict, str):
            refused.append((named, RefusedFile(file, verdict)))
            continue
        lesson, part, notebook, notes = verdict
        kept = stage(course, number, notebook)
        candidates.append(_Candidate(named, file, lesson, part, kept, notes))
    timed = [replace(one, moment=times.get(one.file.rpartition("/")[0])) for one in candidates]
    return timed, refused


def _time_beside(found: ArchiveFile | RefusedEntry) -> dict[str, datetime]:
    """Folder → the time that its timestamp.txt says; nothing where that cannot be read."""
    try:
        text = b"" if isinstance(found, RefusedEntry) else found.data[:200]
        return {"/".join(found.path[:-1]): time_in_utc(text.decode("utf-8").strip())}
    except Exception:  # whatever the reading of dates makes of it
        return {}


def _judge(
    found: ArchiveFile | RefusedEntry, named: ArchiveName, lessons: tuple[Lesson, ...]
) -> tuple[str, str, bytes, tuple[str, ...]] | str:
    """The lesson, the name, the bytes and notes of a notebook, or why it is not taken."""
    if isinstance(found, RefusedEntry):
        return found.reason
    if not named.file:
        return "is text or a link typed into the LMS, not a file"
    if not named.file.lower().endswith(".ipynb"):
        return NO_NOTEBOOK
    notes = ("a byte order mark was taken off",) if found.data.startswith(_BOM) else ()
    data = found.data.removeprefix(_BOM)
    try:
        notebook = read_submission(data)  # what the engine would not read is not taken
    except Malformed as malformed:
        return str(malformed)
    answered = _answered(named.file, found.path, notebook, lessons)
    if answered is None:
        names = ", ".join(one.slug for one in lessons)
        return f"has no graded cell of {names}; it is another notebook"
    lesson, part = answered
    if base_name(named.file) != part.notebook:  # Canvas numbers what is uploaded again
        notes = (*notes, f"was handed in as {named.file}")
    return lesson.slug, part.notebook, data, notes


def _answered(
    file: str, path: Sequence[str], notebook: dict[str, Any], lessons: tuple[Lesson, ...]
) -> tuple[Lesson, Lesson] | None:
    """The lesson that a notebook answers, and which of its notebooks.

    Its graded cells say so, then its name, then a folder that is called as the lesson.
    """
    ids = {grade_id(cell) for cell in cells_of(notebook)}
    parts = [(one, part) for one in lessons for part in one.notebooks]
    shared = [len(ids & {each.test_id for each in part.exercises}) for _, part in parts]
    most = max(shared, default=0)
    best = [pair for pair, count in zip(parts, shared, strict=True) if most and count == most]
    if len(best) == 1:
        return best[0]
    called = [pair for pair in best if _is_called(file, *pair)]
    called = called or [pair for pair in parts if _is_called(file, *pair)]
    inside = [pair for pair in called if pair[0].slug in path[:-1]]
    return next(iter(inside or called), None)


def _is_called(file: str, lesson: Lesson, part: Lesson) -> bool:
    return base_name(file) in (part.notebook, *(() if lesson.parts else (lesson.slug,)))


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
    refused: list[tuple[ArchiveName, RefusedFile]],
    parts: Mapping[str, Sequence[str]],
    progress: Progress,
) -> Collected:
    """Match everyone, refuse what is there twice, and write the rest."""
    owners = {one.named.owner for one in candidates}
    refused, beside = _without_company(owners, refused)
    candidates = [_with_company(one, beside[one.named.owner]) for one in candidates]
    matches = roster.match(owners | {named.owner for named, _ in refused})
    files: dict[Owner, list[str]] = defaultdict(list)
    mine: dict[tuple[str, str, str], list[_Candidate]] = defaultdict(list)
    for one in candidates:
        student = matches[one.named.owner].student
        files[one.named.owner].append(one.file)
        if student is not None:
            mine[student, one.lesson, one.part].append(one)
    left = [
        RefusedFile(one.file, one.reason, matches[named.owner].student) for named, one in refused
    ]
    left += [
        RefusedFile(one.file, _twice(one, several), student)
        for (student, *_), several in mine.items()
        if len(several) > 1
        for one in several
    ]
    single: dict[tuple[str, str], list[_Candidate]] = defaultdict(list)
    for (student, lesson, _), several in sorted(mine.items()):
        if len(several) == 1:
            single[student, lesson] += several
    unmatched = tuple(
        Unmatched(owner.key, matches[owner].reason, tuple(files[owner]))
        for owner in sorted(owners)
        if matches[owner].student is None
    )
    return Collected(_write(course, roster, single, parts, progress), unmatched, tuple(left))


def _without_company(
    owners: Iterable[Owner], refused: Iterable[tuple[ArchiveName, RefusedFile]]
) -> tuple[list[tuple[ArchiveName, RefusedFile]], Counter[Owner]]:
    """What is to be told, and how many other files lie beside notebooks in folders.

    A repository or a folder of work holds more than what was asked for; that is no refusal.
    """
    known, told, beside = set(owners), [], Counter[Owner]()
    for named, one in refused:
        owner = named.owner
        if owner.lms == FOLDER and owner in known and one.reason == NO_NOTEBOOK:
            beside[owner] += 1
        else:
            told.append((named, one))
    return told, beside


def _with_company(one: _Candidate, files: int) -> _Candidate:
    if not files:
        return one
    count = "a file that is" if files == 1 else f"{files:,} files that are"
    return replace(one, notes=(*one.notes, f"{count} no notebook stayed where it was"))


def _twice(one: _Candidate, several: list[_Candidate]) -> str:
    others = ", ".join(each.file for each in several if each is not one)
    what = one.lesson if one.part == one.lesson else f"{one.lesson}/{one.part}"
    return f"is one of {len(several)} notebooks of {what} by one student; the other: {others}"


def _write(
    course: CourseDirectory,
    roster: Roster,
    single: Mapping[tuple[str, str], Sequence[_Candidate]],
    parts: Mapping[str, Sequence[str]],
    progress: Progress,
) -> tuple[CollectedNotebook, ...]:
    taken = []
    people: dict[str, dict[str, ArchiveName]] = defaultdict(dict)
    progress.expect(len(single))
    for (student, lesson), found in sorted(single.items()):
        first, staged = found[0], {one.part: one.notebook for one in found}
        moment = roster.submitted_at(first.named.owner) or _latest(found)
        others = [name for name in parts[lesson] if name not in staged]
        taken.append(
            CollectedNotebook(
                student,
                lesson,
                ", ".join(one.file for one in found),
                hand_in(course, student, lesson, staged, moment, others),
                any(one.named.late for one in found),
                moment.isoformat() if moment else None,
                tuple(dict.fromkeys(note for one in found for note in one.notes)),
            )
        )
        if first.named.owner.lms != FOLDER:
            people[lesson][student] = first.named
        progress.step(student)
    for lesson, names in people.items():
        remember(course, lesson, names)
    return tuple(taken)


def _latest(found: Iterable[_Candidate]) -> datetime | None:
    """The last of the times that lie beside the notebooks of one submission."""
    return max((one.moment for one in found if one.moment is not None), default=None)
