"""The gradebook as `grade` uses it: it may fail, and then grading goes on without it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from autograder.gradebook import GradebookError, GradebookWriter, Standing, auto_points
from autograder.lessons import Lesson
from autograder.place import Place
from autograder.records import SubmissionRecord
from autograder.register import register

ROSTER = "students.csv"


class Books:
    """Enters records as long as the gradebook takes them.

    The first refusal is kept in `trouble` and nothing more is tried: the journal has everything,
    and the next run enters what is missing.
    """

    def __init__(self, course: Place) -> None:
        """Open the gradebook of `course` and enter its roster."""
        self.trouble: GradebookError | None = None
        self._course = course
        self._writer: GradebookWriter | None = None
        self._try(self._begin)

    def __enter__(self) -> Books:
        """Give the books."""
        return self

    def __exit__(self, *exc_info: object) -> None:
        """Close the gradebook."""
        if self._writer is not None:
            self._writer.close()

    def open(self, lesson: Lesson, settled: Iterable[SubmissionRecord], due: Iterable[str]) -> None:
        """Make `lesson` ready.

        `settled` records are entered where the gradebook says otherwise; the old grades of the
        students who are `due` are marked until the new ones come.
        """
        self._try(lambda: self._open(lesson, settled, frozenset(due)))

    def enter(self, record: SubmissionRecord, lesson: Lesson) -> None:
        """Enter one record."""
        self._try(lambda: self._use().write(record, lesson))

    def _begin(self) -> None:
        self._writer = GradebookWriter(self._course)
        roster = self._course.root / ROSTER
        if roster.is_file():
            self._writer.enrol(roster)

    def _open(
        self, lesson: Lesson, settled: Iterable[SubmissionRecord], due: frozenset[str]
    ) -> None:
        register(lesson, self._course)
        writer = self._use()
        standings = writer.standings(lesson.slug)
        for record in settled:
            if not agrees(standings.get(record.student), record, lesson):
                writer.write(record, lesson)
        old = due & standings.keys()
        if old:
            writer.mark_stale(lesson.slug, old)

    def _use(self) -> GradebookWriter:
        assert self._writer is not None
        return self._writer

    def _try(self, action: Callable[[], None]) -> None:
        if self.trouble is not None:
            return
        try:
            action()
        except GradebookError as error:
            self.trouble = error


def agrees(standing: Standing | None, record: SubmissionRecord, lesson: Lesson) -> bool:
    """Whether the gradebook holds exactly the points that the record gives."""
    if standing is None:
        return False
    wanted = {one.test_id: auto_points(record.exercise(one.name)) for one in lesson.exercises}
    return {cell: standing.auto.get(cell) for cell in wanted} == wanted
