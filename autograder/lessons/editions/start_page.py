"""The start page in both editions: what a learner opens first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from autograder.lessons.cells import RawCell, cells_of, read_notebook, role
from autograder.lessons.editions.opening import SELF_STUDY, opened

__all__ = ["START_PAGE", "start_page"]

START_PAGE = "00-start-here.ipynb"  # in source/ and in both editions, beside the lessons


def start_page(source: Path, edition: str, repository: str = "") -> dict[str, Any]:
    """The start page of an edition.

    Args:
        source: The page as it is edited. A cell with `metadata.course.edition` is for that one.
        edition: `"class"` or `"self-study"`; the latter begins by bringing the course.
        repository: `owner/name` of the public repository, empty where there is none.

    Raises:
        LessonError: It cannot be read.
    """
    notebook = read_notebook(source)
    cells: list[RawCell] = []
    for cell in cells_of(notebook):
        about = role(cell)
        if about.get("edition", edition) != edition:
            continue
        rest = {key: value for key, value in about.items() if key != "edition"}
        metadata = {key: value for key, value in cell["metadata"].items() if key != "course"}
        cells.append(dict(cell, metadata=metadata | ({"course": rest} if rest else {})))
    if edition == SELF_STUDY:
        cells = opened(cells, START_PAGE, repository)
    return {**notebook, "cells": cells}
