"""A made-up class over three lessons, for tests of the report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from autograder.lessons.model import Lesson, find_lesson
from autograder.records.model import UNJUDGED, Status
from autograder.reporting.class_results import LearnerResult
from tests.autograder import tiny
from tests.autograder.classroom import double, flatten, record

TITLES = ("Tensors: 200 + 100 is 44", "Memory layout: the <red> photo", "Loaders: noise twice")


def three_lessons(root: Path) -> tuple[Lesson, ...]:
    """Lessons 01, 04 and 09 of 6 points each; their course is built in `root`."""
    root.mkdir(exist_ok=True)
    one = find_lesson(tiny.build(root), tiny.SLUG)
    numbers = zip((1, 4, 9), TITLES, strict=True)
    return tuple(replace(one, slug=f"0{n}-lesson", number=n, title=t) for n, t in numbers)


def row(student: str, points: float | None, status: Status = Status.GRADED) -> LearnerResult:
    """A learner with so many of 6 points; None where nothing was handed in."""
    if points is None:
        return LearnerResult(student, student.title(), "", None, None)
    about = {"status": status} if status in UNJUDGED else {}
    parts = flatten(min(points, 4.0), **about), double(max(0.0, points - 4.0), **about)
    mine = record(student, *parts, status=status)
    return LearnerResult(student, student.title(), "", mine, None)


def graded(
    lessons: tuple[Lesson, ...], **people: tuple[LearnerResult | float | None, ...]
) -> list[tuple[Lesson, list[LearnerResult]]]:
    """Each lesson with the row of everybody, whose points are given lesson by lesson."""
    return [
        (
            lesson,
            [
                one if isinstance(one := mine[at], LearnerResult) else row(name, one)
                for name, mine in people.items()
            ],
        )
        for at, lesson in enumerate(lessons)
    ]
