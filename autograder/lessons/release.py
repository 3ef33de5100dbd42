"""The two editions of each lesson, built from its source and written to `release/`.

The class edition is what nbgrader's own generate_assignment makes of the source, in a course
directory that lives only as long as the build; so the gradebook of the real one is not touched.
The bytes depend on the source alone: building twice changes nothing, and `check_release` names
every file that is not what the source gives.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.errors import LessonError, ReleaseError
from autograder.lessons.autotests import copy_source, with_autotests
from autograder.lessons.cells import FOLDED, KERNEL, read_notebook
from autograder.lessons.claims import folder_name
from autograder.lessons.editions.addresses import repository
from autograder.lessons.editions.opening import SELF_STUDY
from autograder.lessons.editions.overview import overview
from autograder.lessons.editions.start_page import START_PAGE, start_page
from autograder.lessons.leaks import leaks
from autograder.lessons.lint.claims import lint_claims
from autograder.lessons.lint.findings import Finding
from autograder.lessons.lint.lesson import lint_lesson
from autograder.lessons.lint.questions import lint_questions
from autograder.lessons.model import IGNORED, Lesson, all_lessons
from autograder.lessons.self_study import self_study_edition

RELEASE = "release"
# Of a cell's metadata: the course's and nbgrader's own, and whether it is locked or folded.
_KEPT = frozenset({"cellView", "course", "deletable", "editable", "jupyter", "nbgrader", FOLDED})


@dataclass(frozen=True)
class Drift:
    """A released file that is not what the source gives: `changed`, `missing` or `stray`."""

    path: str
    kind: str


def build_release(course: Path, lessons: Sequence[Lesson]) -> dict[str, bytes]:
    """Both editions of `lessons` and the start page: path below `release/` to content.

    Returns:
        All files, in memory; nothing is written.

    Raises:
        LessonError: A lesson breaks rules of its form; the message has every finding.
        ReleaseError: nbgrader refuses, two lessons bring different files of one name, or a line
            of a solution or hidden test would be published.
    """
    refuse_unsound(course, lessons)
    return build_editions(course, lessons)


def build_editions(course: Path, lessons: Sequence[Lesson]) -> dict[str, bytes]:
    """What `build_release` gives, of lessons that `refuse_unsound` has let pass."""
    files = class_editions(course, lessons)
    address = repository(course)
    for lesson in lessons:
        notebook = self_study_edition(lesson, repository=address)
        _add(files, f"{SELF_STUDY}/{lesson.slug}.ipynb", stable_bytes(notebook))
        for data in lesson.data_files:
            _add(files, f"{SELF_STUDY}/{_beside(lesson, data)}", data.read_bytes())
    return files | start_pages(course)


def start_pages(course: Path) -> dict[str, bytes]:
    """The start page of each edition, path below `release/` to content; none without a source."""
    source = course / "source" / START_PAGE
    if not source.is_file():
        return {}
    address = repository(course)
    return {
        START_PAGE: stable_bytes(start_page(source, "class")),
        f"{SELF_STUDY}/{START_PAGE}": stable_bytes(start_page(source, SELF_STUDY, address)),
    }


def write_release(course: Path, files: Mapping[str, bytes]) -> list[str]:
    """Write `files` below `release/`, and what shows all lessons together; what changed.

    Args:
        course: The course directory; files of other lessons stay as they are.
        files: What `build_release` gave.

    Returns:
        The paths below the course directory.

    Raises:
        OSError: The disk refuses.
    """
    changed = []
    for name, content in sorted(_all_files(course, files).items()):
        path = course / name
        if path.is_file() and path.read_bytes() == content:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        changed.append(name)
    return changed


def check_release(course: Path, files: Mapping[str, bytes]) -> list[Drift]:
    """What differs between `release/` and `files`, or in the map; nothing if it is up to date.

    A file that belongs to none of the course's lessons is stray, also among claims and answers.
    """
    drift = []
    for name, content in sorted(_all_files(course, files).items()):
        path = course / name
        if not path.is_file():
            drift.append(Drift(name, "missing"))
        elif path.read_bytes() != content:
            drift.append(Drift(name, "changed"))
    return drift + [Drift(name, "stray") for name in _stray(course, files)]


def class_editions(
    course: Path, lessons: Sequence[Lesson], done: Callable[[str], None] = lambda slug: None
) -> dict[str, bytes]:
    """The class edition of each lesson: path below `release/` to content; `done` hears of each.

    Raises `ReleaseError` where nbgrader refuses, or where a line of a solution or of a hidden
    test would be published.
    """
    files: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory(prefix="autograder-release-") as name:
        root = Path(name)
        for lesson in lessons:
            copy_source(lesson, root / "source" / lesson.slug)
            _generate(root, course, lesson)
            notebook = f"{lesson.slug}/{lesson.slug}.ipynb"
            files[notebook] = stable_bytes(read_notebook(root / RELEASE / notebook))
            for data in lesson.data_files:
                files[f"{lesson.slug}/{_beside(lesson, data)}"] = data.read_bytes()
            refuse_leaks(with_autotests(lesson), files[notebook])
            done(lesson.slug)
    return files


def stable_bytes(notebook: Mapping[str, Any]) -> bytes:
    """The notebook as committed: sorted keys, nothing of a run, one line a line of source."""
    whole = {**notebook, "metadata": KERNEL, "cells": [*map(_stable_cell, notebook["cells"])]}
    text = json.dumps(whole, indent=1, sort_keys=True, ensure_ascii=False)
    return text.encode() + b"\n"


def refuse_leaks(lesson: Lesson, released: bytes) -> None:
    """Raise `ReleaseError` where a line of a solution or hidden test stands in `released`."""
    found = leaks(lesson.cells(), json.loads(released))
    if found:
        raise ReleaseError(
            "the class edition would publish a line of a solution or hidden test:\n  "
            + "\n  ".join(map(str, found)),
            place=str(lesson.source),
            remedy="Keep it inside its region, and out of ids and metadata.",
        )


def refuse_unsound(
    course: Path, lessons: Iterable[Lesson], *, done: Callable[[str], None] = lambda slug: None
) -> None:
    """Refuse what can be refused by reading: the form of each lesson, and how they go together.

    Args:
        course: The course directory.
        lessons: Those that are to be released.
        done: Hears of each that was read.

    Raises:
        LessonError: Lessons break rules of their form; the message has every finding.
        ReleaseError: A lesson of the course names one that does not come before it.
    """
    findings: list[Finding] = []
    for lesson in lessons:
        findings += [
            *lint_lesson(course, lesson),
            *lint_claims(course, lesson),
            *lint_questions(course, lesson),
        ]
        done(lesson.slug)
    if findings:
        raise LessonError("\n".join(map(str, findings)))
    overview(course)


def _generate(root: Path, course: Path, lesson: Lesson) -> None:
    from autograder.course_directory import load_course
    from autograder.nbgrader_bridge.generation import GenerationRefused, generate_assignment

    try:
        generate_assignment(load_course(course).config, root, lesson.slug, RELEASE)
    except GenerationRefused as refused:
        raise ReleaseError(
            f"nbgrader cannot generate the class edition: {refused}",
            place=str(lesson.source),
            remedy="Mend what nbgrader names; `nbgrader generate_assignment` shows the same.",
        ) from refused


def _stable_cell(cell: Mapping[str, Any]) -> dict[str, Any]:
    metadata = {key: value for key, value in cell["metadata"].items() if key in _KEPT}
    source = "".join(cell["source"]).splitlines(keepends=True)
    stable = dict(cell, source=source, metadata=metadata)
    if cell["cell_type"] == "code":
        stable.update(outputs=[], execution_count=None)
    return stable


def _beside(lesson: Lesson, data: Path) -> str:
    return data.relative_to(lesson.source.parent).as_posix()


def _add(files: dict[str, bytes], name: str, content: bytes) -> None:
    if files.setdefault(name, content) != content:
        raise ReleaseError(
            "two lessons bring different files of this name",
            place=f"{RELEASE}/{name}",
            remedy="Rename one of them; the self-study edition keeps them in one folder.",
        )


def _all_files(course: Path, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The released files and the overview, each by its path below the course directory."""
    return {f"{RELEASE}/{name}": content for name, content in files.items()} | overview(course)


def _stray(course: Path, files: Iterable[str]) -> list[str]:
    root = course / RELEASE
    if not root.is_dir():
        return []
    lessons = all_lessons(course)
    left = _left_behind(course, {one.slug for one in lessons})
    expected = set(files) | {f"{SELF_STUDY}/{one.slug}.ipynb" for one in lessons}
    expected |= {f"{SELF_STUDY}/{_beside(one, data)}" for one in lessons for data in one.data_files}
    expected |= {f"{one.slug}/{_beside(one, data)}" for one in lessons for data in one.data_files}
    expected |= {f"{one.slug}/{one.slug}.ipynb" for one in lessons}
    expected |= set(start_pages(course))
    found = sorted(path.relative_to(root) for path in root.rglob("*") if path.is_file())
    return [
        f"{RELEASE}/{path.as_posix()}"
        for path in found
        if path.as_posix() not in expected and not IGNORED & set(path.parts)
    ] + left


def _left_behind(course: Path, slugs: Collection[str]) -> list[str]:
    """Folders and answers of lessons that are no longer there."""
    names = {folder_name(slug) for slug in slugs}
    folders = [*course.glob("course/lessons/*/"), *course.glob("tests/lessons/*/")]
    answers = [path for path in course.glob("autograder/answers/*.py") if path.stem[:2].isdigit()]
    left = [
        *(path for path in folders if path.name not in names and path.name != "__pycache__"),
        *(path for path in answers if path.stem not in slugs),
    ]
    return sorted(path.relative_to(course).as_posix() for path in left)
