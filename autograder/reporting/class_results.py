"""A class and its grades in one lesson: who is in it, what is recorded, what counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from autograder.console import named
from autograder.course_directory import CourseDirectory
from autograder.lessons.model import TEST_PREFIX, Lesson
from autograder.nbgrader_bridge.gradebook import GradebookReader
from autograder.nbgrader_bridge.gradebook_entry import (
    NEEDS_PERSON,
    GradebookEntry,
    agrees,
    record_from,
)
from autograder.records.journal import Journal
from autograder.records.model import Status, SubmissionRecord, total
from autograder.reporting.status_texts import TO_INSTRUCTOR, counts, is_unread
from autograder.reporting.tables import Standing
from autograder.submissions.discovery import find_submissions

NOT_HANDED_IN = "not handed in"
WAITING = "handed in, not yet graded"


@dataclass(frozen=True)
class LearnerResult:
    """One learner in one lesson; `record` is None where nothing is graded.

    `waits` then tells a submission from none.  `newer`: another submission lies there now;
    `unfinished`: a regrade was begun and not ended; `unentered`: the gradebook says otherwise than
    the record, or has a late penalty of before.  `explained` is false where the gradebook alone
    knows the points: another grader gave them, or the journal lost its entry.
    """

    student: str
    first_name: str
    last_name: str
    record: SubmissionRecord | None
    entry: GradebookEntry | None
    newer: bool = False
    unfinished: bool = False
    unentered: bool = False
    waits: bool = False
    explained: bool = True

    @property
    def stale(self) -> bool:
        """Whether the next `grade` has something to do here, so that these points may change."""
        return self.newer or self.unfinished or self.unentered

    @property
    def name(self) -> str:
        """First and last name, the student's id where neither is known."""
        return " ".join(filter(None, [self.first_name, self.last_name])) or self.student

    @property
    def status(self) -> str:
        """The status of the submission, "stale", or what became of it before it is graded."""
        if self.record is None:
            return WAITING if self.waits else NOT_HANDED_IN
        return "stale" if self.stale else str(self.record.status)

    @property
    def score(self) -> float | None:
        """The points that count, manual ones and penalties included; None where none do."""
        by_hand = self.entry is not None and bool(self.entry.manual)
        if self.record is None or not (counts(self.record) or by_hand):
            return None
        return self.entry.score if self.entry is not None else self.record.score

    def points_of(self, exercise: str, test_id: str) -> float | None:
        """The points of one exercise that count; None where nothing was judged."""
        if self.entry is not None and test_id in self.entry.manual:
            return self.entry.points[test_id]
        mine = self.record.exercise(exercise) if self.record is not None else None
        if mine is None or not counts(mine) or (mine.manual and mine.attempted):
            return None
        return mine.score

    @property
    def counted(self) -> SubmissionRecord | None:
        """The record with a person's points in place of the machine's; those for words stay 0."""
        entry, record = self.entry, self.record
        if record is None or entry is None or not entry.manual:
            return record
        by_hand = {id_: entry.points[id_] for id_ in entry.manual}
        own = {one.id for one in record.exercises}  # in a lesson `test-NAME` has the points of NAME
        by_hand = {
            id_ if id_ in own else id_.removeprefix(TEST_PREFIX): points
            for id_, points in by_hand.items()
        }
        exercises = tuple(
            one if one.manual else replace(one, score=by_hand.get(one.id, one.score))
            for one in record.exercises
        )
        return replace(record, exercises=exercises, score=total(exercises)[0])

    @property
    def unread(self) -> tuple[str, ...]:
        """The questions in words whose answers nobody has read; any class has many of them.

        One with points from before a regrade is not among them: it is to be looked at again.
        """
        if self.record is None or self.entry is None:
            return ()
        asked = [one.id for one in self.record.exercises if is_unread(one)]
        open_ = self.entry.waiting - self.entry.manual
        return tuple(id_ for id_ in asked if id_ in open_)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why a person should look at this submission; empty where nobody needs to.

        Answers to be read are no reason: they are `unread`.
        """
        if self.record is None:
            return ("It is not graded yet: run `grade`.",) if self.waits else ()
        found = [TO_INSTRUCTOR[self.record.status]] if self.record.status != Status.GRADED else []
        if self.newer or self.unfinished:
            found.append("A newer submission or an unfinished regrade waits: run `grade` again.")
        elif self.unentered:
            found.append("The gradebook does not hold this grade as it is: run `grade` again.")
        if self.entry is not None and self.record.status not in NEEDS_PERSON:
            waiting = sorted(self.entry.waiting - set(self.unread))
            found += [f"Waits for points by hand: {', '.join(waiting)}."] if waiting else []
        return (*found, *self.record.notes) if found else ()


def class_results(course: CourseDirectory, lesson: Lesson) -> tuple[LearnerResult, ...]:
    """Everyone known to the gradebook or the journal, or who handed in, by last name and id.

    Raises:
        GradebookError: The database refuses; `NoGradebook` where there is none.
        OtherGradebook: The grades are in another database.
    """
    journal = Journal(course.state)
    records = {one.student: one for one in journal.records(lesson.slug)}
    due = journal.due(lesson.slug)
    current = {one.student: one.digest for one in find_submissions(course, (lesson,))}
    with GradebookReader(course) as gradebook:
        names, entries = gradebook.names(), gradebook.entries(lesson)
    rows = []
    for student in sorted(names.keys() | records.keys() | current.keys()):
        first, last = names.get(student, ("", ""))
        record, entry = records.get(student), entries.get(student)
        if record is None:
            row = _without_record(student, first, last, entry, lesson, student in current)
        else:
            row = LearnerResult(
                *(student, first, last, record, entry),
                newer=current.get(student, record.submission_digest) != record.submission_digest,
                unfinished=student in due and student in current,
                unentered=not (agrees(entry, record, lesson) and _penalty_holds(entry)),
            )
        rows.append(row)
    return tuple(sorted(rows, key=lambda row: (row.last_name, row.student)))


def standings(
    course: CourseDirectory, lessons: Iterable[Lesson], records: Iterable[SubmissionRecord]
) -> dict[tuple[str, str], Standing]:
    """(lesson, student) → the points that count of each record, and those that wait for a person.

    Args:
        course: Names the gradebook.
        lessons: Those of the records.
        records: What was just graded, and entered.

    Raises:
        GradebookError: The database refuses.
    """
    by_slug = {one.slug: one for one in lessons}
    with GradebookReader(course) as gradebook:
        entries = {slug: gradebook.entries(one) for slug, one in by_slug.items()}
    found = {}
    for record in records:
        entry = entries[record.lesson].get(record.student)
        row = LearnerResult(record.student, "", "", record, entry)
        waiting = _waiting(by_slug[record.lesson], record, entry)
        found[record.lesson, record.student] = Standing(row.score, sum(waiting), len(waiting))
    return found


def _waiting(lesson: Lesson, record: SubmissionRecord, entry: GradebookEntry | None) -> list[float]:
    """The points of each exercise that no person has marked yet and none but a person can."""
    marked = entry.manual if entry is not None else frozenset()
    found = ((one, record.exercise(one.name)) for one in lesson.exercises)
    return [
        mine.max
        for one, mine in found
        if mine is not None and is_unread(mine) and one.test_id not in marked
    ]


def cautions(lesson: Lesson, rows: Sequence[LearnerResult]) -> list[str]:
    """What whoever uses the points of `rows` has to know, a line each."""
    alone = [row.student for row in rows if not row.explained]
    behind = [row.student for row in rows if row.unentered]
    found = []
    if alone:
        found.append(
            f"{lesson.slug}: points from the gradebook alone, checks and misconceptions are not "
            f"on record: {named(alone)}"
        )
    if behind:
        found.append(
            f"{lesson.slug}: the gradebook does not hold these grades or their late penalties as "
            f"they are; run `autograder grade {lesson.slug}`: {named(behind)}"
        )
    return found


def _without_record(
    student: str,
    first: str,
    last: str,
    entry: GradebookEntry | None,
    lesson: Lesson,
    handed_in: bool,
) -> LearnerResult:
    """The row of somebody of whom the journal knows nothing."""
    if entry is None or not entry.is_graded:
        waits = handed_in or entry is not None
        return LearnerResult(student, first, last, None, entry, waits=waits)
    record, behind = record_from(entry, lesson), not _penalty_holds(entry)
    return LearnerResult(student, first, last, record, entry, unentered=behind, explained=False)


def _penalty_holds(entry: GradebookEntry | None) -> bool:
    return entry is None or entry.penalty_holds
