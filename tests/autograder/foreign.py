"""nbgrader courses that know nothing of us, for tests: made of cells, as instructors make them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbgrader

FILES = Path(nbgrader.__file__).parent / "tests" / "apps" / "files"
MORE_FILES = FILES.parents[1] / "preprocessors" / "files"
USER_GUIDE = Path(nbgrader.__file__).parent / "docs" / "source" / "user_guide"


def cell(
    id_: str, source: str, kind: str = "code", points: float | None = None, **about: Any
) -> dict[str, Any]:
    """A cell that nbgrader knows: with points it is graded."""
    known = {"grade_id": id_, "grade": points is not None, "schema_version": 3}
    known |= {"solution": False, "locked": False}
    if points is not None:
        known["points"] = points
    code = {"execution_count": None, "outputs": []} if kind == "code" else {}
    metadata = {"nbgrader": {**known, **about}}
    return {"cell_type": kind, "id": id_, "metadata": metadata, "source": source, **code}


def answer(id_: str, source: str) -> dict[str, Any]:
    """An answer in code that a test cell grades."""
    return cell(id_, source, solution=True)


def test_of(id_: str, source: str, points: float) -> dict[str, Any]:
    """A test cell."""
    return cell(id_, source, points=points)


def by_hand(id_: str, source: str, points: float, kind: str = "markdown") -> dict[str, Any]:
    """An answer that a person grades."""
    return cell(id_, source, kind, points, solution=True)


def write(folder: Path, name: str, *cells: dict[str, Any], **metadata: Any) -> Path:
    """Write a notebook of these cells; `metadata` are the notebook's own."""
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    about = {"kernelspec": kernel, **metadata}
    notebook = {"cells": list(cells), "metadata": about, "nbformat": 4, "nbformat_minor": 5}
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.ipynb"
    path.write_text(json.dumps(notebook))
    return path
