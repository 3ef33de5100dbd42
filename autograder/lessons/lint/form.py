"""The form of a lesson that grips: a scene, units with their minutes, deep dives, few predictions.

A lesson declares it in its title cell, `metadata.course.form = 2`. A project, which says
`metadata.course.kind = "project"` there, has a short list of its own. These rules ask nothing of
other notebooks.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from autograder.lessons.cells import RawCell, headings, is_answer, is_test, number, role
from autograder.lessons.editions.reading import is_deep_dive
from autograder.lessons.lint.findings import Slip
from autograder.lessons.lint.source_code import parsed
from autograder.lessons.lint.thresholds import (
    ASKED_MINUTES,
    CORE_MINUTES,
    LEAST_QUESTIONS,
    MOST_LINES,
    MOST_PREDICTIONS,
    PROJECT_MINUTES,
    RUN_MINUTES,
    TASK_WORDS,
    UNIT_MINUTES,
    WORDS_A_MINUTE,
)
from autograder.lessons.model import Lesson

__all__ = ["SCENE", "declares_form", "is_project", "lint_form", "units"]

SCENE, DEVICE, PROJECT = "scene", "course.gpu", "project"
_MINUTES = re.compile(r"\b(\d+)\s*min(?:ute)?s?\b")
_TOLERANCE = 1.5  # how far the minutes that a unit says may be from those that are measured


def declares_form(cells: Sequence[RawCell]) -> bool:
    """Whether the lesson has the form that these rules are about."""
    return any(number(role(cell).get("form")) >= 2 for cell in cells)


def is_project(cells: Sequence[RawCell]) -> bool:
    """Whether the notebook is a project: a script to mend, without deep dives."""
    return any(role(cell).get("kind") == PROJECT for cell in cells)


def lint_form(cells: Sequence[RawCell], lesson: Lesson) -> Iterator[Slip]:
    """Give the slips of a lesson that declares the form, or of a project; none for any other."""
    yield from _kinds(cells)
    if is_project(cells):
        yield from _opening(cells)
        yield from _project(cells, lesson)
        yield from _predictions(cells)
        yield from _tasks(cells)
        yield from _minutes(cells, lesson, PROJECT_MINUTES)
    elif declares_form(cells):
        yield from _scene(cells)
        yield from _predictions(cells)
        yield from _deep_dives(cells)
        yield from _tasks(cells)
        yield from _minutes(cells, lesson, (0, CORE_MINUTES[1]))


def _kinds(cells: Sequence[RawCell]) -> Iterator[Slip]:
    for cell in cells:
        said = role(cell)
        if "kind" in said and (said["kind"] != PROJECT or said.get("role") != "title"):
            cause = f"it declares the kind '{said['kind']}'"
            remedy = f"Only a title cell has a kind, and the one there is is '{PROJECT}'."
            yield f"cell {cell.get('id')}", cause, remedy


def _project(cells: Sequence[RawCell], lesson: Lesson) -> Iterator[Slip]:
    """Give the slips of what a project has beside its exercises: questions, and a figure."""
    questions = sum(one.manual for one in lesson.exercises)
    if questions < LEAST_QUESTIONS:
        cause = f"the project asks {questions} questions in words; {LEAST_QUESTIONS} are the least"
        yield "the exercises", cause, "Ask what was measured, and how one can know."
    if not any(role(cell).get("role") == "figure" for cell in cells):
        remedy = "Draw what the learner measured, in a cell with the role 'figure'."
        yield "the project", "it has no figure", remedy


def _opening(cells: Sequence[RawCell]) -> Iterator[Slip]:
    first = next((cell for cell in cells if cell["cell_type"] == "code"), None)
    if first is None or role(first).get("role") != SCENE:
        yield (
            "first code cell",
            "the lesson does not open with a scene",
            "Let a bug happen there, in a few lines with plain imports, before the set-up cell; "
            f"its metadata.course.role is '{SCENE}'.",
        )


def _scene(cells: Sequence[RawCell]) -> Iterator[Slip]:
    yield from _opening(cells)
    for cell in (one for one in cells if role(one).get("role") == SCENE):
        place = f"cell {cell.get('id')}"
        if any(_is_ours(name) for name in _imports(cell["source"])):
            remedy = "Show the symptom with torch and print alone; the course comes after it."
            yield place, "the scene imports the course", remedy
        lines = cell["source"].count("\n") + 1
        if lines > MOST_LINES:
            cause = f"the scene has {lines} lines; {MOST_LINES} are read in one go"
            yield place, cause, "Keep what makes the bug happen, and the print that shows it."


def _is_ours(name: str) -> bool:
    """Whether what is imported is the course's, the device aside: it stands for torch.cuda."""
    return name.partition(".")[0] == "course" and name != DEVICE


def _imports(source: str) -> Iterator[str]:
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{one.name}" for one in node.names)


def _predictions(cells: Sequence[RawCell]) -> Iterator[Slip]:
    in_text = [one for one in cells if role(one).get("role") != "quiz"]
    asked = [one for one in in_text if one["cell_type"] == "code" and _asks(one["source"])]
    if len(asked) > MOST_PREDICTIONS:
        yield (
            "the predictions",
            f"its text asks for {len(asked)}; after {MOST_PREDICTIONS} they tire",
            "Keep those whose answer surprises, and put the others into one quiz(…) at the end.",
        )


def _asks(source: str) -> bool:
    calls = [node for node in ast.walk(parsed(source)) if isinstance(node, ast.Call)]
    return any(isinstance(one.func, ast.Name) and one.func.id == "predict" for one in calls)


def _deep_dives(cells: Sequence[RawCell]) -> Iterator[Slip]:
    for cell in cells:
        dives = [(level, text) for level, text in headings(cell) if _is_about_depth(text)]
        place = f"cell {cell.get('id')}"
        if dives and not is_deep_dive(cell):
            remedy = "Begin the cell with this heading: a release folds what begins so."
            yield place, "its deep dive is not the first thing in the cell", remedy
        for level, text in dives:
            if level < 2 or not re.match(r"Deep dive: \S", text):
                remedy = "Write `## Deep dive: …` or a deeper level, with what it is about."
                yield place, f"the heading '{text}' folds too much, or says too little", remedy


def _is_about_depth(heading: str) -> bool:
    return heading.lower().startswith("deep dive")


@dataclass
class Unit:
    """A section of the core: its heading cell, what it says it takes, and what is in it."""

    heading: RawCell
    title: str
    cells: list[RawCell] = field(default_factory=list)

    @property
    def said(self) -> int | None:
        """The minutes that its heading cell names."""
        found = _MINUTES.search(self.heading["source"])
        return int(found[1]) if found else None

    def measured(self) -> float:
        """Minutes to read its words, to run and read its cells, and for its exercises."""
        words = sum(len(one["source"].split()) for one in self.cells if _is_read(one))
        code = [one for one in self.cells if one["cell_type"] == "code" and not _is_graded(one)]
        cells = sum(ASKED_MINUTES if _is_asked(one) else RUN_MINUTES for one in code)
        tasks = sum(number(role(one).get("minutes")) for one in self.cells)
        return words / WORDS_A_MINUTE + cells + tasks

    @property
    def has_exercise(self) -> bool:
        """Whether something in it is to be written."""
        return any(role(one).get("role") == "exercise" for one in self.cells)


def _is_graded(cell: RawCell) -> bool:
    return is_test(cell) or is_answer(cell)


def _is_asked(cell: RawCell) -> bool:
    return role(cell).get("role") in ("predict", "warm-up")


def _is_read(cell: RawCell) -> bool:
    return cell["cell_type"] == "markdown" and role(cell).get("role") != "hint"


def units(cells: Sequence[RawCell]) -> list[Unit]:
    """The sections of the core, by their headings of level 2; deep dives are left out."""
    found: list[Unit] = []
    for cell, deep in zip(cells, _are_deep(cells), strict=True):
        if deep:
            continue
        found.extend(Unit(cell, text) for level, text in headings(cell)[:1] if level == 2)
        if found:
            found[-1].cells.append(cell)
    return found


def _are_deep(cells: Sequence[RawCell]) -> Iterator[bool]:
    """Tell of each cell whether it lies in a deep dive, which ends at a heading of its level."""
    depth = 0
    for cell in cells:
        for level, text in headings(cell)[:1]:
            if depth and level <= depth:
                depth = 0
            if _is_about_depth(text):
                depth = level
        yield bool(depth)


def task_words(source: str) -> int:
    """How many words a task has, its fenced code and its tables aside."""
    return len(re.sub(r"(?ms)^```.*?^```$|^\|[^\n]*", "", source).split())


def _counted_tasks(cells: Sequence[RawCell]) -> Iterator[tuple[RawCell, bool, int]]:
    """Give each task, whether it lies in a deep dive, and its words."""
    for cell, deep in zip(cells, _are_deep(cells), strict=True):
        if role(cell).get("role") == "exercise":
            yield cell, deep, task_words(cell["source"])


def _tasks(cells: Sequence[RawCell]) -> Iterator[Slip]:
    for cell, deep, words in _counted_tasks(cells):
        most = TASK_WORDS[deep]
        if words > most:
            cause = f"the task has {words} words; {most} are the most"
            remedy = "Show edge cases as calls with results, and leave out what isn't the subject."
            yield f"cell {cell.get('id')}", cause, remedy


def _minutes(cells: Sequence[RawCell], lesson: Lesson, allowed: tuple[int, int]) -> Iterator[Slip]:
    core = [one for one in units(cells) if one.has_exercise]
    for unit in core:
        place, measured = f"cell {unit.heading.get('id')}", round(unit.measured())
        if unit.said is None:
            remedy = f"Say it below the heading, `*{measured} minutes*` by words and tasks."
            yield place, f"the unit '{unit.title}' does not say how many minutes it takes", remedy
        elif not 1 / _TOLERANCE <= unit.said / max(measured, 1) <= _TOLERANCE:
            cause = f"the unit '{unit.title}' says {unit.said} minutes; words and tasks make "
            yield place, f"{cause}{measured}", "Say what it takes, or cut it."
        elif unit.said > UNIT_MINUTES[1]:
            cause = f"the unit '{unit.title}' takes {unit.said} minutes; {UNIT_MINUTES[1]} are many"
            yield place, cause, "Make it two units, or move some of it into a deep dive."
    total = sum(unit.said or 0 for unit in core)
    least, most = allowed
    if not core or not all(unit.said for unit in core) or least <= total <= most:
        return
    if least:
        cause = f"{lesson.slug} takes {total} minutes; a project takes {least} to {most}"
        yield "the units", cause, "Cut a unit, or add one."
    else:
        cause = f"the core of {lesson.slug} takes {total} minutes; {most} are the most"
        yield "the units", cause, "Move what not everybody needs under `## Deep dive: …`."
