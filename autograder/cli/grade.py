"""`autograder grade`: what was handed in is graded, and the command says what came of it."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

from autograder.console import Progress
from autograder.course_directory import load_course
from autograder.grading.pipeline import grade
from autograder.lessons.model import Lesson
from autograder.records.model import Status
from autograder.reporting.tables import grades_json, print_grades
from autograder.runners.choice import RunnerChoice, choose_runner
from autograder.simulation.marker import sandbox_for
from autograder.submissions.discovery import find_submissions


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
    submissions = find_submissions(directory, lessons, student)
    if sandbox and runner is None and scheduler is None:
        sandbox = sandbox_for(directory.root, submissions)
    executor = choose_runner(
        runner, jobs=jobs, sandbox=sandbox, scheduler=scheduler, hide=(directory.root,)
    )
    with contextlib.closing(executor), Progress(sys.stderr, "grade") as progress:
        graded = grade(directory, submissions, executor, regrade=regrade, progress=progress)
    if as_json:
        print(grades_json(graded.records))
    else:
        print_grades(graded.records, sys.stdout)
    for line in graded.news:
        print(line, file=sys.stderr)
    if graded.trouble is not None:
        raise graded.trouble
    return 0 if all(record.status is Status.GRADED for record in graded.records) else 1
