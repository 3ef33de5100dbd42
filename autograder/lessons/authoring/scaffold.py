"""New lessons and new exercises: the files that they need, each in its form.

Nothing is written before everything is known to fit, and each file is written whole.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from autograder.errors import LessonError, UsageError
from autograder.lessons.authoring.numbering import renumbered
from autograder.lessons.authoring.skeleton import (
    BANK,
    CLAIM,
    NewExercise,
    bank_entries,
    beliefs,
    exercise_cells,
    lesson_cells,
)
from autograder.lessons.cells import (
    KERNEL,
    RawCell,
    anchor,
    cells_of,
    headings,
    read_notebook,
    role,
)
from autograder.lessons.claims import own_claims
from autograder.lessons.model import SLUG, Lesson, find_lesson, lesson_paths
from autograder.lessons.release import stable_bytes
from autograder.records.journal import write_bytes


def new_lesson(course: Path, slug: str) -> list[Path]:
    """Write the notebook and the claims of a new lesson; the files that are new.

    Raises `UsageError` where the name has not the form `NN-name`, or is taken.
    """
    if not SLUG.fullmatch(slug):
        raise UsageError(
            f"'{slug}' is no name of a lesson",
            remedy="Two digits and words in lower case, joined by hyphens: 18-mini.",
        )
    number, _, name = slug.partition("-")
    taken = next((one for one in lesson_paths(course) if one[:2] == number), None)
    if taken is not None:
        raise UsageError(
            f"lesson {number} is there already: {taken}", remedy="Choose another number."
        )
    notebook = {**_EMPTY, "cells": lesson_cells(int(number), name)}
    files = {
        _notebook(course, slug): stable_bytes(notebook),
        own_claims(course, slug): CLAIM.format(slug=slug, number=int(number), name=name).encode(),
    }
    there = [path for path in files if path.exists()]
    if there:
        raise UsageError(
            "it is there already", place=str(there[0]), remedy="Take it away, or go on with it."
        )
    return _write(files)


def new_exercise(
    course: Path,
    lesson_word: str,
    one: NewExercise,
    *,
    check_bank: Callable[[str, Path], object],
    after: str | None = None,
) -> list[Path]:
    """Put an exercise into a lesson: five cells, its misconceptions, headings for its answers.

    It stands after the exercise `after`, else after the last one.  The others are numbered anew.
    `check_bank` reads the text of the bank and raises an error where it has none's form.
    """
    lesson = find_lesson(course, lesson_word)
    _refuse(lesson, one)
    notebook = read_notebook(lesson.source)
    cells = cells_of(notebook)
    place = _place(lesson, cells, after)
    section = _section_at(cells, place)
    cells[place:place] = exercise_cells(one)
    for cell, source in zip(cells, renumbered(cells), strict=True):
        cell["source"] = source
    claims, bank = own_claims(course, lesson.slug), _bank(course, lesson.slug)
    answers = _text_of(bank, BANK.format(number=lesson.number)) + bank_entries(one)
    check_bank(answers, bank)
    return _write(
        {
            lesson.source: stable_bytes({**notebook, "cells": cells}),
            claims: (_text_of(claims, "") + beliefs(one, section)).encode(),
            bank: answers.encode(),
        }
    )


def _refuse(lesson: Lesson, one: NewExercise) -> None:
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", one.name):
        raise UsageError(
            f"'{one.name}' is no name of an exercise",
            remedy="Words in lower case, joined by hyphens: row-spans.",
        )
    if not one.function.isidentifier() or keyword.iskeyword(one.function):
        raise UsageError(
            f"'{one.function}' is no name of a function", remedy="Say --function NAME."
        )
    ids = {cell.get("id") for cell in lesson.cells()}
    taken = [cell["id"] for cell in exercise_cells(one) if cell["id"] in ids]
    if taken:
        raise LessonError(
            f"a cell is called '{taken[0]}' already",
            place=str(lesson.source),
            remedy="Choose another name for the exercise.",
        )


def _place(lesson: Lesson, cells: list[RawCell], after: str | None) -> int:
    """Where the new cells go."""
    ids = [cell.get("id") for cell in cells]
    if after is not None:
        return ids.index(lesson.exercise(after).test_id) + 1
    if lesson.exercises:
        return ids.index(lesson.exercises[-1].test_id) + 1
    ends = (n for n, cell in enumerate(cells) if role(cell).get("role") == "summary")
    return next(ends, len(cells))


def _section_at(cells: list[RawCell], place: int) -> str:
    found = [text for cell in cells[:place] for level, text in headings(cell) if level == 2]
    return anchor(found[-1]) if found else ""


def _notebook(course: Path, slug: str) -> Path:
    return course / "source" / slug / f"{slug}.ipynb"


def _bank(course: Path, slug: str) -> Path:
    return course / "autograder" / "answers" / f"{slug}.py"


def _text_of(path: Path, otherwise: str) -> str:
    text = path.read_text(encoding="utf-8") if path.is_file() else otherwise
    return text if not text or text.endswith("\n") else f"{text}\n"


def _write(files: Mapping[Path, bytes]) -> list[Path]:
    for path, content in files.items():
        write_bytes(path, content)
    return list(files)


_EMPTY: dict[str, Any] = {"metadata": KERNEL, "nbformat": 4, "nbformat_minor": 5}
