"""Assignments of several notebooks: a job for each of them, and one outcome of them all.

Runners know one notebook at a time.  Where an assignment has several, its submission's record has
the exercises of all, whose ids begin with their notebook's name.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from autograder.lessons.model import Lesson
from autograder.records.model import Status, SubmissionRecord, total
from autograder.records.runner import Job, Outcome, unrun
from autograder.submissions.discovery import HandedIn, Submission

# What happened to one notebook is what happened to the submission; the gravest comes first.
_GRAVEST_FIRST = (
    Status.INFRASTRUCTURE,
    Status.TAMPERED,
    Status.MALFORMED,
    Status.TIMEOUT,
    Status.OUT_OF_MEMORY,
    Status.CRASHED,
    Status.MISSING,
)


@dataclass(frozen=True)
class GradedSubmission:
    """A record, and the executed notebooks by their names; None where nothing was executed."""

    record: SubmissionRecord
    notebooks: Mapping[str, Mapping[str, Any] | None]


def jobs_of(submission: Submission) -> list[Job]:
    """One job for each notebook that can be run."""
    return [job_of(submission, one) for one in submission.notebooks if one.problem is None]


def problems_of(submission: Submission) -> list[Outcome]:
    """The outcomes of the notebooks that cannot be run."""
    return [
        unrun(job_of(submission, one), Status(one.problem[0]), one.problem[1], sandboxed=True)
        for one in submission.notebooks
        if one.problem is not None
    ]


def job_of(submission: Submission, notebook: HandedIn) -> Job:
    """The job of one notebook."""
    return Job(
        student=submission.student,
        lesson=notebook.lesson,
        notebook=notebook.path,
        directory=submission.directory,
    )


def together(lesson: Lesson, outcomes: Iterable[Outcome]) -> GradedSubmission:
    """What became of a submission.

    Args:
        lesson: The assignment.
        outcomes: Of each of its notebooks, one, in any order.
    """
    by_slug = {one.record.lesson: one for one in outcomes}
    found = [by_slug[part.slug] for part in lesson.notebooks]
    pairs = zip(lesson.notebooks, found, strict=True)
    notebooks = {part.notebook: one.notebook for part, one in pairs}
    if not lesson.parts:
        return GradedSubmission(found[0].record, notebooks)
    records = [one.record for one in found]
    exercises = tuple(
        replace(exercise, id=lesson.key(part, exercise.id))
        for part, record in zip(lesson.parts, records, strict=True)
        for exercise in record.exercises
    )
    score, most = total(exercises)
    record = replace(
        records[0],
        lesson=lesson.slug,
        status=_status_of(records),
        score=score,
        max=most,
        seconds=math.fsum(one.seconds for one in records),
        exercises=exercises,
        sandboxed=all(one.sandboxed for one in records),
        notes=_notes_of(lesson, records),
    )
    return GradedSubmission(record, notebooks)


def _status_of(records: Sequence[SubmissionRecord]) -> Status:
    """The gravest; a notebook that is missing beside others is an answer that was left out."""
    found = {one.status for one in records}
    if len(found) > 1:
        found.discard(Status.MISSING)
    return next((status for status in _GRAVEST_FIRST if status in found), Status.GRADED)


def _notes_of(lesson: Lesson, records: Sequence[SubmissionRecord]) -> tuple[str, ...]:
    """The notes on each notebook, naming it; what is said of all is said once."""
    said = [
        (part, note) for part, one in zip(lesson.parts, records, strict=True) for note in one.notes
    ]
    texts = [note for _, note in said]
    return tuple(
        dict.fromkeys(
            note if texts.count(note) == len(records) else f"{part.notebook}: {note}"
            for part, note in said
        )
    )
