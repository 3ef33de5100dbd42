"""The gradebook as `grade` uses it: it may fail, and then grading goes on without it.

    .autograder/unentered/<lesson>.json    whose grade may not have reached the gradebook

Comparing record and gradebook finds what is missing there, with one exception: a person's points
for an answer that changed while the gradebook was locked.  So the list is written before a run, and
taken away when everything of it is entered.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from autograder.console import named, points
from autograder.course_directory import CourseDirectory
from autograder.errors import AutograderError
from autograder.lessons.assignments import assignment_folders
from autograder.lessons.model import Lesson
from autograder.nbgrader_bridge.database_address import remember_address
from autograder.nbgrader_bridge.gradebook import GradebookWriter
from autograder.nbgrader_bridge.gradebook_entry import agrees
from autograder.nbgrader_bridge.gradebook_errors import GradebookError
from autograder.nbgrader_bridge.penalties import PenaltyChange, PolicyError
from autograder.nbgrader_bridge.registration import register
from autograder.records.journal import write_json
from autograder.records.model import SubmissionRecord
from autograder.submissions.class_list import ROSTER, RosterError, read_extensions


class GradebookSync:
    """Enters records as long as the gradebook takes them.

    The first refusal is kept in `trouble` and nothing more is tried: the journal has everything,
    and the next run enters what is missing.  A late penalty that the course's plugin fails to say
    is that submission's alone: the others are entered.  `news` says what changed without anything
    being run.
    """

    def __init__(self, course: CourseDirectory) -> None:
        """Open the gradebook of `course` and enter its roster."""
        self.trouble: AutograderError | None = None
        self.news: list[str] = []
        self._course = course
        self._writer: GradebookWriter | None = None
        self._missing: dict[str, set[str]] = {}  # lesson -> whose grade may not be entered
        self._no_penalty: list[PolicyError] = []
        self._try(self._begin)

    def __enter__(self) -> GradebookSync:
        """Give itself."""
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Close the gradebook, and forget who is entered."""
        if self._writer is not None:
            self._writer.close()
        if self.trouble is None:
            for lesson, students in self._missing.items():
                self._note_missing(lesson, students)
            self.trouble = next(iter(self._no_penalty), None)

    def open(self, lesson: Lesson, settled: Iterable[SubmissionRecord], due: Iterable[str]) -> None:
        """Make `lesson` ready.

        Args:
            lesson: Its cells are registered.
            settled: Records that hold; those are entered that the gradebook lacks or has otherwise.
            due: Who is graded in this run; their old grades are marked until the new ones come.
        """
        awaited = frozenset(due)
        listed = unentered(self._course, lesson.slug)
        self._missing[lesson.slug] = set(listed | awaited)
        self._note_missing(lesson.slug, self._missing[lesson.slug])
        self._try(lambda: self._open(lesson, settled, awaited, listed))

    def enter(self, record: SubmissionRecord, lesson: Lesson) -> None:
        """Enter one record."""
        self._try(lambda: self._write(record, lesson))

    def _begin(self) -> None:
        self._writer = GradebookWriter(self._course)
        remember_address(self._course)
        roster = self._course.root / ROSTER
        if roster.is_file():
            slugs = assignment_folders(self._course)
            self._writer.enrol(roster, read_extensions(roster, slugs))

    def _open(
        self,
        lesson: Lesson,
        settled: Iterable[SubmissionRecord],
        due: frozenset[str],
        listed: frozenset[str],
    ) -> None:
        register(lesson, self._course)
        writer = self._use()
        entries = writer.entries(lesson)
        late = []
        for record in settled:
            agreed = agrees(entries.get(record.student), record, lesson)
            if not agreed or record.student in listed:
                self._write(record, lesson)
                late.append(record.student)
        if late:
            self.news.append(f"{lesson.slug}: entered now, as the gradebook had not: {named(late)}")
        changes = writer.penalise(lesson, leave=due, failed=self._no_penalty)
        self._note_penalties(lesson.slug, changes)
        old = due & entries.keys()
        if old:
            writer.mark_stale(lesson.slug, old)

    def _note_penalties(self, lesson: str, changes: Sequence[PenaltyChange]) -> None:
        if changes:
            moves = [f"{one.student} {points(one.before)} → {points(one.after)}" for one in changes]
            self.news.append(
                f"{lesson}: the due date, an extension or points by hand changed, and with them "
                f"late penalties; nothing was run again: {named(moves)}"
            )

    def _write(self, record: SubmissionRecord, lesson: Lesson) -> None:
        try:
            self._use().write(record, lesson)
        except PolicyError as error:
            self._no_penalty.append(error)
        else:
            self._missing[lesson.slug].discard(record.student)

    def _note_missing(self, lesson: str, students: Iterable[str]) -> None:
        path = _list_of(self._course, lesson)
        if names := sorted(students):
            write_json(path, names)
        else:
            path.unlink(missing_ok=True)

    def _use(self) -> GradebookWriter:
        assert self._writer is not None
        return self._writer

    def _try(self, action: Callable[[], None]) -> None:
        if self.trouble is not None:
            return
        try:
            action()
        except (GradebookError, PolicyError, RosterError) as error:
            self.trouble = error


def unentered(course: CourseDirectory, lesson: str) -> frozenset[str]:
    """Whose grade may not have reached the gradebook."""
    try:
        data = json.loads(_list_of(course, lesson).read_bytes())
        return msgspec.convert(data, frozenset[str])
    except (OSError, ValueError):
        return frozenset()


def _list_of(course: CourseDirectory, lesson: str) -> Path:
    return course.unentered / f"{lesson}.json"
