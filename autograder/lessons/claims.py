"""The claims and misconceptions of a course's lessons, read as `course.claims` reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from autograder.errors import LessonError
from autograder.lessons.model import SLUG, beside_course
from course.claims.errors import MalformedClaims
from course.claims.prediction import PREDICTIONS, Prediction, parse_predictions
from course.claims.schema import (
    Entries,
    Misconception,
    lesson_of,
    parse,
    parse_misconceptions,
)
from course.practice.warm_ups import WARM_UPS, Task, parse_warm_ups

Kind = TypeVar("Kind")
NO_CLAIMS = Entries((), ())
CLAIMS = "claims.toml"


def claims_path(course: Path, slug: str) -> Path | None:
    """The TOML with the claims and misconceptions of a lesson; None where there is none.

    Args:
        course: The course directory, whose own file wins over the installed one.
        slug: The lesson, such as `04-memory-layout`.
    """
    if not SLUG.fullmatch(slug):  # any other assignment has none, whatever its name ends in
        return None
    return beside_course(course, f"course.lessons.{folder_name(slug)}", CLAIMS)


def own_claims(course: Path, slug: str) -> Path:
    """Where a course directory keeps the claims of a lesson, whether or not it has any yet."""
    return course / "course" / "lessons" / folder_name(slug) / CLAIMS


def folder_name(slug: str) -> str:
    """The name of a lesson's folder in course/lessons: `memory_layout` of 04-memory-layout."""
    return slug.partition("-")[2].replace("-", "_")


def parse_claims(path: Path) -> Entries:
    """The entries of the claims file at `path`, which says whose it is.

    Raises:
        MalformedClaims: The file breaks the form of `course.claims.schema`.
        LessonError: It cannot be read, or is no UTF-8.
    """
    text = _text(path)
    return parse(text, lesson_of(text, str(path)))


def claims_of(course: Path, slug: str) -> Entries:
    """The claims and misconceptions of a lesson; empty where it has no claims file.

    Raises:
        LessonError: The file cannot be read or breaks its form; the cause names entry and remedy.
    """
    path = claims_path(course, slug)
    with _as_lesson_error(path, slug):
        return parse_claims(path) if path is not None else NO_CLAIMS


def misconceptions(course: Path, slug: str) -> dict[str, Misconception]:
    """The misconceptions that a lesson knows, by id; none where it has no claims file.

    A claim that breaks its form keeps nobody from them: lint tells it.

    Raises:
        LessonError: The file cannot be read, or a misconception breaks its form.
    """
    path = claims_path(course, slug)
    with _as_lesson_error(path, slug):
        found = parse_misconceptions(_text(path), slug) if path is not None else ()
    return {one.id: one for one in found}


def predictions_of(course: Path, slug: str) -> tuple[Prediction, ...]:
    """The predictions of a lesson, in their order; none where it has no file of them.

    Raises:
        LessonError: The file cannot be read or breaks its form.
    """
    return _asked(course, slug, PREDICTIONS, parse_predictions)


def warm_ups_of(course: Path, slug: str) -> tuple[Task, ...]:
    """The warm-ups of a lesson, in their order; none where it has no file of them.

    Raises:
        LessonError: The file cannot be read or breaks its form.
    """
    return _asked(course, slug, WARM_UPS, parse_warm_ups)


def _asked(
    course: Path, slug: str, file: str, parse_file: Callable[[str, str], tuple[Kind, ...]]
) -> tuple[Kind, ...]:
    path = beside_course(course, f"course.lessons.{folder_name(slug)}", file)
    with _as_lesson_error(path, slug):
        return parse_file(_text(path), file) if path is not None else ()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise LessonError(
            f"cannot be read: {error}", place=str(path), remedy="Check path, rights and encoding."
        ) from error


@contextmanager
def _as_lesson_error(path: Path | None, slug: str) -> Iterator[None]:
    try:
        yield
    except MalformedClaims as error:
        cause = str(error).removeprefix(f"{slug}.toml: ")
        remedy = f"Mend it; `autograder check {slug}` looks again."
        raise LessonError(cause, place=str(path), remedy=remedy) from error
