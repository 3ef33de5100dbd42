"""nbgrader's own steps over a source: automatic tests written out, a class edition made."""

from __future__ import annotations

import copy
import logging
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.converters import GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.nbgraderformat import MetadataValidator, SchemaTooNewError, ValidationError
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


@dataclass(frozen=True)
class PreparedSource:
    """A source as its cells are entered into the gradebook, and as learners get it."""

    saved: nbformat.NotebookNode
    released: nbformat.NotebookNode


class SourceRefused(Exception):
    """nbgrader does not take a source; the message says why, `remedy` what to do if known."""

    def __init__(self, cause: str, remedy: str = "") -> None:
        """Keep both; of the cause one line."""
        super().__init__(cause.strip().split("\n")[0])
        self.remedy = remedy


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
    for step in _steps(config):
        if step is SaveCells:
            break
        notebook, _ = step(config=config).preprocess(notebook, resources)
    return notebook


def as_released(
    saved: nbformat.NotebookNode, config: Config, resources: Mapping[str, object]
) -> nbformat.NotebookNode:
    """What learners get of a notebook that `as_saved` gave: after the steps behind SaveCells.

    Args:
        saved: It stays as it is.
        config: The course's own; it may name other steps.
        resources: What nbgrader's converters hand to their steps.
    """
    notebook, steps = copy.deepcopy(saved), _steps(config)
    for step in steps[steps.index(SaveCells) + 1 :] if SaveCells in steps else ():
        notebook, _ = step(config=config).preprocess(notebook, resources)
    return notebook


def _steps(config: Config) -> list[Any]:
    """The steps of `nbgrader generate_assignment`, in their order, in this course."""
    converter = GenerateAssignment(coursedir=CourseDirectory(config=config), config=config)
    # A configuration file names classes by their path, as nbgrader_config.py does.
    return [
        import_item(named) if isinstance(named, str) else named for named in converter.preprocessors
    ]


def prepared_source(
    source: Path, assignment: str, config: Config, tests: Mapping[str, str]
) -> PreparedSource:
    """A source notebook as nbgrader enters it and hands it out; the file stays as it is.

    Metadata of an older nbgrader are brought up to date, as `nbgrader update` would.

    Args:
        source: The notebook.
        assignment: Its assignment's name.
        config: The course's own.
        tests: Grade id → source, of the cells whose automatic tests were written out.

    Raises:
        SourceRefused: nbgrader would not release it, or not read it; the message says why.
    """
    config, resources = _from_root(config), resources_of(source, assignment, config)
    try:
        with warnings.catch_warnings(action="ignore"):  # of cells' ids, which nbformat mends
            notebook = nbformat.read(source, as_version=nbformat.current_nbformat)
        notebook = MetadataValidator().upgrade_notebook_metadata(notebook)
        _check_metadata(notebook)
        put_tests(notebook, tests)
        saved = as_saved(notebook, config, resources)
        return PreparedSource(saved, as_released(saved, config, resources))
    except SourceRefused:
        raise
    except Exception as error:  # nbgrader's steps, and the course's own, have many ways to say no
        raise SourceRefused(str(error) or type(error).__name__) from error


def _check_metadata(notebook: nbformat.NotebookNode) -> None:
    """Say which cell nbgrader refuses, and why; its own step only says that there is one."""
    validator = MetadataValidator()
    for number, cell in enumerate(notebook.cells, 1):
        place = f"cell {number}"
        try:
            validator.validate_cell(cell)
        except SchemaTooNewError as error:
            cause = f"the metadata of {place} are of a newer nbgrader ({error})"
            raise SourceRefused(cause, "Update nbgrader: `pip install -U nbgrader`.") from error
        except ValidationError as error:
            where = "".join(f"{part}: " for part in error.absolute_path)
            raise SourceRefused(f"the metadata of {place}: {where}{error.message}") from error
    try:
        validator.validate_nb(notebook)
    except ValidationError as error:
        raise SourceRefused(error.message) from error


def put_tests(notebook: nbformat.NotebookNode, tests: Mapping[str, str]) -> None:
    """Give the graded cells the sources in `tests`, by their grade ids."""
    for cell in notebook.cells if tests else ():
        cell.source = tests.get(cell.metadata.get("nbgrader", {}).get("grade_id"), cell.source)


def resources_of(source: Path, assignment: str, config: Config) -> dict[str, object]:
    """What nbgrader's converters hand to their steps over a source notebook."""
    names = {"notebook": source.stem, "assignment": assignment}
    return {
        "nbgrader": {**names, "db_url": str(config.CourseDirectory.get("db_url", ""))},
        "unique_key": f"{assignment}+{source.stem}",
        "metadata": {"path": str(source.parent), "name": source.stem},
    }


def _from_root(config: Config) -> Config:
    """The configuration with header and footer named from the root of the course."""
    config = copy.deepcopy(config)
    for part in ("header", "footer"):
        if name := config.IncludeHeaderFooter.get(part):
            config.IncludeHeaderFooter[part] = str(Path(config.CourseDirectory.root, name))
    return config


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
