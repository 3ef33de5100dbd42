"""The seam between grading's bookkeeping and whatever executes a submission.

A runner takes jobs and gives outcomes back, one each, in any order, and never raises for anything
that a submission contains: a broken notebook is an outcome too.  `autograder.engine` is the fast
and isolated one; `autograder.runners.nbgrader` drives stock nbgrader where there is no Linux.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from msgspec.structs import replace

from autograder.records.model import ExerciseRecord, Status, SubmissionRecord, total

HANDED_IN_EMPTY = "The cell was handed in empty. A person decides what that is worth."
"""The note on an answer to be marked whose cell was emptied; a stub is another thing."""
ANSWER_TO_MARK = "A person grades this answer."
TASK_TO_MARK = "A person grades this task."

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from autograder.lessons.model import Exercise, Lesson


@dataclass(frozen=True)
class Job:
    """One submission to be graded.

    `notebook` is the learner's file, `directory` the folder that it was handed in with (its other
    files are the submission's data files).  Both may be anything: the runner has to cope.
    What was found out about it on the way in (digests, time, notes) is no business of a runner:
    `autograder.grading.pipeline` adds it to the record that comes back.
    """

    student: str
    lesson: Lesson
    notebook: Path
    directory: Path


@dataclass(frozen=True)
class Outcome:
    """What became of a job.

    `notebook` is the repaired and executed notebook with its outputs and check tables, hidden
    tests included (it is the instructor's copy); None where nothing could be read or run.
    """

    record: SubmissionRecord
    notebook: NotebookNode | None = None


def record_of(
    job: Job,
    status: Status,
    exercises: tuple[ExerciseRecord, ...],
    seconds: float,
    *,
    sandboxed: bool,
    notes: tuple[str, ...] = (),
    runner: Literal["engine", "stock"] = "engine",
) -> SubmissionRecord:
    """The record of `job` with these exercises, and with what the job itself tells.

    Args:
        job: Gives student and lesson.
        status: What became of the submission as a whole.
        exercises: In the lesson's order; score and maximum are their sums.
        seconds: Wall-clock time from the start of the job.
        sandboxed: Whether the learner's code ran, or would have run, in a sandbox.
        notes: Sentences on the submission that everybody may read, the learner too.
        runner: Who ran it.

    Returns:
        A record without digests and time, which `autograder.grading.pipeline.complete` adds.
    """
    score, points = total(exercises)
    return SubmissionRecord(
        student=job.student,
        lesson=job.lesson.slug,
        status=status,
        score=score,
        max=points,
        seconds=seconds,
        exercises=exercises,
        runner=runner,
        sandboxed=sandboxed,
        notes=notes,
    )


def unrun(
    job: Job,
    status: Status,
    *reasons: str,
    seconds: float = 0.0,
    sandboxed: bool,
    runner: Literal["engine", "stock"] = "engine",
) -> Outcome:
    """The outcome of a job that could not be executed, and why: no points in any exercise.

    Args:
        job: Gives student, lesson and the exercises.
        status: Why nothing was run, also the status of each exercise.
        *reasons: The same for people, a sentence each.
        seconds: Wall-clock time that it took to find out.
        sandboxed: As in `record_of`.
        runner: As in `record_of`.
    """
    exercises = tuple(
        ExerciseRecord(one.name, status, 0.0, one.points, attempted=False, manual=one.manual)
        for one in job.lesson.exercises
    )
    return Outcome(
        record_of(
            job, status, exercises, seconds, sandboxed=sandboxed, notes=reasons, runner=runner
        )
    )


def task_record(exercise: Exercise) -> ExerciseRecord:
    """The record of nbgrader's task cell: only a person can see whether anything was done.

    Args:
        exercise: The task.

    Returns:
        No points yet, whatever was handed in.
    """
    return ExerciseRecord(
        id=exercise.name,
        status=Status.GRADED,
        score=0.0,
        max=exercise.points,
        notes=(TASK_TO_MARK,),
        manual=True,
    )


def without_notebook(outcome: Outcome, reason: str) -> Outcome:
    """The outcome with its record alone, which says why there is no executed notebook.

    Args:
        outcome: What a runner gave.
        reason: Why its notebook is not kept, as it stands inside a sentence.
    """
    note = f"The executed notebook could not be kept ({reason})."
    return Outcome(replace(outcome.record, notes=(*outcome.record.notes, note)))


class Runner(Protocol):
    """Executes submissions."""

    def run_many(self, jobs: Iterable[Job]) -> Iterator[Outcome]:
        """One outcome a job, as soon as it is there.

        Args:
            jobs: Taken one by one as there is room, so that a generator is never far ahead.

        Returns:
            The outcomes in any order.  Nothing that a submission contains raises an error here.

        Raises:
            AutograderError: What stops all jobs alike: no sandbox, no cluster, a lesson that fails.
        """
        ...

    def close(self) -> None:
        """Give back what it holds, processes above all."""
        ...
