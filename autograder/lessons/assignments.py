"""The assignments of any nbgrader course, whatever their folders and notebooks are called.

An assignment is a folder below the course's source directory with a notebook or several.  Where it
keeps to the form of our lessons it is read as one.  Any other is prepared by nbgrader's own steps
in the course's own configuration, in memory: headers, locked cells, stubs and the marks of hidden
tests are the course's, and what nbgrader would not release is refused with its reason.  Where there
is no such folder, an assignment that is named is made of what the gradebook holds of its cells.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.course_directory import CourseDirectory
from autograder.errors import LessonError, UnknownLesson, did_you_mean
from autograder.lessons.autotests import instantiated
from autograder.lessons.cells import cells_of, grade_id, read_notebook, role
from autograder.lessons.model import (
    AUTOTEST,
    SLUG,
    Exercise,
    Lesson,
    PreparedNotebook,
    data_files,
    digest_of,
    prepared_lesson,
    read_lesson,
    shared_templates,
)
from autograder.lessons.regions import USUAL_MARKS, marks_of

if TYPE_CHECKING:
    from autograder.nbgrader_bridge.generation import PreparedSource

_PYTHON = "python"


@dataclass(frozen=True)
class Assignments:
    """The assignments that can be graded, and why others cannot."""

    lessons: tuple[Lesson, ...]
    refused: tuple[LessonError, ...] = ()


def find_assignment(course: CourseDirectory, word: str) -> Lesson:
    """The assignment that `word` names.

    Raises:
        UnknownLesson: None is called so; the remedy names those that exist.
        LessonError: A notebook of it cannot be graded.
    """
    found = select_assignments(course, [word])
    for error in found.refused:
        raise error
    return found.lessons[0]


def select_assignments(course: CourseDirectory, words: Iterable[str] = ()) -> Assignments:
    """The assignments that `words` name, each once, in the order of their names.

    Args:
        course: The course directory.
        words: Names, of a lesson also its number or its name without one; none or `all` for all.

    Raises:
        UnknownLesson: A word names no assignment, or there are none at all.
        GradebookClosed: No folder has that name, and the gradebook, which may, does not open.
    """
    folders, chosen = assignment_folders(course), list(words)
    if not folders and (not chosen or "all" in chosen):
        raise _no_assignments(course)
    wanted = folders if not chosen or "all" in chosen else _named(course, folders, chosen)
    lessons, refused = [], []
    for name in sorted(wanted):
        try:
            if name in folders:
                lessons.append(read_assignment(course, name, folders[name]))
            else:
                lessons.append(_known_to_gradebook(course, name))
        except LessonError as error:
            refused.append(error)
    return Assignments(tuple(lessons), tuple(refused))


def assignment_folders(course: CourseDirectory) -> dict[str, Path]:
    """The name of each assignment, with its source folder; no notebook is opened."""
    folders = course.assignments()
    return {name: folder for name, folder in folders.items() if _notebooks_in(folder)}


def read_assignment(course: CourseDirectory, name: str, folder: Path) -> Lesson:
    """The assignment `name`, whose source notebooks lie in `folder`.

    Raises:
        LessonError: A notebook is none, nbgrader refuses it, or it is in another language.
    """
    paths = _notebooks_in(folder)
    # Our lessons have nbgrader's usual marks; where others are set, nbgrader's own steps decide.
    if _is_lesson(name, paths) and marks_of(course.config) == USUAL_MARKS:
        return read_lesson(paths[0], course.handed_out(folder, data_files(folder)))
    parts = tuple(_read_notebook(course, name, path) for path in paths)
    return parts[0] if len(parts) == 1 else _together(name, parts)


def _notebooks_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*.ipynb") if path.is_file())


def _is_lesson(name: str, paths: Sequence[Path]) -> bool:
    """Whether an assignment has the form of our lessons: name, single notebook, cells' roles."""
    if not SLUG.fullmatch(name) or [path.stem for path in paths] != [name]:
        return False
    return any(role(cell) for cell in cells_of(read_notebook(paths[0])))


def _read_notebook(course: CourseDirectory, assignment: str, path: Path) -> Lesson:
    raw = read_notebook(path)
    if language := _other_language(raw):
        raise _in_another_language(language, path, assignment)
    source_cells = cells_of(raw)
    data = course.handed_out(path.parent, data_files(path.parent))
    mark = str(course.config.InstantiateTests.get("autotest_delimiter", AUTOTEST))
    has_autotests = any(mark in cell["source"] for cell in source_cells)
    shared = shared_templates(path, course.root) if has_autotests else ()
    digest = digest_of(path, data, shared)
    tests = instantiated(path, course.root, digest) if has_autotests else {}
    prepared = _prepared(course, assignment, path, tests)
    if not has_autotests:  # their salt is another one each time
        digest = hashlib.sha256(f"{digest}{prepared.notebook}".encode()).hexdigest()
    return prepared_lesson(assignment, path, prepared, digest, data)


def _known_to_gradebook(course: CourseDirectory, name: str) -> Lesson:
    """An assignment without a source folder, of which nbgrader keeps the cells in its gradebook."""
    from autograder.nbgrader_bridge.known_sources import prepared_known

    parts = []
    for notebook, cells in _in_gradebook(course, name).items():
        path = course.source(name) / f"{notebook}.ipynb"
        if language := _other_language(cells):
            raise _in_another_language(language, path, name)
        found = prepared_known(cells, path, name, course.config)
        digest = hashlib.sha256(json.dumps(found.saved).encode()).hexdigest()
        parts.append(prepared_lesson(name, path, _as_notebook(course, name, found), digest, ()))
    return parts[0] if len(parts) == 1 else _together(name, tuple(parts))


def _in_gradebook(course: CourseDirectory, name: str) -> dict[str, Any]:
    from autograder.nbgrader_bridge.known_sources import known_sources

    return known_sources(course.db_url, name, course.released(name))


def _prepared(
    course: CourseDirectory, assignment: str, path: Path, tests: dict[str, str]
) -> PreparedNotebook:
    # nbgrader takes a second to import, and most of our own commands need nothing of it.
    from autograder.nbgrader_bridge.generation import SourceRefused, prepared_source

    try:
        found = prepared_source(path, assignment, course.config, tests)
    except SourceRefused as refusal:
        raise LessonError(
            f"nbgrader does not take it: {refusal}",
            place=str(path),
            remedy=refusal.remedy
            or f"Mend what it names; `nbgrader generate_assignment {assignment}` looks again.",
        ) from refusal
    return _as_notebook(course, assignment, found)


def _as_notebook(
    course: CourseDirectory, assignment: str, found: PreparedSource
) -> PreparedNotebook:
    released = cells_of(found.released)
    handed_out = {grade_id(cell): cell["source"] for cell in released if grade_id(cell)}
    theirs = course.config.Autograde.get("exclude_overwriting", {}).get(assignment, ())
    return PreparedNotebook(
        json.dumps(found.saved), handed_out, tuple(map(str, theirs)), dict(marks_of(course.config))
    )


def is_python(course: CourseDirectory, assignment: str) -> bool:
    """Whether `assignment` has a source whose notebooks are all in Python, as far as they say.

    Raises:
        LessonError: A notebook is none.
    """
    folder = assignment_folders(course).get(assignment)
    paths = _notebooks_in(folder) if folder else []
    return bool(paths) and not any(_other_language(read_notebook(path)) for path in paths)


def _other_language(notebook: Mapping[str, Any]) -> str:
    """The language of a notebook that is no Python, else nothing.

    A kernel of another name is run by the Python of the grader.
    """
    about = _dict(notebook.get("metadata"))
    kernel, language = (_dict(about.get(key)) for key in ("kernelspec", "language_info"))
    name = str(kernel.get("language") or language.get("name") or kernel.get("name") or _PYTHON)
    return "" if name.lower().startswith((_PYTHON, "ipython")) else name


def _in_another_language(language: str, path: Path, assignment: str) -> LessonError:
    return LessonError(
        f"its cells are in {language}, and the engine runs Python",
        place=str(path),
        remedy=f"Grade it with `nbgrader autograde {assignment}`.",
    )


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _together(name: str, parts: tuple[Lesson, ...]) -> Lesson:
    """One assignment of several notebooks; ids begin with the name of their notebook."""
    parts = tuple(
        replace(one, slug=f"{name}.{one.notebook}", is_one_of_several=True) for one in parts
    )
    whole = replace(
        parts[0], slug=name, title=name, prepared=None, is_one_of_several=False, parts=parts
    )
    exercises = tuple(_keyed(whole, part, one) for part in parts for one in part.exercises)
    digest = hashlib.sha256("".join(part.digest for part in parts).encode()).hexdigest()
    return replace(whole, exercises=exercises, digest=digest)


def _keyed(whole: Lesson, part: Lesson, one: Exercise) -> Exercise:
    name = whole.key(part, one.name)
    return replace(
        one,
        name=name,
        title=name if one.title == one.name else one.title,
        test_id=whole.key(part, one.test_id),
        answer_id=whole.key(part, one.answer_id) if one.answer_id else "",
    )


def _named(
    course: CourseDirectory, folders: dict[str, Path], words: Iterable[str]
) -> frozenset[str]:
    """The assignments that `words` name: exactly, else as a lesson's number or name."""
    found = set()
    for word in words:
        alike = [name for name in folders if word in (name, *_short_names(name))]
        if not alike and _in_gradebook(course, word):
            found.add(word)
            continue
        if not alike:
            raise _unknown(course, folders, word) if folders else _no_assignments(course)
        found.add(word if word in alike else alike[0])
    return frozenset(found)


def _short_names(name: str) -> tuple[str, ...]:
    lesson = SLUG.fullmatch(name)
    return (lesson[1], lesson[1].lstrip("0"), lesson[2]) if lesson else ()


def _unknown(course: CourseDirectory, folders: dict[str, Path], word: str) -> UnknownLesson:
    empty = course.source(word)
    if "/" not in word and empty.is_dir():
        return UnknownLesson(
            "it holds no notebook", place=str(empty), remedy="Put its source notebook there."
        )
    names = [*folders, *(name[3:] for name in folders if SLUG.fullmatch(name))]
    return UnknownLesson(
        f"there is no lesson '{word}' in {course.sources}.{did_you_mean(word, names)}",
        remedy=f"There are: {', '.join(folders)}.",
    )


def _no_assignments(course: CourseDirectory) -> UnknownLesson:
    sources = course.sources
    if sources.is_dir():
        cause = "it holds no folder with a notebook"
        remedy = f"Put each assignment's source notebooks into a folder: {sources / 'ps1'}/."
        return UnknownLesson(cause, place=str(sources), remedy=remedy)
    return UnknownLesson(
        "there are no lessons",
        place=str(sources),
        remedy="Run the command in the course directory, or name it with --course DIR.",
    )
