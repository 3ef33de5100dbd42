"""A small class on the tiny lesson, with a runner that gives what a test wants it to give."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat

from autograder.course_directory import CourseDirectory, load_course
from autograder.grading.pipeline import GradingResult, grade
from autograder.lessons.model import Lesson, find_lesson
from autograder.lessons.regions import HIDDEN, split_regions
from autograder.nbgrader_bridge.gradebook import GradebookWriter
from autograder.nbgrader_bridge.registration import register
from autograder.records.model import CheckRecord, ExerciseRecord, Status, SubmissionRecord, total
from autograder.records.runner import Job, Outcome
from autograder.submissions.discovery import find_submissions
from tests.autograder import tiny

SLUG = tiny.SLUG


def hand_in(root: Path, student: str, notebook: dict[str, Any] | str, when: str = "") -> Path:
    """Put a notebook into submitted/; `when` becomes its timestamp."""
    folder = root / "submitted" / student / SLUG
    folder.mkdir(parents=True, exist_ok=True)
    text = notebook if isinstance(notebook, str) else json.dumps(notebook)
    (folder / f"{SLUG}.ipynb").write_text(text)
    if when:
        (folder / "timestamp.txt").write_text(when)
    return folder


def deep_folder(folder: Path) -> None:
    """Make folders in `folder` whose path is longer than the system opens, with a file inside."""
    here = os.open(folder, os.O_RDONLY)
    for _ in range(20):
        os.mkdir("d" * 250, dir_fd=here)
        below = os.open("d" * 250, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("file.txt", os.O_WRONLY | os.O_CREAT, dir_fd=here))
    os.close(here)


def answered(**answers: str) -> dict[str, Any]:
    """The tiny notebook as it is handed out, with these answers in its solution cells."""
    notebook = tiny.notebook()
    for cell in notebook["cells"]:
        visible, _ = split_regions("".join(cell["source"]), HIDDEN)
        cell["source"] = answers.get(cell["id"], "\n".join(visible))
    return notebook


@cache
def empty_gradebook() -> bytes:
    """A gradebook that knows the tiny lesson; nbgrader takes a second to create one."""
    with TemporaryDirectory() as folder:
        course = load_course(tiny.build(Path(folder)))
        GradebookWriter(course).close()
        register(find_lesson(course.root, SLUG), course)
        return (course.root / "gradebook.db").read_bytes()


@cache
def tiny_lesson() -> Lesson:
    """The tiny lesson as the gradebook is asked about it; its source is gone again."""
    with TemporaryDirectory() as folder:
        return find_lesson(tiny.build(Path(folder)), SLUG)


def classroom(root: Path, *students: str) -> tuple[CourseDirectory, Lesson]:
    """A course directory in which each of `students` handed in the source's own solution."""
    tiny.build(root)
    (root / "gradebook.db").write_bytes(empty_gradebook())
    for student in students:
        hand_in(root, student, answered(), "2026-01-10 12:00:00 UTC")
    return load_course(root), find_lesson(root, SLUG)


def flatten(score: float = 4.0, **changes: Any) -> ExerciseRecord:
    """A record of the exercise `flatten`."""
    passed = score >= 4.0
    check = CheckRecord("it lives in the same storage", passed, misconception="order-of-memory")
    return ExerciseRecord(
        **{"id": "flatten", "status": Status.GRADED, "score": score, "max": 4.0}
        | {"checks": (check,)}
        | changes
    )


def double(score: float = 2.0, **changes: Any) -> ExerciseRecord:
    """A record of the exercise `double`."""
    return ExerciseRecord(
        **{"id": "double", "status": Status.GRADED, "score": score, "max": 2.0} | changes
    )


def record(
    student: str = "ada", *exercises: ExerciseRecord, status: Status = Status.GRADED, **changes: Any
) -> SubmissionRecord:
    """A record of a submission to the tiny lesson."""
    exercises = exercises or (flatten(), double())
    score, most = total(exercises)
    about = {"student": student, "lesson": SLUG, "status": status, "score": score, "max": most}
    more = {"seconds": 0.5, "exercises": exercises, "runner": "engine", "sandboxed": True}
    return SubmissionRecord(**about | more | changes)


@dataclass
class FakeRunner:
    """Answers each job with what `gives` makes of it, and remembers whom it ran."""

    gives: Callable[[Job], SubmissionRecord] = lambda job: record(job.student)
    ran: list[str] = field(default_factory=list)

    def close(self) -> None: ...

    def run_many(self, jobs: Iterable[Job]) -> Iterator[Outcome]:
        for job in jobs:
            self.ran.append(job.student)
            notebook = nbformat.read(job.lesson.source, as_version=4)
            yield Outcome(self.gives(job), notebook)


def graded(
    course: CourseDirectory, runner: FakeRunner | None = None, **options: Any
) -> GradingResult:
    """What `grade` makes of everything that was handed in."""
    lesson = find_lesson(course.root, SLUG)
    return grade(course, find_submissions(course, (lesson,)), runner or FakeRunner(), **options)
