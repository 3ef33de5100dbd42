"""Whether a source notebook keeps to the form of the course.

The release, the gate and the grader rely on these rules, so a slip is named here, with its cell,
before it turns up as a wrong grade.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from autograder.errors import did_you_mean
from autograder.lessons.cells import (
    FOLDED,
    KERNEL,
    RawCell,
    grader,
    is_answer,
    is_test,
    read_notebook,
    role,
)
from autograder.lessons.claims import misconceptions
from autograder.lessons.lint.findings import Finding, Slip
from autograder.lessons.lint.form import SCENE, lint_form
from autograder.lessons.lint.metadata import lint_metadata
from autograder.lessons.lint.source_code import parsed, unreadable
from autograder.lessons.lint.test_cells import lint_test_cell
from autograder.lessons.lint.text import lint_text
from autograder.lessons.lint.travel import defined_names
from autograder.lessons.model import Exercise, Lesson
from autograder.lessons.regions import HIDDEN, SOLUTION, RegionError, split_regions

SETUP = "setup"
MARKING = "**Marking**"


def lint_lesson(course: Path, lesson: Lesson) -> tuple[Finding, ...]:
    """Every rule that the source notebook of `lesson` breaks; none for a sound one."""
    cells = lesson.cells()
    known = misconceptions(course, lesson.slug)
    found = [
        *_ids(cells),
        *_setup(cells),
        *_outputs(cells),
        *_pictures(cells),
        *_left_by_an_editor(read_notebook(lesson.source).get("metadata", {}), cells),
        *_stray_regions(cells),
        *(f for one in lesson.exercises for f in _exercise(one, lesson, cells, set(known))),
        *_orphans(cells, lesson),
        *lint_metadata(cells, lesson),
        *lint_text(cells, lesson),
        *lint_form(cells, lesson),
    ]
    return tuple(Finding(f"{lesson.source}, {place}", cause, cure) for place, cause, cure in found)


def _ids(cells: list[RawCell]) -> Iterator[Slip]:
    ids = Counter(str(cell.get("id", "")) for cell in cells)
    grade_ids = Counter(str(grader(cell).get("grade_id")) for cell in cells if grader(cell))
    for what, counted in (("id", ids), ("grade_id", grade_ids)):
        for name, times in counted.items():
            if times > 1:
                yield (
                    f"cell {name}",
                    f"{times} cells have the {what} '{name}'",
                    "Rename all but one.",
                )
    for cell in cells:
        id_ = str(cell.get("id", ""))
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", id_):
            remedy = "Give it a readable one: lower-case words joined by hyphens."
            yield f"cell '{id_}'", "its id is no slug", remedy
        if grader(cell) and grader(cell).get("grade_id") != id_:
            cause = f"its grade_id is '{grader(cell).get('grade_id')}'"
            yield f"cell {id_}", cause, "Make id and grade_id the same."


def _setup(cells: list[RawCell]) -> Iterator[Slip]:
    # The scene runs before anything else: it is plain PyTorch, as the learner's own code is.
    code = (cell for cell in cells if cell.get("cell_type") == "code")
    first = next((cell for cell in code if role(cell).get("role") != SCENE), None)
    if first is None or first.get("id") != SETUP:
        yield (
            "first code cell",
            "it is not the set-up cell",
            f"Give the set-up cell the id '{SETUP}'.",
        )
    elif not grader(first).get("locked") or grader(first).get("grade") or is_answer(first):
        yield (
            "cell setup",
            "it is not locked",
            "Set nbgrader: locked true, grade and solution false.",
        )


def _outputs(cells: list[RawCell]) -> Iterator[Slip]:
    for cell in cells:
        if cell.get("outputs") or cell.get("execution_count") is not None:
            yield f"cell {cell.get('id')}", "it holds outputs", "Clear all outputs and save."


def _pictures(cells: list[RawCell]) -> Iterator[Slip]:
    """Give the slips of pictures that are attached to a model answer: learners have its cell."""
    for cell in cells:
        if is_answer(cell) and cell.get("attachments"):
            names = ", ".join(sorted(cell["attachments"]))
            yield (
                f"cell {cell.get('id')}",
                f"a picture is attached to the model answer ({names}); the class edition leaves "
                "it out",
                "Say it in words, or attach it to a cell that learners read.",
            )


def _left_by_an_editor(metadata: dict[str, Any], cells: list[RawCell]) -> Iterator[Slip]:
    """Give the slips of a notebook that was run and saved: versions, widgets, times, folds."""
    remedy = "Run `autograder tidy`; it takes out what an editor leaves."
    if metadata != KERNEL:
        wanted = " and ".join(KERNEL)
        yield "notebook", f"its metadata hold more than a plain {wanted}", remedy
    for cell in cells:
        for key in sorted(cell["metadata"].keys() - {"course", "nbgrader", FOLDED}):
            yield f"cell {cell.get('id')}", f"its metadata hold '{key}'", remedy


def _stray_regions(cells: list[RawCell]) -> Iterator[Slip]:
    for cell in cells:
        for name, belongs in ((SOLUTION, is_answer(cell)), (HIDDEN, is_test(cell))):
            if f"BEGIN {name}" in cell["source"] and not belongs:
                yield (
                    f"cell {cell.get('id')}",
                    f"it holds a {name} region, but is no such cell",
                    "Move the region, or correct the nbgrader metadata.",
                )


def _orphans(cells: list[RawCell], lesson: Lesson) -> Iterator[Slip]:
    names = {one.name for one in lesson.exercises}
    for cell in cells:
        name = role(cell).get("exercise") or (
            grader(cell).get("grade_id") if is_answer(cell) else None
        )
        if name and name not in names:
            yield (
                f"cell {cell.get('id')}",
                f"it belongs to the exercise '{name}', which has no test cell."
                + did_you_mean(str(name), names),
                f"Add a test cell test-{name}, or correct the name.",
            )


def _exercise(
    one: Exercise, lesson: Lesson, cells: list[RawCell], known: Collection[str]
) -> Iterator[Slip]:
    if one.is_task:
        remedy = "Ask it as a question in words, or in code, with an answer cell of its own."
        yield f"cell {one.name}", "it is a task cell of nbgrader, which no lesson has", remedy
        return
    place, order = f"exercise {one.name}", _order(one, cells)
    for what, position in order.items():
        if position is None:
            yield (
                place,
                f"it has no {what} cell",
                f"Add it; see the other exercises of {lesson.slug}.",
            )
    positions = [position for position in order.values() if position is not None]
    if positions != sorted(positions):
        yield place, "its cells are out of order", "Order them: task, answer, test."
    if one.manual:
        yield from _about(one, lesson, cells)
        yield from _read_by_a_person(one)
        return
    if one.test_id != f"test-{one.name}":
        yield place, f"its test cell is called '{one.test_id}'", f"Call it test-{one.name}."
    yield from _about(one, lesson, cells)
    yield from _answer_cell(one)
    setup = next((cell["source"] for cell in cells if cell.get("id") == SETUP), "")
    yield from lint_test_cell(one, known, defined_names(ast.unparse(parsed(setup))))


def _order(one: Exercise, cells: list[RawCell]) -> dict[str, int | None]:
    def position(matches: object) -> int | None:
        return next((n for n, cell in enumerate(cells) if cell is matches), None)

    task = next((c for c in cells if _is_task(c, one.name)), None)
    by_id = {grader(cell).get("grade_id"): cell for cell in cells if grader(cell)}
    answer = by_id.get(one.answer_id) if one.answer_id else None
    return {
        "task": position(task),
        "answer": position(answer),
        "test": position(by_id.get(one.test_id)),
    }


def _is_task(cell: RawCell, name: str) -> bool:
    return role(cell).get("role") == "exercise" and role(cell).get("exercise") == name


def _about(one: Exercise, lesson: Lesson, cells: list[RawCell]) -> Iterator[Slip]:
    place = f"exercise {one.name}"
    task = next((cell for cell in cells if _is_task(cell, one.name)), None)
    if task is None:
        return
    if one.difficulty not in (1, 2, 3):
        yield place, "its difficulty is not 1, 2 or 3", "Set metadata.course.difficulty."
    if one.minutes <= 0:
        yield place, "it does not say how many minutes it takes", "Set metadata.course.minutes."
    if one.section not in lesson.sections:
        sections = ", ".join(lesson.sections) or "none"
        cause = f"no section is called '{one.section}'.{did_you_mean(one.section, lesson.sections)}"
        yield place, cause, f"Set metadata.course.section to one of: {sections}."


def _answer_cell(one: Exercise) -> Iterator[Slip]:
    if not one.answer_id:
        return
    place = f"cell {one.answer_id}"
    try:
        outside, inside = split_regions(one.answer_source, SOLUTION)
    except RegionError as error:
        yield place, str(error), "Pair the markers."
        return
    if (slip := unreadable(one.answer_source)) is not None:
        yield place, f"it cannot be read: {slip}", "Mend the line named."
    if not any(line.strip() for line in inside):
        yield place, "it has no solution", "Write one between ### BEGIN SOLUTION and END SOLUTION."
    elif not any(line.strip() for line in outside):
        remedy = "Leave signature and docstring outside the solution region."
        yield place, "nothing of it is left for the learner", remedy


def _read_by_a_person(one: Exercise) -> Iterator[Slip]:
    """Give the slips of a cell that is answer and test in one."""
    place = f"cell {one.test_id}"
    if one.points <= 0:
        yield place, "it gives no points", "Set nbgrader's points."
    try:
        outside, inside = split_regions(one.answer_source, SOLUTION)
    except RegionError as error:
        yield place, str(error), "Pair the markers."
        return
    if MARKING not in "\n".join(inside):
        remedy = (
            f"Write both between ### BEGIN SOLUTION and END SOLUTION; head the second {MARKING}."
        )
        yield place, "it has no model answer with a marking scheme", remedy
    elif any(line.strip() for line in outside):
        remedy = "Put the question into the task cell, and all of this cell into the region."
        yield place, "a learner would find more than the stub", remedy
