"""`autograder collect`: from the zip that an LMS gives, or any folder, to submitted/.

Everything in it ends in one of three lists: taken, not matched to a student, refused with the
reason.  One bad file never costs another.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import asdict, dataclass
from datetime import datetime, tzinfo
from pathlib import Path

from autograder.console import Progress, json_text, say
from autograder.course_directory import CourseDirectory, load_course
from autograder.lessons.model import Lesson
from autograder.lms.identities import LmsStudent, former_holders, lms_students, remember
from autograder.lms.interface import Owner
from autograder.records.journal import only_grader
from autograder.submissions.archive import ArchiveError
from autograder.submissions.candidates import Candidate, Left, read_candidates
from autograder.submissions.handing_in import State, forget_staged, hand_in
from autograder.submissions.matching import FOLDER, Roster, read_roster
from autograder.submissions.signs import Match

_OTHERS = 3  # notebooks that a reason names beside its own
_NUMBER_UNKNOWN = (
    "whose number in the LMS this is cannot be told from its name, so no page goes back by a zip; "
    "for Canvas write the number into students.csv, column lms_user_id, and collect again"
)
_LINES = 20  # files of one owner that the summary for people names
_OWNERS = 200  # that it names; --json names all


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
    """A file that was not taken; `owner` is the key of whose it is, student or not."""

    file: str
    reason: str
    student: str | None = None
    owner: str = ""


@dataclass(frozen=True)
class Collected:
    """What became of everything in the archive.

    `by_name` are the students whom nothing but a name in it told, and people choose their names.
    """

    taken: tuple[CollectedNotebook, ...]
    unmatched: tuple[Unmatched, ...]
    refused: tuple[RefusedFile, ...]
    by_name: tuple[str, ...] = ()


def run(
    course: Path,
    archive: Path,
    lessons: tuple[Lesson, ...],
    *,
    worksheet: Path | None = None,
    match: Sequence[str] = (),
    zone: tzinfo | None = None,
    system: str = "",
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
        system: The one that has written the names; empty where that is to be guessed.
        db: The gradebook's address, where it is not the configured one.
        as_json: Print what became of every file as JSON.
    """
    directory = load_course(course, db=db)
    roster = read_roster(directory, worksheet=worksheet, chosen=match, zone=zone, system=system)
    with Progress(sys.stderr, "collect") as progress:
        found = collect(directory, archive, lessons, roster, progress=progress)
    if as_json:
        say(json_text(asdict(found)))
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
            candidates, left = read_candidates(course, archive, lessons, roster)
            parts = {one.slug: [part.notebook for part in one.notebooks] for one in lessons}
            return _decide(course, roster, candidates, left, parts, progress or Progress(None))
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
    if found.by_name:
        more = f" and {len(found.by_name) - _LINES} more" if len(found.by_name) > _LINES else ""
        names = ", ".join(found.by_name[:_LINES]) + more
        yield f"known by their names alone, which people choose ({len(found.by_name)}): {names}"
        yield "  (surely by lms_user_id in students.csv; in Moodle by addresses and --worksheet)"
    if found.unmatched:
        yield f"not matched to a student ({len(found.unmatched)}), use --match KEY=STUDENT:"
        for who in found.unmatched[:_OWNERS]:
            yield f"  {who.key}: {who.reason}"
            yield from (f"      {line}" for line in _at_most(who.files))
        yield from _more_owners(found.unmatched)
    if found.refused:
        yield f"refused ({len(found.refused)}):"
        yield from (f"  {line}" for line in _refused_lines(found.refused))
    if not (found.taken or found.unmatched or found.refused):
        yield "The archive holds no file."


def _refused_lines(refused: Iterable[RefusedFile]) -> Iterable[str]:
    by_owner: dict[str, list[str]] = defaultdict(list)
    for left in refused:
        by_owner[left.student or left.owner].append(f"{left.file}: {left.reason}")
    for owner, lines in list(by_owner.items())[:_OWNERS]:
        yield from _at_most(lines, f" of {owner}")
    yield from _more_owners(by_owner)


def _more_owners(owners: Sized) -> Iterable[str]:
    if len(owners) > _OWNERS:
        yield f"… and those of {len(owners) - _OWNERS:,} more; --json names them all"


def _at_most(lines: Sequence[str], whose: str = "") -> Iterable[str]:
    """The first lines, and how many more there are."""
    yield from lines[:_LINES]
    if len(lines) > _LINES:
        yield f"… and {len(lines) - _LINES:,} more{whose}"


def _decide(
    course: CourseDirectory,
    roster: Roster,
    candidates: Sequence[Candidate],
    left: Sequence[Left],
    parts: Mapping[str, Sequence[str]],
    progress: Progress,
) -> Collected:
    """Match everyone, refuse what is there twice, and write the rest."""
    owners = {one.named.owner for one in candidates}
    matches = roster.match(owners | {one.named.owner for one in left})
    files: dict[Owner, list[str]] = defaultdict(list)
    mine: dict[tuple[str, str, str], list[Candidate]] = defaultdict(list)
    for one in candidates:
        student = matches[one.named.owner].student
        files[one.named.owner].append(one.file)
        if student is not None:
            mine[student, one.lesson, one.part].append(one)
    refused = [
        RefusedFile(one.file, one.reason, matches[one.named.owner].student, one.named.owner.key)
        for one in left
    ]
    single: dict[tuple[str, str], list[Candidate]] = defaultdict(list)
    for (student, lesson, _), several in sorted(mine.items()):
        # What only a name says to be theirs takes nothing of what surely is.
        sure = [one for one in several if not matches[one.named.owner].by_name] or several
        taken = sure if len(sure) == 1 else []
        if taken:
            single[student, lesson] += taken
        refused += [
            RefusedFile(one.file, _twice(one, several), student, one.named.owner.key)
            for one in several
            if one not in taken
        ]
    unmatched = tuple(
        Unmatched(owner.key, matches[owner].reason, tuple(files[owner]))
        for owner in sorted(owners)
        if matches[owner].student is None
    )
    written = _write(course, roster, matches, single, parts, progress)
    by_name = {
        student
        for (student, _), several in single.items()
        if any(matches[one.named.owner].by_name for one in several)
    }
    return Collected(written, unmatched, tuple(refused), tuple(sorted(by_name)))


def _twice(one: Candidate, several: Sequence[Candidate]) -> str:
    others = [each.file for each in several[: _OTHERS + 1] if each is not one][:_OTHERS]
    more = len(several) - 1 - len(others)
    names = ", ".join(others) + (f" and {more:,} more" if more else "")
    what = one.lesson if one.part == one.lesson else f"{one.lesson}/{one.part}"
    return f"is one of {len(several):,} notebooks of {what} by one student; the other: {names}"


def _write(
    course: CourseDirectory,
    roster: Roster,
    matches: Mapping[Owner, Match],
    single: Mapping[tuple[str, str], Sequence[Candidate]],
    parts: Mapping[str, Sequence[str]],
    progress: Progress,
) -> tuple[CollectedNotebook, ...]:
    taken = []
    people: dict[str, dict[str, LmsStudent | None]] = defaultdict(dict)
    progress.expect(len(single))
    for (student, lesson), found in sorted(single.items()):
        first, staged = found[0], {one.part: one.notebook for one in found}
        notes = [note for one in found for note in one.notes]
        seen = _seen(found, matches, roster.number_of(student))
        if seen is None and first.named.owner.lms != FOLDER:
            notes.append(_NUMBER_UNKNOWN)
        if seen is not None:
            notes += _of_former(course, lesson, student, seen)
        if unread := roster.unread_time(first.named.owner):
            notes.append(f"the worksheet's time '{unread[:60]}' cannot be read: nobody is late")
        moment = roster.submitted_at(first.named.owner) or _latest(found)
        others = [name for name in parts[lesson] if name not in staged]
        state = hand_in(course, student, lesson, staged, moment, others)
        if seen is not None or state != "unchanged":
            people[lesson][student] = seen
        taken.append(
            CollectedNotebook(
                student,
                lesson,
                ", ".join(one.file for one in found),
                state,
                any(one.named.late for one in found),
                moment.isoformat() if moment else None,
                tuple(dict.fromkeys(notes)),
            )
        )
        progress.step(student)
    for lesson, names in people.items():
        remember(course, lesson, names)
    return tuple(taken)


def _seen(
    found: Iterable[Candidate], matches: Mapping[Owner, Match], number: str
) -> LmsStudent | None:
    """How the LMS knows the student whose these are; None where their names do not tell.

    Args:
        found: What one student handed in.
        matches: Whom the owners mean.
        number: The student's in students.csv; empty where it has none.
    """
    for one in found:
        named = one.named.of_number(number)
        if named is not None:
            who, by_name = named.owner, matches[one.named.owner].by_name
            return LmsStudent(who.lms, who.name, who.number, named.file_id, by_name)
    return None


def _of_former(
    course: CourseDirectory, lesson: str, student: str, seen: LmsStudent
) -> Iterator[str]:
    """What to do with work of this person that was taken for somebody else's before."""
    for former in former_holders(lms_students(course, lesson), student, seen):
        place = course.submitted(former, lesson).relative_to(course.root)
        yield f"{place} came from the same person before: take it out unless it is {former}'s"


def _latest(found: Iterable[Candidate]) -> datetime | None:
    """The last of the times that lie beside the notebooks of one submission."""
    return max((one.moment for one in found if one.moment is not None), default=None)
