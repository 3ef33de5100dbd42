"""What a source holds: notebooks, kept aside with whose they are and what they answer; the rest.

Whose a file is can be told only when all of the source was read, so what is decided before is what
a file says by itself.  What is no notebook in an archive of the learner's own is only counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from autograder.course_directory import CourseDirectory
from autograder.lessons.cells import cells_of, grade_id
from autograder.lessons.model import Lesson
from autograder.lessons.repair import Malformed, read_submission
from autograder.lms import LMS
from autograder.lms.interface import ARCHIVES, ArchiveName, Owner
from autograder.submissions.archive import (
    GIT,
    NO_NOTEBOOK,
    TIME,
    Accounts,
    ArchiveFile,
    RefusedEntry,
    Sharing,
    Whose,
)
from autograder.submissions.handed_in_at import time_in_utc
from autograder.submissions.handing_in import stage
from autograder.submissions.matching import FOLDER, Roster
from autograder.submissions.owners import Owners, Place
from autograder.submissions.signs import Match
from autograder.submissions.sources import read_source

_BOM = b"\xef\xbb\xbf"
_NOT_BELIEVED = "a timestamp.txt of their own was not believed"
# What a browser, an LMS or an operating system adds to the name of a file saved once more: `-1`,
# ` (1)`, ` copy2`, `-checkpoint`. Read from its end on, no name takes long.
_AGAIN = re.compile(r"(?:\d{1,2}-|\)\d{1,2}\( ?|\d*(?:ypoc|ypoC)[ _-]+|tniopkcehc-)+")
_Part = tuple[Lesson, Lesson]  # a lesson, and one of its notebooks


@dataclass(frozen=True)
class Candidate:
    """A notebook that is kept aside until it is decided what becomes of it."""

    named: ArchiveName
    file: str
    lesson: str
    part: str  # the name of the source's notebook
    notebook: Path
    notes: tuple[str, ...]
    moment: datetime | None = None  # of a time that lies beside it

    @property
    def folder(self) -> str:
        """Where in the source it lies."""
        return self.file.rpartition("/")[0]


@dataclass(frozen=True)
class Left:
    """A file that is not taken."""

    named: ArchiveName
    file: str
    reason: str


@dataclass(frozen=True)
class _Found:
    """A file before it is known whose it is; `reason` says why it is not taken, whoever's it is.

    `notebook` is where it is kept aside, None where nothing in it says that it answers a lesson;
    `answers` are the notebooks whose graded cells it has, as far as cells tell; `text` is what a
    timestamp.txt begins with.
    """

    place: Place
    reason: str = ""
    notebook: Path | None = None
    answers: tuple[_Part, ...] = ()
    notes: tuple[str, ...] = ()
    text: bytes = b""

    @property
    def file(self) -> str:
        return "/".join(self.place.path)

    @property
    def folder(self) -> str:
        return "/".join(self.place.path[:-1])

    @property
    def is_time(self) -> bool:
        return self.place.path[-1] == TIME


@dataclass(frozen=True)
class _Source:
    """All that was read.

    `own_files` counts, by the place of a learner's own archive, what in it is no notebook;
    `own_times` are folders in such archives with a timestamp.txt; `with_git` are those that are a
    repository, or hold one.
    """

    files: list[_Found] = field(default_factory=list)
    own_files: Counter[Place] = field(default_factory=Counter)
    own_times: set[str] = field(default_factory=set)
    with_git: set[tuple[str, ...]] = field(default_factory=set)


def read_candidates(
    course: CourseDirectory, archive: Path, lessons: tuple[Lesson, ...], roster: Roster
) -> tuple[list[Candidate], list[Left]]:
    """The notebooks of a source, kept aside, and what is not taken of the rest.

    Args:
        course: Its state directory keeps them.
        archive: As `read_source` takes it.
        lessons: Notebooks of others are left.
        roster: Who may hand in.

    Raises:
        ArchiveError: It cannot be read.
        JournalError: The disk refuses.
    """
    slugs = [one.slug for one in lessons]
    source = _read(course, archive, lessons, partial(_whose, roster, slugs))
    owners = Owners((*(one.place for one in source.files), *source.own_files), roster, slugs)
    candidates: list[Candidate] = []
    left: list[Left] = []
    times: list[tuple[_Found, ArchiveName]] = []
    for one in source.files:
        named = owners.of(one.place)
        verdict = _claimed(one, named, lessons)
        if isinstance(verdict, Candidate):
            candidates.append(verdict)
        elif one.is_time:
            times.append((one, named))
        else:
            left.append(Left(named, one.file, verdict))
    candidates, others = _with_times(source, candidates, times, slugs)
    counts = [(owners.of(one), one.path, files) for one, files in source.own_files.items()]
    return _without_company(candidates, [*left, *others], counts)


def _whose(roster: Roster, slugs: Sequence[str], accounts: Accounts) -> Whose:
    """Which student's a file of the source is, by all that lies there.

    What is theirs by name alone takes nothing from what surely is.
    """
    owners = Owners(map(_outer_place, accounts, accounts.values()), roster, slugs)

    def whose(path: tuple[str, ...]) -> Match | None:
        match = owners.match(owners.of(_outer_place(path, accounts[path])).owner)
        return match if match.student is not None else None

    return whose


def _outer_place(path: tuple[str, ...], account: str) -> Place:
    """Where a file of the source lies; of an archive, where a file in it would."""
    is_archive = path[-1].lower().endswith(ARCHIVES)
    return Place((*path, "a file in it") if is_archive else path, len(path), account)


def _read(
    course: CourseDirectory, archive: Path, lessons: tuple[Lesson, ...], sharing: Sharing
) -> _Source:
    """Every file of the source, by itself; the notebooks of these lessons are kept aside."""
    source = _Source()
    for number, one in enumerate(read_source(archive, sharing)):
        path = one.path
        if GIT in path:
            if not one.above:
                at = path.index(GIT)
                source.with_git.update(path[:end] for end in range(at + 1))
            continue
        verdict = _judge(one, lessons)
        place = Place(path, len(one.above or path), one.account)
        if not isinstance(verdict, str):
            answers, notebook, notes = verdict
            # Others only take the disk's room, as much of it as people hand in.
            is_one = _may_answer(answers, place, lessons)
            kept = stage(course, number, notebook) if is_one else None
            source.files.append(_Found(place, "", kept, answers, notes))
        elif one.above and verdict == NO_NOTEBOOK:
            source.own_files[Place(one.above, len(one.above), one.account)] += 1
            if path[-1] == TIME:
                source.own_times.add("/".join(path[:-1]))
        else:
            text = one.data[:200] if isinstance(one, ArchiveFile) else b""
            source.files.append(_Found(place, verdict, text=text if path[-1] == TIME else b""))
    return source


def _judge(
    found: ArchiveFile | RefusedEntry, lessons: tuple[Lesson, ...]
) -> tuple[tuple[_Part, ...], bytes, tuple[str, ...]] | str:
    """What a notebook answers by its cells, its bytes and notes; or why it is not taken."""
    if isinstance(found, RefusedEntry):
        return found.reason
    if not found.path[-1].lower().endswith(".ipynb"):
        return NO_NOTEBOOK
    notes = ("a byte order mark was taken off",) if found.data.startswith(_BOM) else ()
    data = found.data.removeprefix(_BOM)
    try:
        notebook = read_submission(data)  # what the engine would not read is not taken
    except Malformed as malformed:
        return str(malformed)
    return _by_cells(notebook, lessons), data, notes


def _claimed(one: _Found, named: ArchiveName, lessons: tuple[Lesson, ...]) -> Candidate | str:
    """A file as the work of its owner, or why it is not taken."""
    if one.reason not in ("", NO_NOTEBOOK):
        return one.reason
    if not named.file:
        return "is text or a link typed into the LMS, not a file"
    if one.reason:
        return one.reason
    answered = _answered(one.answers, named.file, one.place.path, lessons)
    if answered is None or one.notebook is None:
        names = ", ".join(each.slug for each in lessons)
        return f"has no graded cell of {names}; it is another notebook"
    lesson, part = answered
    notes = one.notes
    if base_name(named.file) != part.notebook:  # Canvas numbers what is uploaded again
        notes = (*notes, f"was handed in as {named.file}")
    return Candidate(named, one.file, lesson.slug, part.notebook, one.notebook, notes)


def _parts(lessons: Iterable[Lesson]) -> list[_Part]:
    return [(one, part) for one in lessons for part in one.notebooks]


def _by_cells(notebook: dict[str, Any], lessons: tuple[Lesson, ...]) -> tuple[_Part, ...]:
    """Those of whose graded cells a notebook has the most; none where it has none."""
    ids = {grade_id(cell) for cell in cells_of(notebook)}
    parts = _parts(lessons)
    shared = [len(ids & {each.test_id for each in part.exercises}) for _, part in parts]
    most = max(shared, default=0)
    return tuple(pair for pair, count in zip(parts, shared, strict=True) if most and count == most)


def _answered(
    best: Sequence[_Part], file: str, path: Sequence[str], lessons: tuple[Lesson, ...]
) -> _Part | None:
    """The lesson that a notebook answers, and which of its notebooks.

    Its graded cells say so, then its name, then a folder that is called as the lesson.
    """
    if len(best) == 1:
        return best[0]
    called = [pair for pair in best if _is_called(file, *pair)]
    called = called or [pair for pair in _parts(lessons) if _is_called(file, *pair)]
    inside = [pair for pair in called if pair[0].slug in path[:-1]]
    return next(iter(inside or called), None)


def _may_answer(best: Sequence[_Part], place: Place, lessons: tuple[Lesson, ...]) -> bool:
    """Whether a notebook answers a lesson by its cells, or by a name that it may turn out to have.

    That is its own, or what is left of it without what an LMS has added, to whichever part.
    """
    parts = range(place.outside)
    names = [lms.read_name(place.path[at:]) for at in parts for lms in LMS.values()]
    files = {place.path[-1], *(one.file for one in names if one)}
    return any(_answered(best, file, place.path, lessons) for file in files)


def _is_called(file: str, lesson: Lesson, part: Lesson) -> bool:
    return base_name(file) in (part.notebook, *(() if lesson.parts else (lesson.slug,)))


def base_name(file: str) -> str:
    """The name of a notebook without its ending and without what saving it again added.

    >>> base_name("04-memory-layout-1.ipynb"), base_name("04-memory-layout (2).ipynb")
    ('04-memory-layout', '04-memory-layout')
    """
    stem = re.sub(r"\.ipynb$", "", file, flags=re.IGNORECASE)
    added = _AGAIN.match(stem[::-1])
    return stem[: len(stem) - added.end()] if added else stem


def _with_times(
    source: _Source,
    candidates: Iterable[Candidate],
    times: Iterable[tuple[_Found, ArchiveName]],
    slugs: Sequence[str],
) -> tuple[list[Candidate], list[Left]]:
    """Each notebook with the time beside it, and the timestamp.txt files that lie beside none."""
    beside = {one.folder for one in candidates}
    believed: dict[str, datetime] = {}
    own = set(source.own_times)
    others = []
    for one, named in times:
        if one.folder not in beside:
            if named.owner.lms != FOLDER:
                others.append(Left(named, one.file, one.reason))
        elif _is_nbgraders(one.place, named, source, slugs):
            believed |= _time_of(one)
        else:
            own.add(one.folder)
    return [_with_time(one, believed, own) for one in candidates], others


def _is_nbgraders(place: Place, named: ArchiveName, source: _Source, slugs: Sequence[str]) -> bool:
    """Whether a timestamp.txt lies where nbgrader writes one, and a learner does not.

    That is a folder of its inbound/, or a student's for a lesson in its submitted/. In a folder
    that learners share, each lays into their own what they like, and calls it as they like; what
    the folder above all of them is called is not theirs to say.
    """
    path, at = place.path, named.at
    if named.owner.lms != FOLDER or path[: at + 1] in source.with_git:
        return False
    if path[:at] == ("inbound",) and len(path) == 3:
        return path[1].count("+") > 1
    is_work = path[:at] == ("submitted",) and len(path) == 4
    return is_work and path[1] == named.owner.name and path[2] in slugs


def _time_of(found: _Found) -> dict[str, datetime]:
    """Folder → the time that its timestamp.txt says; nothing where that cannot be read."""
    try:
        return {found.folder: time_in_utc(found.text.decode("utf-8").strip())}
    except Exception:  # whatever the reading of dates makes of it
        return {}


def _with_time(one: Candidate, believed: Mapping[str, datetime], own: set[str]) -> Candidate:
    notes = (*one.notes, _NOT_BELIEVED) if one.folder in own else one.notes
    return replace(one, notes=notes, moment=believed.get(one.folder))


def _without_company(
    candidates: Iterable[Candidate],
    left: Iterable[Left],
    own: Iterable[tuple[ArchiveName, tuple[str, ...], int]],
) -> tuple[list[Candidate], list[Left]]:
    """Each notebook with a note on the files beside it, and what is to be told of the others.

    A repository, a folder or an archive of work holds more than what was asked for; that is no
    refusal.

    Args:
        candidates: All notebooks.
        left: What is not taken.
        own: The owner and the path of a learner's own archive, and how many files in it are no
            notebook.
    """
    known = {one.named.owner for one in candidates}
    told: list[Left] = []
    beside = Counter[Owner]()
    for one in left:
        owner = one.named.owner
        if owner.lms == FOLDER and owner in known and one.reason == NO_NOTEBOOK:
            beside[owner] += 1
        else:
            told.append(one)
    for named, above, files in own:
        if named.owner in known:
            beside[named.owner] += files
        else:
            told.append(Left(named, "/".join(above), f"holds {_no_notebooks(files)} (.ipynb)"))
    return [_with_company(one, beside[one.named.owner]) for one in candidates], told


def _with_company(one: Candidate, files: int) -> Candidate:
    if not files:
        return one
    stayed = "stayed where it was" if files == 1 else "stayed where they were"
    return replace(one, notes=(*one.notes, f"{_no_notebooks(files)} {stayed}"))


def _no_notebooks(files: int) -> str:
    return "a file that is no notebook" if files == 1 else f"{files:,} files that are no notebook"
