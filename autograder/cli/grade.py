"""`autograder grade`: what was handed in is graded, and the command says what came of it."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable
from pathlib import Path

from autograder.console import Progress, named, say
from autograder.course_directory import CourseDirectory, load_course
from autograder.grading.pipeline import GradingResult, grade
from autograder.lessons.model import Lesson
from autograder.records.model import Status, SubmissionRecord
from autograder.reporting.tables import Standings, grades_json, print_grades
from autograder.runners.choice import RunnerChoice, choose_runner
from autograder.simulation.marker import sandbox_for
from autograder.submissions.discovery import (
    Submission,
    excluded_students,
    find_submissions,
    hidden_folders,
)


def run(
    course: Path,
    lessons: tuple[Lesson, ...],
    *,
    jobs: int | None = None,
    db: str | None = None,
    student: str | None = None,
    regrade: bool = False,
    runner: RunnerChoice | None = None,
    sandbox: bool = True,
    scheduler: str | None = None,
    as_json: bool = False,
) -> int:
    """Grade what was handed in and print it; 0 where every submission was graded, else 1."""
    directory = load_course(course, db=db)
    submissions, unknown = _known(directory, find_submissions(directory, lessons, student))
    if sandbox and runner is None and scheduler is None:
        sandbox = sandbox_for(directory.root, submissions)
    executor = choose_runner(
        runner,
        jobs=jobs,
        sandbox=sandbox,
        scheduler=scheduler,
        hide=directory.private,
        cell_limit_s=directory.cell_limit_s,
    )
    with contextlib.closing(executor), Progress(sys.stderr, "grade") as progress:
        graded = grade(directory, submissions, executor, regrade=regrade, progress=progress)
    standings = _standings(directory, lessons, graded)
    if as_json:
        say(grades_json(graded.records, standings))
    else:
        print_grades(graded.records, sys.stdout, standings)
    aside = (
        *hidden_folders(directory, lessons),
        *excluded_students(directory, lessons),
        *unknown,
        *_not_run(directory),
        *_taken_away(directory, graded.records),
    )
    for line in (*aside, *graded.news):
        say(line, file=sys.stderr)
    if graded.ran == 0 and graded.records and not graded.news and graded.trouble is None:
        say("Nothing has changed since it was graded: nothing was run.", file=sys.stderr)
    if graded.trouble is not None:
        raise graded.trouble
    complete = all(record.status is Status.GRADED for record in graded.records)
    return 0 if complete and not unknown else 1


def _known(
    course: CourseDirectory, found: tuple[Submission, ...]
) -> tuple[tuple[Submission, ...], tuple[str, ...]]:
    """Those to be graded, and a sentence about whom the course does not know and will not create.

    Returns:
        All of them and no sentence, where the configuration does not say so.
    """
    if course.creates_students:
        return found, ()
    from autograder.submissions.matching import known_students

    known = known_students(course)
    others = sorted({one.student for one in found if one.student not in known})
    if not others:
        return found, ()
    sentence = (
        f"left out, as neither gradebook nor students.csv knows them: {named(others)}; "
        "c.Autograde.create_student is False"
    )
    return tuple(one for one in found if one.student in known), (sentence,)


def _not_run(course: CourseDirectory) -> tuple[str, ...]:
    """One sentence where nbgrader would run steps of the course's own on each submission."""
    steps = named(course.own_autograde_steps)
    sentence = (
        f"not run: {steps}, which nbgrader_config.py adds to autograde; where points depend on it, "
        "grade with `nbgrader autograde`"
    )
    return (sentence,) if steps else ()


def _taken_away(course: CourseDirectory, records: Iterable[SubmissionRecord]) -> tuple[str, ...]:
    """One sentence where executed notebooks were deleted; with nbgrader that grades them again."""
    gone = [one for one in records if not course.autograded(one.student, one.lesson).is_dir()]
    if not gone:
        return ()
    lessons = " ".join(sorted({one.lesson for one in gone}))
    who = named(sorted({one.student for one in gone}))
    return (
        f"graded before, and no longer in autograded/: {who}; "
        f"`autograder grade {lessons} --regrade` makes the executed notebooks again",
    )


def _standings(
    course: CourseDirectory, lessons: tuple[Lesson, ...], graded: GradingResult
) -> Standings:
    """What counts of each submission; nothing is known where the gradebook could not be written."""
    if graded.trouble is not None or not graded.records:
        return {}
    from autograder.reporting.class_results import standings  # nbgrader is loaded by now

    return standings(course, lessons, graded.records)
