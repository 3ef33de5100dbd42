"""`autograder grade`: from submissions to journal, gradebook and executed notebooks.

The order of every submission: run → executed notebook → journal → gradebook.  The journal is the
truth and the gradebook follows it, so a run that was killed anywhere is continued by the next one:
what the journal has is not run again, and what the gradebook lacks is entered.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from autograder.console import Progress, plain
from autograder.course_directory import CourseDirectory
from autograder.errors import AutograderError
from autograder.grading.autograded import NotWritten, write_autograded
from autograder.grading.notebooks import (
    GradedSubmission,
    jobs_of,
    problems_of,
    together,
)
from autograder.grading.prefetch import Prefetch
from autograder.import_speed import importing
from autograder.lessons.model import Lesson
from autograder.nbgrader_bridge.database_address import check_address
from autograder.records.journal import Journal, only_grader, remove_unfinished
from autograder.records.model import ExerciseRecord, Status, SubmissionRecord, total
from autograder.records.runner import HANDED_IN_EMPTY, Job, Runner, unrun
from autograder.submissions.discovery import Submission, students_with

if TYPE_CHECKING:
    from autograder.grading.sync import GradebookSync


@dataclass(frozen=True)
class GradingResult:
    """What a run leaves: the records, and the gradebook's trouble where it could not be written.

    `ran` counts the submissions that were graded now; `news` says what changed in the gradebook for
    those that were not.
    """

    records: tuple[SubmissionRecord, ...]
    trouble: AutograderError | None = None
    news: tuple[str, ...] = ()
    ran: int = 0


@dataclass(frozen=True)
class GradingPlan:
    """What a run of `grade` has to do for one lesson."""

    lesson: Lesson
    due: tuple[Submission, ...]  # what has to be run
    settled: tuple[SubmissionRecord, ...]  # what was graded before and did not change


def grade(
    course: CourseDirectory,
    submissions: tuple[Submission, ...],
    runner: Runner,
    *,
    regrade: bool = False,
    progress: Progress | None = None,
) -> GradingResult:
    """Grade what has to be graded; the records of all `submissions`, old and new.

    Args:
        course: Where journal, gradebook and executed notebooks are kept.
        submissions: What was asked for; of the lessons' other submissions only late penalties and
            grades that the gradebook lacks are put right.
        runner: Runs what has to be run; it stays open.
        regrade: Run what did not change, too.
        progress: Hears of each submission that is done.

    Raises:
        OtherGradebook: The grades are in another database than the one that would be used.
        JournalError: Another run is at work here, or the disk refuses; what is done is kept.
        AutograderError: The runner cannot go on.
    """
    progress, journal = progress or Progress(None), Journal(course.state)
    check_address(course)  # now, and not after hours of grading
    with only_grader(course.state):
        lessons = {one.lesson.slug: one.lesson for one in submissions}
        remove_unfinished(_folders_written(course, journal, submissions))
        plans = [_plan(journal, one, submissions, regrade) for one in lessons.values()]
        progress.expect(sum(len(plan.due) for plan in plans))
        progress.doing("starting the workers; the first submissions")
        done, sync = _carry_out(course, journal, plans, runner, progress)
    records = {(one.lesson, one.student): one for plan in plans for one in plan.settled}
    records |= {(one.lesson, one.student): one for one in done}
    chosen = tuple(records[one.lesson.slug, one.student] for one in submissions)
    return GradingResult(chosen, sync.trouble, tuple(sync.news), len(done))


def _folders_written(
    course: CourseDirectory, journal: Journal, submissions: Sequence[Submission]
) -> set[Path]:
    """Where a run that was killed may have left unfinished files."""
    folders = {journal.root / one.lesson.slug for one in submissions}
    folders |= {course.autograded(one.student, one.lesson.slug) for one in submissions}
    return folders | {course.state, course.unentered}


def _plan(
    journal: Journal, lesson: Lesson, submissions: tuple[Submission, ...], regrade: bool
) -> GradingPlan:
    unfinished = frozenset() if regrade else journal.due(lesson.slug)
    due, settled = [], []
    for one in (one for one in submissions if one.lesson.slug == lesson.slug):
        known = None if regrade or one.student in unfinished else current_record(journal, one)
        if known is None:
            due.append(one)
        else:
            settled.append(known)
    return GradingPlan(lesson, tuple(due), tuple(settled))


def current_record(journal: Journal, submission: Submission) -> SubmissionRecord | None:
    """The journal's record of these very bytes of submission and source; None to grade it.

    Args:
        journal: The records of the course.
        submission: As it lies in submitted/ now.
    """
    entry = journal.read(submission.lesson.slug, submission.student)
    if entry is None or entry.record.status is Status.INFRASTRUCTURE:
        return None
    digests = (entry.record.submission_digest, entry.record.source_digest)
    return entry.record if digests == (submission.digest, submission.lesson.digest) else None


def _carry_out(
    course: CourseDirectory,
    journal: Journal,
    plans: Sequence[GradingPlan],
    runner: Runner,
    progress: Progress,
) -> tuple[list[SubmissionRecord], GradebookSync]:
    """The records that came, all entered, and the gradebook's sync, which knows what went wrong."""
    names = {plan.lesson.slug: [one.student for one in plan.due] for plan in plans}
    gone = {slug: _gone(course, journal, slug) for slug in names}
    runs = {slug: journal.begin(slug, due, gone[slug]) for slug, due in names.items() if due}
    waiting = {(one.lesson.slug, one.student): one for plan in plans for one in plan.due}
    done = []
    with Prefetch(_outcomes(runner, list(waiting.values()))) as outcomes:
        with importing("nbgrader.api"):  # it takes a second, in which the workers start
            from autograder.grading.sync import GradebookSync

        with GradebookSync(course) as sync:
            for plan in plans:
                sync.open(plan.lesson, _settled(journal, plan), names[plan.lesson.slug])
            for outcome in outcomes:
                submission = waiting.pop((outcome.record.lesson, outcome.record.student))
                record = _keep(course, journal, submission, outcome, runs[outcome.record.lesson])
                sync.enter(record, submission.lesson)
                progress.step(plain(f"{record.student} {record.lesson}"))
                done.append(record)
        for plan in plans:
            journal.finish(plan.lesson.slug, gone[plan.lesson.slug])
        return done, sync


def _settled(journal: Journal, plan: GradingPlan) -> list[SubmissionRecord]:
    """Every record of the lesson that holds, also of those whom this run was not asked for."""
    due, digest = journal.due(plan.lesson.slug), plan.lesson.digest
    records = journal.records(plan.lesson.slug)
    return [one for one in records if one.student not in due and one.source_digest == digest]


def _gone(course: CourseDirectory, journal: Journal, slug: str) -> frozenset[str]:
    """Who was to be graded by a run that never ended, and has no submission any more."""
    due = journal.due(slug)
    return due - set(students_with(course, slug)) if due else due


def _keep(
    course: CourseDirectory,
    journal: Journal,
    submission: Submission,
    outcome: GradedSubmission,
    run: str,
) -> SubmissionRecord:
    """Write notebook and record; what fails for this submission alone stops no other."""
    try:
        return _written(course, journal, submission, outcome, run)
    except AutograderError:
        raise
    except Exception as error:
        reason = str(error) if isinstance(error, NotWritten) else f"{type(error).__name__}: {error}"
        failed = unrun(
            _job(submission),
            Status.INFRASTRUCTURE,
            f"Its grade could not be kept. {reason}",
            sandboxed=outcome.record.sandboxed,
            runner=outcome.record.runner,
        )
        record = complete(failed.record, submission, course)
        journal.write(record, run)
        return record


def _written(
    course: CourseDirectory,
    journal: Journal,
    submission: Submission,
    outcome: GradedSubmission,
    run: str,
) -> SubmissionRecord:
    record = complete(outcome.record, submission, course)
    write_autograded(course, submission, record, outcome.notebooks)
    journal.write(record, run)
    return record


def _outcomes(runner: Runner, submissions: Sequence[Submission]) -> Iterator[GradedSubmission]:
    """What became of each submission, as soon as all of its notebooks are done."""
    waiting = {(one.lesson.slug, one.student): one for one in submissions}
    found = {key: problems_of(one) for key, one in waiting.items()}
    silent = {
        (job.lesson.slug, job.student): (job, key)
        for key, one in waiting.items()
        for job in jobs_of(one)
    }

    def finished(key: tuple[str, str]) -> Iterator[GradedSubmission]:
        if len(found[key]) == len(waiting[key].notebooks):
            yield together(waiting[key].lesson, found.pop(key))

    for key in waiting:
        yield from finished(key)
    for outcome in runner.run_many([job for job, _ in silent.values()]):
        _, key = silent.pop((outcome.record.lesson, outcome.record.student))
        found[key].append(outcome)
        yield from finished(key)
    reason = "The grading workers stopped without an answer for it; grade it again."
    for job, key in silent.values():
        found[key].append(unrun(job, Status.INFRASTRUCTURE, reason, sandboxed=True))
        yield from finished(key)


def _job(submission: Submission) -> Job:
    """A job for all of the assignment; no runner gets it."""
    first = submission.notebooks[0]
    return Job(submission.student, submission.lesson, first.path, submission.directory)


def complete(
    record: SubmissionRecord, submission: Submission, course: CourseDirectory
) -> SubmissionRecord:
    """`record` with all exercises of the lesson in their order, and all that intake knows.

    The only place where a record gets its digests and its time.

    Args:
        record: A runner's.
        submission: What it was made of.
        course: Its configuration says what an emptied answer is worth.
    """
    lesson = submission.lesson
    exercises = tuple(
        _storable(_without_empty(record.exercise(one.name), course))
        or ExerciseRecord(
            one.name, _status_of_absent(record), 0.0, one.points, attempted=False, manual=one.manual
        )
        for one in lesson.exercises
    )
    score, points = total(exercises)
    return replace(
        record,
        score=score,
        max=points,
        exercises=exercises,
        notes=tuple(map(_storable_text, (*submission.notes, *record.notes))),
        submission_digest=submission.digest,
        source_digest=lesson.digest,
        submitted_at=submission.submitted_at,
    )


def _without_empty(
    exercise: ExerciseRecord | None, course: CourseDirectory
) -> ExerciseRecord | None:
    """The record; not attempted where its cell was emptied and the course gives 0 for that."""
    if exercise is None or HANDED_IN_EMPTY not in exercise.notes or not course.empty_is_zero:
        return exercise
    notes = tuple(note for note in exercise.notes if note != HANDED_IN_EMPTY)
    return replace(exercise, attempted=False, notes=notes)


def _storable(exercise: ExerciseRecord | None) -> ExerciseRecord | None:
    """The record with notes that every database takes; some quote what a learner made."""
    if exercise is None or not exercise.notes:
        return exercise
    return replace(exercise, notes=tuple(map(_storable_text, exercise.notes)))


def _storable_text(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode().replace("\0", "�")


def _status_of_absent(record: SubmissionRecord) -> Status:
    """A graded record that says nothing of an exercise is the grader's fault."""
    graded = record.status is Status.GRADED
    return Status.INFRASTRUCTURE if graded else record.status
