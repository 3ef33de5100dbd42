"""The self-study edition: the lesson for somebody who learns alone, on Colab or anywhere.

All tests are there, folded and with nothing hidden; hints and solutions are folded; a set-up cell
brings the `course` package where it is not installed; a last cell shows the score and keeps it.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from autograder.lessons.cells import (
    FOLDED,
    RawCell,
    code_cell,
    grade_id,
    is_answer,
    is_test,
    read_notebook,
    role,
    text_cell,
)
from autograder.lessons.editions.opening import opened
from autograder.lessons.editions.reading import (
    FOLDED_TEST,
    ahead_of,
    for_readers,
    is_deep_dive,
)
from autograder.lessons.lint.source_code import parsed
from autograder.lessons.model import Exercise, Lesson
from autograder.lessons.regions import SOLUTION, split_regions, without_markers

# Colab shows the form of its #@title line; JupyterLab would hide what can be chosen in it.
_FORM = {"cellView": "form"}
KEEP_ID, PROGRESS_ID = "keep-your-progress", "your-progress"
_ANSWER_HERE = "*Your answer: double-click here and write.*"
_KEEP = """\
## Your score, and how to keep it

The last cell adds up the best result of each exercise. Run it as often as you like.

- To **keep** your progress, choose `save` for `action` (in JupyterLab: write it in the place of
  `show`) and run the cell. It writes your results, and the cells that reached them, to
  `pytorch-measured-progress.json`. On Colab it downloads that file, because a Colab runtime forgets
  everything when it ends.
- To **bring it back**, choose `load`. On Colab you are asked for the file; elsewhere put it beside
  this notebook. The better result of each exercise counts, and your saved answers are shown: none
  of them is run, and no cell is overwritten.

One file serves all lessons. Answers in words stay in the notebook: save that, too."""
_PROGRESS = """\
#@title Your score and your progress {{ display-mode: "form" }}
action = "show"  #@param ["show", "save", "load"]
from course import lesson_progress

lesson_progress(
    "{slug}",
    {points},{by_hand}
    action=action,
)"""


def self_study_edition(lesson: Lesson, *, repository: str = "") -> dict[str, Any]:
    """The self-study notebook of `lesson`; badges only where `repository` is set."""
    notebook = read_notebook(lesson.source)
    cells: list[RawCell] = []
    ahead = ahead_of(lesson.cells())
    for cell in lesson.cells():
        cells += _cells_for(cell, lesson, ahead)
    cells += [text_cell(KEEP_ID, _KEEP), code_cell(PROGRESS_ID, _progress(lesson), metadata=_FORM)]
    name, device = f"{lesson.slug}.ipynb", _names_device(lesson)
    return {**notebook, "cells": opened(cells, name, repository, device=device)}


def _cells_for(
    cell: RawCell, lesson: Lesson, ahead: Mapping[str, Mapping[str, object]]
) -> list[RawCell]:
    by_id = {one.answer_id: one for one in lesson.exercises}
    tests = {one.test_id: one for one in lesson.exercises}
    plain = {key: value for key, value in cell["metadata"].items() if key != "nbgrader"}
    if "shows" in role(cell):  # it tells the grader alone
        plain["course"] = {key: value for key, value in role(cell).items() if key != "shows"}
    id_ = grade_id(cell)
    if is_answer(cell) and id_ in by_id:
        one = by_id[id_]
        answer = dict(cell, source=_ANSWER_HERE if one.words else one.stub, metadata=plain)
        pictures = answer.pop("attachments", {})  # the model answer's
        if not one.manual:
            return [answer]
        shown = {"attachments": pictures} if pictures else {}
        return [answer, text_cell(f"{one.name}-solution", _solution(one)) | shown]
    if is_test(cell) and id_ in tests:
        one = tests[id_]
        test = code_cell(id_, _test(one, ahead.get(id_, {})), metadata=plain | FOLDED_TEST)
        return [test, text_cell(f"{one.name}-solution", _solution(one))]
    return [dict(cell, metadata=plain | ({FOLDED: True} if is_deep_dive(cell) else {}))]


def _names_device(lesson: Lesson) -> bool:
    """Whether the lesson uses `course.gpu`."""
    code = [cell["source"] for cell in lesson.cells() if cell["cell_type"] == "code"]
    return any(map(_uses_the_gpu, code))


def _uses_the_gpu(source: str) -> bool:
    nodes = ast.walk(parsed(source))
    imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    modules = {getattr(node, "module", None) or "" for node in imports}
    names = {f"{getattr(node, 'module', '')}.{one.name}" for node in imports for one in node.names}
    return any(name.lstrip(".").startswith("course.gpu") for name in modules | names)


def _test(one: Exercise, ahead: Mapping[str, object]) -> str:
    """Return the whole test under a title; its table names real points."""
    about = {**ahead, "complete": True}
    return for_readers(without_markers(one.test_source).rstrip(), one.name, about)


def _solution(one: Exercise) -> str:
    outside, inside = split_regions(one.answer_source, SOLUTION)
    if one.words:
        summary = f"A model answer to {one.name}, and what it is worth"
        return _folded(summary, "\n".join(inside).strip())
    whole = any(line.strip() for line in outside)
    code = without_markers(one.answer_source) if whole else "\n".join(inside)
    return _folded(f"A solution of {one.name}", f"```python\n{code}\n```")


def _folded(summary: str, body: str) -> str:
    return f"<details><summary>{summary}</summary>\n\n{body}\n\n</details>"


def _progress(lesson: Lesson) -> str:
    tested = _table({one.name: one.points for one in lesson.exercises if not one.manual})
    words = {one.name: one.points for one in lesson.exercises if one.manual}
    by_hand = f"\n    by_hand={_table(words)}," if words else ""
    return _PROGRESS.format(slug=lesson.slug, points=tested, by_hand=by_hand)


def _table(points: dict[str, float]) -> str:
    rows = "".join(f'\n        "{name}": {value:g},' for name, value in points.items())
    return f"{{{rows}\n    }}"
