"""The self-study edition: the lesson for somebody who learns alone, on Colab or anywhere.

All tests are there, folded and with nothing hidden; hints and solutions are folded; a set-up cell
brings the `course` package where it is not installed; a last cell adds up the points.
"""

from __future__ import annotations

import ast
from typing import Any

from autograder.lessons import Exercise, Lesson
from autograder.notebooks import RawCell, grader, is_answer, is_test, read_notebook
from autograder.regions import SOLUTION, split_regions, stubbed, without_markers

BADGE_ID, INSTALL_ID, SCORE_ID = "colab-badge", "colab-setup", "your-score"

_INSTALL = """\
#@title Set-up for Colab: run this first { display-mode: "form" }
import importlib.util
import pathlib
import subprocess
import sys

your_points: dict[str, float] = {}  # the score of each exercise whose tests you ran
repository = "OWNER/NAME"
if importlib.util.find_spec("course") is None:
    wheels = sorted(pathlib.Path().glob("pytorch_measured-*.whl"))
    origin = str(wheels[-1]) if wheels else repository and f"git+https://github.com/{repository}"
    if not origin:
        raise ModuleNotFoundError(
            "The package `course` is not installed. Put the file pytorch_measured-….whl "
            "beside this notebook, then run this cell again."
        )
    print(f"Installing course from {origin}, and nothing else.")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", origin]
    subprocess.run(command, check=True)
    importlib.invalidate_caches()"""

_SCORE = """\
#@title Your score { display-mode: "form" }
exercises = EXERCISES
width = max(map(len, [*exercises, "together"]))
for name, most in exercises.items():
    note = "" if name in your_points else "  (run its tests)"
    print(f"{name:<{width}}  {your_points.get(name, 0):g} of {most:g}{note}")
print(f"{'together':<{width}}  {sum(your_points.values()):g} of {sum(exercises.values()):g}")"""


def self_study_edition(lesson: Lesson, *, repository: str = "") -> dict[str, Any]:
    """The self-study notebook of `lesson`; the Colab badge only where `repository` is set."""
    notebook = read_notebook(lesson.source)
    cells: list[RawCell] = []
    if repository:
        cells.append(_text(BADGE_ID, _badge(lesson, repository)))
    for cell in lesson.cells():
        if cell.get("id") == "setup":
            cells.append(_code(INSTALL_ID, _INSTALL.replace("OWNER/NAME", repository), folded=True))
        cells += _cells_for(cell, lesson)
    cells.append(_code(SCORE_ID, _score(lesson), folded=True))
    return {**notebook, "cells": cells}


def _cells_for(cell: RawCell, lesson: Lesson) -> list[RawCell]:
    by_id = {one.answer_id: one for one in lesson.exercises}
    tests = {one.test_id: one for one in lesson.exercises}
    plain = {key: value for key, value in cell["metadata"].items() if key != "nbgrader"}
    id_ = str(grader(cell).get("grade_id", ""))
    if is_answer(cell) and id_ in by_id:
        return [dict(cell, source=stubbed(cell["source"]), metadata=plain)]
    if is_test(cell) and id_ in tests:
        one = tests[id_]
        test = _code(id_, _test(one), folded=True, metadata=plain)
        return [test, _text(f"{one.name}-solution", _solution(one))]
    return [dict(cell, metadata=plain)]


def _test(one: Exercise) -> str:
    """Return the whole test, keeping its points for the last cell of the notebook."""
    lines = without_markers(one.test_source).rstrip().split("\n")
    last = ast.parse("\n".join(lines)).body[-1]
    entry = f'your_points["{one.name}"]'
    lines[last.lineno - 1] = f"{entry} = {lines[last.lineno - 1]}"
    title = f'#@title Tests: {one.name} {{ display-mode: "form" }}'
    return "\n".join([title, *lines, entry])


def _solution(one: Exercise) -> str:
    outside, inside = split_regions(one.answer_source, SOLUTION)
    code = without_markers(one.answer_source) if outside else "\n".join(inside)
    return _folded(f"A solution of {one.name}", f"```python\n{code}\n```")


def _folded(summary: str, body: str) -> str:
    return f"<details><summary>{summary}</summary>\n\n{body}\n\n</details>"


def _score(lesson: Lesson) -> str:
    exercises = {one.name: one.points for one in lesson.exercises if not one.manual}
    rows = "".join(f'\n    "{name}": {points:g},' for name, points in exercises.items())
    return _SCORE.replace("EXERCISES", "{" + rows + "\n}")


def _badge(lesson: Lesson, repository: str) -> str:
    colab = "https://colab.research.google.com"
    notebook = f"{repository}/blob/main/release/self-study/{lesson.slug}.ipynb"
    picture = f"![Open {lesson.slug} in Colab]({colab}/assets/colab-badge.svg)"
    return f"[{picture}]({colab}/github/{notebook})"


def _text(id_: str, source: str) -> RawCell:
    return {"cell_type": "markdown", "id": id_, "metadata": {}, "source": source}


def _code(
    id_: str, source: str, *, folded: bool, metadata: dict[str, Any] | None = None
) -> RawCell:
    about = dict(metadata or {})
    if folded:  # the first for JupyterLab, the second for Colab, which also reads the #@title line
        about |= {"jupyter": {"source_hidden": True}, "cellView": "form"}
    return {
        "cell_type": "code",
        "id": id_,
        "metadata": about,
        "source": source,
        "execution_count": None,
        "outputs": [],
    }
