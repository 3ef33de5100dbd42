"""The rules of what cells say of themselves: their roles, their locks, the line below a task."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from autograder.console import quantity
from autograder.errors import did_you_mean
from autograder.lessons.cell_dependencies.unneeded_cells import (
    MOST_DRAWS,
    ShownCells,
    draws,
    said_by_code,
    shows,
)
from autograder.lessons.cells import RawCell, grader, is_answer, is_test, role
from autograder.lessons.lint.findings import Slip
from autograder.lessons.model import Exercise, Lesson
from course.guide import PATHS

ROLES = (
    *("title", "scene", "text", "predict", "measure", "figure", "warm-up"),
    *("exercise", "hint", "summary", "quiz"),
)
_LINE = re.compile(r"(?m)^\*Difficulty ([●○]+) · (\d+ minutes?) · ([\d.]+ points?)")


def lint_metadata(cells: Sequence[RawCell], lesson: Lesson) -> Iterator[Slip]:
    """Give the slips of the metadata of all cells."""
    yield from _roles(cells)
    yield from _locks(cells)
    yield from _of_the_lesson(cells)
    yield from _map(cells)
    yield from _shown(cells)
    tasks = {role(one).get("exercise"): one for one in cells if role(one).get("role") == "exercise"}
    for exercise in lesson.exercises:
        if task := tasks.get(exercise.name):
            yield from _line(task, exercise)


def _roles(cells: Iterable[RawCell]) -> Iterator[Slip]:
    for cell in cells:
        said = role(cell).get("role")
        if grader(cell) or said in ROLES:
            continue
        cause = f"no cell has the role '{said}'.{did_you_mean(str(said), ROLES)}"
        yield (
            f"cell {cell.get('id')}",
            cause if said else "it does not say what it is",
            f"Set metadata.course.role to one of: {', '.join(ROLES)}.",
        )


def _locks(cells: Iterable[RawCell]) -> Iterator[Slip]:
    for cell in cells:
        place, locked = f"cell {cell.get('id')}", bool(grader(cell).get("locked"))
        if is_answer(cell) and locked:
            yield place, "it is locked: no learner could answer", "Set nbgrader: locked false."
        elif is_test(cell) and not is_answer(cell) and not locked:
            yield (
                place,
                "it is not locked: a learner could change it",
                "Set nbgrader: locked true.",
            )


def _of_the_lesson(cells: Iterable[RawCell]) -> Iterator[Slip]:
    for cell, (key, words) in product(cells, _OF_THE_LESSON.items()):
        place, said = f"cell {cell.get('id')}", role(cell)
        if key in said and said.get("role") != "title":
            yield (
                place,
                f"it {words}, which only the title cell can",
                f"Put metadata.course.{key} into the title cell.",
            )
        elif key in said and said[key] is not True:
            yield place, f"{key} is something else than true", "Set it to true, or leave it out."


_OF_THE_LESSON = {
    "loopback": "asks for a loopback network",
    "rehearsal": "lets the test cells be rehearsed",
}


def _map(cells: Iterable[RawCell]) -> Iterator[Slip]:
    """What the map of the lessons reads: the title cell's `can` and `paths`."""
    for cell in cells:
        said, place = role(cell), f"cell {cell.get('id')}"
        found = {key for key in ("can", "paths") if key in said}
        if found and said.get("role") != "title":
            cause = f"it says {' and '.join(sorted(found))}, which only the title cell can"
            yield place, cause, "Move it to the title cell's metadata.course."
        paths = said.get("paths", [])
        for path in paths if isinstance(paths, list) else [paths]:
            if path not in PATHS:
                cause = f"there is no path '{path}'.{did_you_mean(str(path), PATHS)}"
                yield place, cause, f"Set metadata.course.paths to some of: {', '.join(PATHS)}."


def _shown(cells: Sequence[RawCell]) -> Iterator[Slip]:
    """Give the slips of cells that say they only show; running the lesson proves the rest."""
    lesson = ShownCells(cells)
    for cell in (one for one in cells if {"shows", "draws"} & set(role(one))):
        place, remedy = f"cell {cell.get('id')}", "Run `autograder tidy --shows` on the lesson."
        if not shows(cell):
            yield place, "it says that it only shows, and is no plain cell of the lesson", remedy
        else:
            for effect in said_by_code(cell, lesson):
                yield place, f"it says that it only shows, but {effect}", remedy
            if "draws" in role(cell) and not draws(cell):
                yield place, f"draws is no number from 1 to {MOST_DRAWS}", remedy


def _line(task: RawCell, one: Exercise) -> Iterator[Slip]:
    found = _LINE.search(task["source"])
    if found is None:
        return
    dots = "●" * one.difficulty + "○" * (3 - one.difficulty)
    wanted = dots, quantity(one.minutes, "minute"), quantity(one.points, "point")
    for said, right in zip(found.groups(), wanted, strict=True):
        if said != right:
            yield (
                f"cell {task.get('id')}",
                f"it says '{said}' where '{right}' is right",
                "Correct the line, or metadata.course of the task and the points of its test.",
            )
