"""A source notebook as it is committed, whatever editor saved it last.

JupyterLab gives new cells random ids, keeps outputs, counts and the versions of the kernel, and
marks cells with how they were scrolled.  None of that belongs to a lesson.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from autograder.lessons.authoring.numbering import renumbered
from autograder.lessons.cells import (
    FOLDED,
    KERNEL,
    RawCell,
    anchor,
    cells_of,
    grader,
    headings,
    is_answer,
    is_test,
    read_notebook,
    role,
)
from autograder.lessons.release import stable_bytes
from autograder.records.journal import write_bytes

_KEPT = {"nbgrader", "course", "attachments", FOLDED}
_MADE_UP = re.compile(r"[0-9a-f]{8}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|cell-[0-9a-f]+|")
_PREDICTS = re.compile(r'^\s*predict\("([a-z0-9-]+)"\)\s*$')


def tidy(path: Path) -> bool:
    """Bring the notebook at `path` into its committed form; whether anything changed.

    A second run changes nothing.  The file is replaced as a whole.
    """
    before = path.read_bytes()
    after = stable_bytes(tidied(read_notebook(path)))
    if after != before:
        write_bytes(path, after)
    return after != before


def is_untidy(path: Path) -> bool:
    """Whether `tidy` would change the notebook at `path`."""
    return stable_bytes(tidied(read_notebook(path))) != path.read_bytes()


def tidied(notebook: dict[str, Any]) -> dict[str, Any]:
    """The notebook with readable ids, exercises numbered in order, and nothing of the editor."""
    cells = [_plain(cell) for cell in cells_of(notebook)]
    for cell, source in zip(cells, renumbered(cells), strict=True):
        cell["source"] = source
    _name(cells)
    return {"metadata": KERNEL, "nbformat": 4, "nbformat_minor": 5, "cells": cells}


def _plain(cell: RawCell) -> RawCell:
    metadata = {key: value for key, value in cell["metadata"].items() if key in _KEPT}
    metadata["course"] = role(cell) or _role_of(cell)
    if not metadata["course"]:
        del metadata["course"]
    kept = {"cell_type", "id", "attachments"}
    plain = {key: value for key, value in cell.items() if key in kept}
    plain |= {"metadata": metadata, "source": cell["source"].rstrip()}
    return plain | ({"execution_count": None, "outputs": []} if cell["cell_type"] == "code" else {})


def _role_of(cell: RawCell) -> dict[str, str]:
    """What a cell without the course's metadata is; nbgrader's own cells say it themselves."""
    if grader(cell):
        return {}
    if cell["cell_type"] == "markdown":
        return {"role": "text"}
    return {"role": "predict" if _PREDICTS.match(cell["source"]) else "measure"}


def _name(cells: Iterable[RawCell]) -> None:
    """Give every cell its id: nbgrader's, that of its part, or one that says what it holds."""
    taken: set[str] = set()
    hints: dict[str, int] = {}
    before = "cell"
    for cell in cells:
        wanted = _wanted(cell, hints) or (str(cell.get("id", "")), False)
        id_, fixed = wanted
        if not fixed and _MADE_UP.fullmatch(id_):
            id_ = _readable_id(cell) or f"{before}-next"
        if not fixed:
            id_ = _free(id_, taken)
        taken.add(id_)
        cell["id"], before = id_, id_
        if grader(cell):
            cell["metadata"]["nbgrader"] = {**grader(cell), "grade_id": id_}


def _wanted(cell: RawCell, hints: dict[str, int]) -> tuple[str, bool] | None:
    """The id that nbgrader's metadata or the cell's part in an exercise lay down."""
    about, exercise = role(cell), str(role(cell).get("exercise") or "")
    if grader(cell).get("grade_id"):
        return str(grader(cell)["grade_id"]), is_answer(cell) or is_test(cell)
    if exercise and about.get("role") == "hint":
        hints[exercise] = hints.get(exercise, 0) + 1
        return f"{exercise}-hint-{hints[exercise]}", True
    if exercise and about.get("role") == "exercise":
        return f"{exercise}-task", True
    return None


def _readable_id(cell: RawCell) -> str:
    found = _PREDICTS.match(cell["source"]) if cell["cell_type"] == "code" else None
    if found:
        return f"predict-{found[1]}"
    heading = next((text for _, text in headings(cell)), "")
    return re.sub(r"[^a-z0-9-]", "", anchor(heading).replace("_", "-")).strip("-")


def _free(id_: str, taken: set[str]) -> str:
    n, free = 2, id_
    while free in taken:
        free, n = f"{id_}-{n}", n + 1
    return free
