"""A lesson as a page to read: the self-study edition with outputs, solutions and checks folded."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autograder.lessons.cells import grader
from autograder.lessons.editions.addresses import binder, colab, repository
from autograder.lessons.editions.opening import BADGES_ID, INSTALL_ID, SELF_STUDY
from autograder.lessons.model import Lesson
from autograder.lessons.regions import without_markers
from autograder.lessons.self_study import (
    KEEP_ID,
    PROGRESS_ID,
    self_study_edition,
)
from course.claims import claims
from docs.site.lessons.figures import with_files
from docs.site.settings import ROOT, Settings

__all__ = ["page_of", "solved_cells", "write_lesson"]

_LEFT_OUT = {BADGES_ID, INSTALL_ID, KEEP_ID, PROGRESS_ID}
_SOLUTION = "-solution"
_CHECKS = "The checks, and what they say of the solution"


def solved_cells(lesson: Lesson) -> list[dict[str, Any]]:
    """The cells of the self-study edition, in order, with every answer filled in."""
    solved = {one.answer_id: without_markers(one.answer_source) for one in lesson.exercises}
    by_cell = {cell["id"]: grader(cell).get("grade_id") for cell in lesson.cells()}
    cells = []
    for cell in _edition(lesson):
        answer = by_cell.get(cell["id"]) if cell["cell_type"] == "code" else None
        cells.append(dict(cell, source=solved.get(str(answer), cell["source"])))
    return cells


def write_lesson(lesson: Lesson, outputs: Mapping[str, list[Any]], settings: Settings) -> None:
    """Write the lesson's page, its figures, and the notebooks to download."""
    pages, extra = settings.pages / "lessons", settings.extra / "lessons"
    for folder in (pages, extra):
        folder.mkdir(parents=True, exist_ok=True)
    page = page_of(lesson, outputs, extra / lesson.slug)
    (pages / f"{lesson.slug}.ipynb").write_text(json.dumps(page), encoding="utf-8")
    shutil.copy(ROOT / "release" / "self-study" / f"{lesson.slug}.ipynb", extra)


def page_of(lesson: Lesson, outputs: Mapping[str, list[Any]], figures: Path) -> dict[str, Any]:
    """The notebook that Sphinx reads.

    Args:
        lesson: The lesson.
        outputs: Those of each code cell by its id; a lesson that was not run has none.
        figures: The folder into which pictures of the outputs are written.
    """
    cells = _edition(lesson)
    solutions = {cell["id"]: cell for cell in cells if str(cell["id"]).endswith(_SOLUTION)}
    answers = {one.answer_id: one.name for one in lesson.exercises}
    tests = {one.test_id for one in lesson.exercises}
    graded = {cell["id"]: str(grader(cell).get("grade_id", "")) for cell in lesson.cells()}
    made: list[dict[str, Any]] = []
    for cell in cells:
        id_ = str(cell["id"])
        if id_ in solutions:
            continue  # stands directly below the answer
        made.append(_shown(cell, with_files(outputs.get(id_, []), figures, id_)))
        if cell["cell_type"] == "code" and graded.get(id_, id_) in tests - answers.keys():
            made[-1]["metadata"] = _folded(_CHECKS)
        solution = solutions.get(f"{answers.get(graded.get(id_, ''), '')}{_SOLUTION}")
        if solution is not None:
            made.append(_shown(solution, []))
    made.insert(1, _text("ways-in", _ways_in(lesson)))
    return {"cells": made, "metadata": _METADATA, "nbformat": 4, "nbformat_minor": 5}


_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python", "pygments_lexer": "ipython3"},
}


def _edition(lesson: Lesson) -> list[dict[str, Any]]:
    """The cells of the self-study edition that a reader needs, each source as one string."""
    cells = self_study_edition(lesson)["cells"]
    return [
        dict(cell, source="".join(cell["source"])) for cell in cells if cell["id"] not in _LEFT_OUT
    ]


def _shown(cell: Mapping[str, Any], outputs: list[Any]) -> dict[str, Any]:
    """The cell with its outputs, and of its metadata what Sphinx understands."""
    tags = cell["metadata"].get("tags", [])
    made = {**_text(str(cell["id"]), cell["source"]), "metadata": {"tags": tags} if tags else {}}
    if cell["cell_type"] != "code":
        return made
    source = re.sub(r"^#@title .*\n", "", cell["source"])
    return {
        **made,
        "cell_type": "code",
        "source": source,
        "execution_count": 1 if outputs else None,
        "outputs": outputs,
    }


def _folded(words: str) -> dict[str, Any]:
    return {
        "tags": ["hide-cell"],
        "mystnb": {"code_prompt_show": words, "code_prompt_hide": words},
    }


def _text(id_: str, source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": id_, "metadata": {}, "source": source}


def _ways_in(lesson: Lesson) -> str:
    """The links above a lesson: its notebook, where it opens in one click, claims if any."""
    links = [f'<a href="{lesson.slug}.ipynb" download>Download this notebook</a>']
    if address := repository(ROOT):
        notebook = f"release/{SELF_STUDY}/{lesson.slug}.ipynb"
        for program, opens in {"Colab": colab, "Binder": binder}.items():
            links.append(f'<a href="{opens(address, notebook)}">Open it in {program}</a>')
    if claims(lesson.slug):  # the last lesson has none of its own
        links.append(f'<a href="../atlas.html#lesson-{lesson.slug}">Its claims in the atlas</a>')
    return f'<p class="ways-in">{" · ".join(links)}</p>'
