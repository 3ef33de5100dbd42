"""Assignments whose source is in the gradebook alone: nbgrader needs no more to grade them.

It keeps each cell that it knows there as learners get it, hidden tests included, without solutions
and without the cells in between.  Their order is that of the edition in release/, where there is
one, else that in which they were entered.
"""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
from nbformat import NotebookNode, v4
from nbgrader.api import Assignment, Notebook
from sqlalchemy import create_engine, inspect
from sqlalchemy.engine import make_url
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session
from traitlets.config import Config

from autograder.errors import AutograderError
from autograder.nbgrader_bridge.generation import PreparedSource, as_released, resources_of


class GradebookClosed(AutograderError):
    """A gradebook that may know an assignment does not open."""


def known_sources(db_url: str, assignment: str, release: Path) -> dict[str, NotebookNode]:
    """The notebooks of an assignment, made of what the gradebook holds of them.

    Args:
        db_url: The gradebook's address.
        assignment: Its name.
        release: The folder in which its class edition lies, or would.

    Returns:
        Name → notebook, in the order of their names; nothing where the gradebook does not know it
        or is not there.

    Raises:
        GradebookClosed: It is there and does not open.
    """
    url = make_url(db_url)
    if url.get_backend_name() == "sqlite" and not (url.database and Path(url.database).is_file()):
        return {}
    engine = create_engine(url)
    try:
        if not inspect(engine).has_table(Notebook.__tablename__):
            return {}
        with Session(engine) as session:
            rows = session.query(Notebook).join(Assignment).filter(Assignment.name == assignment)
            found = {one.name: _made_of(one, release / f"{one.name}.ipynb") for one in rows}
    except SQLAlchemyError as error:
        cause = str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
        raise GradebookClosed(
            f"it may know '{assignment}', and refused: {cause}",
            place=url.render_as_string(hide_password=True),
            remedy=f"Bring back your last backup, or put the source of {assignment} into a folder "
            "of that name.",
        ) from error
    finally:
        engine.dispose()
    return {name: found[name] for name in sorted(found) if found[name].cells}


def prepared_known(
    notebook: NotebookNode, source: Path, assignment: str, config: Config
) -> PreparedSource:
    """Such a notebook as the gradebook has it, and as learners got it.

    Args:
        notebook: As `known_sources` gives it.
        source: Where its source would lie.
        assignment: Its assignment's name.
        config: The course's own.
    """
    resources = resources_of(source, assignment, config)
    return PreparedSource(notebook, as_released(notebook, config, resources))


def _made_of(row: Notebook, edition: Path) -> NotebookNode:
    graded = {one.name: one.max_score for one in row.grade_cells}
    tasks = {one.name: one.max_score for one in row.task_cells}
    answers = {one.name for one in row.solution_cells}
    order = _ids_in(edition)
    known = sorted(row.source_cells, key=lambda one: order.get(one.name, len(order)))
    cells = []
    for number, one in enumerate(known):
        about = {
            "grade_id": one.name,
            "schema_version": 3,
            "cell_type": one.cell_type,
            "locked": one.locked,
            "grade": one.name in graded,
            "solution": one.name in answers,
            "task": one.name in tasks,
            "checksum": one.checksum,
        }
        if one.name in graded | tasks:
            about["points"] = (graded | tasks)[one.name]
        make = v4.new_code_cell if one.cell_type == "code" else v4.new_markdown_cell
        cells.append(make(one.source or "", id=f"known-{number}", metadata={"nbgrader": about}))
    kernel = json.loads(row.kernelspec or "{}")
    return v4.new_notebook(cells=cells, metadata={"kernelspec": kernel} if kernel else {})


def _ids_in(edition: Path) -> dict[str, int]:
    """Grade id → place, of the cells of a notebook; nothing where it cannot be read."""
    try:
        cells = nbformat.read(edition, as_version=4).cells
    except Exception:  # it only gives an order
        return {}
    names = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in cells]
    return {name: place for place, name in enumerate(names) if name}
