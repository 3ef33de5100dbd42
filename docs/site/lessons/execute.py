"""A solved lesson is run from its first cell to its last, and its outputs are kept."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path
from subprocess import DEVNULL
from typing import Any

from autograder.kept_results import KeptResults, digest_of, modules_behind
from autograder.lessons.claims import claims_path
from autograder.lessons.model import Lesson
from docs.site.errors import LessonFailed
from docs.site.settings import ROOT

__all__ = ["outputs_of"]

LIMIT_S = 300  # for one cell

Outputs = dict[str, list[dict[str, Any]]]


def outputs_of(lesson: Lesson, cells: list[dict[str, Any]], results: KeptResults) -> Outputs:
    """The outputs of each code cell, by the cell's id.

    Args:
        lesson: Its data files lie beside the notebook while it runs.
        cells: The lesson's cells with every answer solved.
        results: What is known of earlier builds.

    Raises:
        LessonFailed: A cell raised an error that it was not tagged for.
    """
    code = [(cell["id"], cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    behind = modules_behind(*(source for _, source in code)) | _asked_by(lesson)
    digest = digest_of(lesson.digest, json.dumps(code), files={*behind, Path(__file__)})
    found: Outputs = results.get(f"outputs-{lesson.slug}", digest, lambda: _run(lesson, cells))
    return found


def _asked_by(lesson: Lesson) -> set[Path]:
    """The files that hold the lesson's claims and, beside these, its other questions."""
    path = claims_path(ROOT, lesson.slug)
    if path is None:
        return set()
    return {path, *path.parent.glob("*.toml")} if path.name == "claims.toml" else {path}


def _run(lesson: Lesson, cells: list[dict[str, Any]]) -> Outputs:
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    notebook = nbformat.from_dict(
        {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    )
    with tempfile.TemporaryDirectory(prefix="site-lesson-") as name:
        for path in lesson.data_files:
            target = Path(name, path.relative_to(lesson.source.parent))
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
        client = NotebookClient(notebook, timeout=LIMIT_S, resources={"metadata": {"path": name}})
        try:
            # The kernel's own words, on ports and profilers, are nobody's output.
            client.execute(env=_environment(), stdout=DEVNULL, stderr=DEVNULL)
        except (CellExecutionError, CellTimeoutError, DeadKernelError) as error:
            what = f"a cell of the solved lesson fails.\n{error}"
            raise LessonFailed(f"{lesson.slug}: {what}") from None
    return {
        cell["id"]: [json.loads(json.dumps(one)) for one in cell["outputs"]]
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
    }


def _environment() -> dict[str, str]:
    """As many threads as a learner has; the course is found from wherever the kernel starts."""
    path = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
    usual = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    return {**usual, "PYTHONPATH": path, "PYTHONHASHSEED": "0"}
