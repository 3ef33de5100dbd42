"""A class and its grades in one lesson: who is in it, what is recorded, what counts."""

from __future__ import annotations

from dataclasses import dataclass

from autograder.gradebook import NEEDS_PERSON, GradebookWriter, Standing
from autograder.intake import find_submissions
from autograder.journal import Journal
from autograder.lessons import Lesson
from autograder.place import Place
from autograder.records import Status, SubmissionRecord
from autograder.wording import TO_INSTRUCTOR, counts, is_unread


@dataclass(frozen=True)
class Row:
    """One learner in one lesson; `record` is None for somebody who handed nothing in.

    `stale` means that a newer submission lies there, or that a regrade was begun and not finished;
    where the submission was taken away after grading, the grade stands.
    """

    student: str
    first_name: str
    last_name: str
    record: SubmissionRecord | None
    standing: Standing | None
    stale: bool = False

    @property
    def name(self) -> str:
        """First and last name, the student's id where neither is known."""
        return " ".join(filter(None, [self.first_name, self.last_name])) or self.student

    @property
    def status(self) -> str:
        """The status of the submission, "stale" or "not handed in"."""
        if self.record is None:
            return "not handed in"
        return "stale" if self.stale else str(self.record.status)

    @property
    def score(self) -> float | None:
        """The points that count, manual ones and penalties included; None where none do."""
        by_hand = self.standing is not None and bool(self.standing.manual)
        if self.record is None or not (counts(self.record) or by_hand):
            return None
        return self.standing.score if self.standing is not None else self.record.score

    def points_of(self, exercise: str, test_id: str) -> float | None:
        """The points of one exercise that count; None where nothing was judged."""
        if self.standing is not None and test_id in self.standing.manual:
            return self.standing.points[test_id]
        mine = self.record.exercise(exercise) if self.record is not None else None
        if mine is None or not counts(mine) or (mine.manual and mine.attempted):
            return None
        return mine.score

    @property
    def unread(self) -> tuple[str, ...]:
        """The questions in words whose answers nobody has read; any class has many of them.

        One with points from before a regrade is not among them: it is to be looked at again.
        """
        if self.record is None or self.standing is None:
            return ()
        asked = [one.id for one in self.record.exercises if is_unread(one)]
        open_ = self.standing.waiting - self.standing.manual
        return tuple(id_ for id_ in asked if id_ in open_)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why a person should look at this submission; empty where nobody needs to.

        Answers to be read are no reason: they are `unread`.
        """
        if self.record is None:
            return ()
        found = [TO_INSTRUCTOR[self.record.status]] if self.record.status != Status.GRADED else []
        if self.stale:
            found.append("A newer submission or an unfinished regrade waits: run `grade` again.")
        if self.standing is not None and self.record.status not in NEEDS_PERSON:
            waiting = sorted(self.standing.waiting - set(self.unread))
            found += [f"Waits for points by hand: {', '.join(waiting)}."] if waiting else []
        return (*found, *self.record.notes) if found else ()


def roll(course: Place, lesson: Lesson) -> tuple[Row, ...]:
    """Everyone known to the gradebook or the journal, by last name and id."""
    journal = Journal(course.state)
    records = {one.student: one for one in journal.records(lesson.slug)}
    due = journal.due(lesson.slug)
    current = {one.student: one.digest for one in find_submissions(course, (lesson,))}
    with GradebookWriter(course) as gradebook:
        names, standings = gradebook.names(), gradebook.standings(lesson.slug)
    rows = (
        Row(
            student=student,
            first_name=names.get(student, ("", ""))[0],
            last_name=names.get(student, ("", ""))[1],
            record=(record := records.get(student)),
            standing=standings.get(student),
            stale=record is not None
            and student in current
            and (student in due or current[student] != record.submission_digest),
        )
        for student in sorted(names.keys() | records.keys())
    )
    return tuple(sorted(rows, key=lambda row: (row.last_name, row.student)))
