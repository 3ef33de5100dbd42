"""The rules of a lesson's text: numbers of exercises, length of cells, what is still unwritten."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from autograder.lessons.authoring.numbering import (
    differences,
    renumbered,
    unknown_mentions,
    unnumbered,
)
from autograder.lessons.cells import RawCell, role
from autograder.lessons.lint.findings import Slip
from autograder.lessons.lint.thresholds import ALL_LEVELS_FROM, MOST_LINES, MOST_WORDS, TO_WRITE
from autograder.lessons.model import Lesson


def lint_text(cells: Sequence[RawCell], lesson: Lesson) -> Iterator[Slip]:
    """Give the slips of the lesson's cells beyond those of single exercises."""
    yield from unwritten((f"cell {cell.get('id')}", cell["source"]) for cell in cells)
    yield from _numbers(cells, lesson)
    yield from _long(cells)
    yield from _levels(lesson)


def unwritten(texts: Iterable[tuple[str, str]]) -> Iterator[Slip]:
    """Give a slip for each text, by its place, that still waits for its author."""
    for place, text in texts:
        line = next((line.strip() for line in text.split("\n") if TO_WRITE in line), None)
        if line is not None:
            remedy = f"Write what it asks for, and take every {TO_WRITE} out."
            yield place, f"it is not written yet: {line:.80}", remedy


def _numbers(cells: Sequence[RawCell], lesson: Lesson) -> Iterator[Slip]:
    names = [one.name for one in lesson.exercises if not one.manual]
    for cell in unnumbered(cells, names):
        remedy = "Begin it with `### Exercise:`; `autograder tidy` puts the number in."
        yield f"cell {cell.get('id')}", "its heading has no number, others have one", remedy
    for cell, number in unknown_mentions(cells):
        cause = f"it speaks of exercise {number}; the lesson numbers {len(names)}"
        yield f"cell {cell.get('id')}", cause, "Correct the number."
    for cell, new in zip(cells, renumbered(cells), strict=True):
        for said, right in differences(cell["source"], new):
            remedy = f"Run `autograder tidy {lesson.slug[:2]}`: it numbers them in their order."
            yield f"cell {cell.get('id')}", f"it says '{said}' where '{right}' is right", remedy


def _long(cells: Sequence[RawCell]) -> Iterator[Slip]:
    for cell in cells:
        kind, place = role(cell).get("role"), f"cell {cell.get('id')}"
        if role(cell).get("longer"):
            continue
        words = len(re.sub(r"(?m)^\|.*", "", cell["source"]).split())
        lines = cell["source"].count("\n") + 1
        allowed = "say in metadata.course.longer why it has to be."
        if kind == "text" and words > MOST_WORDS:
            cause = f"it has {words} words; {MOST_WORDS} are read in one go"
            yield place, cause, f"Cut it, or make it two cells, or {allowed}"
        if kind in ("measure", "figure") and lines > MOST_LINES:
            cause = f"it has {lines} lines; {MOST_LINES} are read in one go"
            yield place, cause, f"Move some of it into `course`, or {allowed}"


def _levels(lesson: Lesson) -> Iterator[Slip]:
    levels = [one.difficulty for one in lesson.exercises if not one.manual]
    if levels and levels[0] != 1:
        first = next(one.name for one in lesson.exercises if not one.manual)
        remedy = "Begin with an easy one, of difficulty 1."
        yield f"exercise {first}", f"the first exercise has difficulty {levels[0]}", remedy
    if len(levels) >= ALL_LEVELS_FROM and not {1, 2, 3} <= set(levels):
        lacking = " and ".join(str(n) for n in (1, 2, 3) if n not in levels)
        remedy = f"From {ALL_LEVELS_FROM} exercises on there is one of each difficulty."
        yield "the exercises", f"none has difficulty {lacking}", remedy
