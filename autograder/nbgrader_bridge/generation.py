"""nbgrader's own steps over a source: automatic tests written out, a class edition made."""

from __future__ import annotations

import copy
import logging
from collections.abc import Mapping
from pathlib import Path

import nbformat
from nbgrader.converters import GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import InstantiateTests, SaveCells
from nbgrader.utils import is_grade
from traitlets.config import Config
from traitlets.utils.importstring import import_item

from autograder.nbgrader_bridge.table_version import table_version_in_process

# nbgrader's own steps in their order. Ours comes when hidden tests are gone, and the gradebook has
# the test cells as they stand in the source; a checksum is made of what learners get.
STEPS = [
    "nbgrader.preprocessors.IncludeHeaderFooter",
    "nbgrader.preprocessors.InstantiateTests",
    "nbgrader.preprocessors.LockCells",
    "nbgrader.preprocessors.ClearSolutions",
    "nbgrader.preprocessors.ClearOutput",
    "nbgrader.preprocessors.CheckCellMetadata",
    "nbgrader.preprocessors.ComputeChecksums",
    "nbgrader.preprocessors.SaveCells",
    "nbgrader.preprocessors.ClearHiddenTests",
    "nbgrader.preprocessors.ClearMarkScheme",
    "autograder.nbgrader_bridge.release_steps.ForReaders",
    "nbgrader.preprocessors.ComputeChecksums",
    "nbgrader.preprocessors.CheckCellMetadata",
]


class GenerationRefused(Exception):
    """nbgrader makes no edition of a source; the message is what it logged."""


def generate_assignment(config: Config, root: Path, assignment: str, release: str) -> None:
    """Make the class edition of an assignment, as `nbgrader generate_assignment --force` does.

    Args:
        config: The course's own; it stays as it is.
        root: A course directory with source/<assignment>/, which gets a gradebook of its own.
        assignment: Its name.
        release: The folder below `root` for the edition.

    Raises:
        GenerationRefused: The source breaks a rule of nbgrader's.
    """
    config = copy.deepcopy(config)
    if "preprocessors" not in config.GenerateAssignment:
        config.GenerateAssignment.preprocessors = STEPS
    config.CourseDirectory.update(
        root=str(root),
        db_url=f"sqlite:///{root}/gradebook.db",
        assignment_id=assignment,
        release_directory=release,
    )
    log, lines = _collecting_log()
    coursedir = CourseDirectory(config=config)
    converter = GenerateAssignment(coursedir=coursedir, config=config, force=True, log=log)
    try:
        with table_version_in_process():
            converter.start()
    except (NbGraderException, SystemExit) as error:
        raise GenerationRefused("\n".join(lines).strip()) from error


def as_saved(
    notebook: nbformat.NotebookNode, config: Config, resources: Mapping[str, object]
) -> nbformat.NotebookNode:
    """A source notebook as nbgrader enters its cells: after the steps that come before SaveCells.

    Args:
        notebook: It is changed in place.
        config: The course's own; it may name other steps.
        resources: What nbgrader's converters hand to their steps.
    """
    steps = GenerateAssignment(coursedir=CourseDirectory(config=config), config=config)
    for named in steps.preprocessors:
        # A configuration file names classes by their path, as nbgrader_config.py does.
        step = import_item(named) if isinstance(named, str) else named
        if step is SaveCells:
            break
        notebook, _ = step(config=config).preprocess(notebook, resources)
    return notebook


def instantiated_tests(source: Path, config: Config, templates: Path | None) -> dict[str, str]:
    """Grade id → source, of the graded code cells, each `### AUTOTEST` line made into asserts.

    It runs the solutions in a Jupyter kernel.

    Args:
        source: The source notebook.
        config: The course's own; it is changed.
        templates: autotests.yml; None for nbgrader's default place.

    Raises:
        Exception: Whatever the solutions, the templates or the kernel raise.
    """
    config.InstantiateTests.autotest_filename = str(templates or "autotests.yml")
    notebook = nbformat.read(source, as_version=4)
    resources = {"metadata": {"path": str(source.parent), "name": source.stem}}
    notebook, _ = InstantiateTests(config=config).preprocess(notebook, resources)
    graded = [cell for cell in notebook.cells if cell.cell_type == "code" and is_grade(cell)]
    return {cell.metadata.nbgrader.grade_id: cell.source for cell in graded}


def _collecting_log() -> tuple[logging.Logger, list[str]]:
    lines: list[str] = []

    class Collect(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(record.getMessage())

    log = logging.Logger("generate_assignment", level=logging.ERROR)
    log.addHandler(Collect())
    return log, lines
