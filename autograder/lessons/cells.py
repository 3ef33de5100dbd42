"""Notebooks as plain data: read as JSON, without nbformat, which costs more than the reading."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from autograder.errors import LessonError

RawCell = dict[str, Any]
FOLDED = "jp-MarkdownHeadingCollapsed"  # JupyterLab hides what stands below this cell's heading

# All that a notebook of the course says about itself; JupyterLab adds versions and widgets' states.
KERNEL: dict[str, Any] = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def read_notebook(path: Path) -> dict[str, Any]:
    """The notebook as plain data.

    Raises:
        LessonError: It cannot be read, is no JSON, or has no list of cells.
    """
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise LessonError(
            f"cannot be read: {error.strerror}", place=str(path), remedy="Check path and rights."
        ) from error
    except ValueError as error:
        raise LessonError(
            f"is not JSON: {error}",
            place=str(path),
            remedy="Restore it from git, or mend the place named in an editor.",
        ) from error
    if not isinstance(notebook, dict) or not isinstance(notebook.get("cells"), list):
        raise LessonError(
            "is JSON, but no notebook: it has no list of cells",
            place=str(path),
            remedy="Save it from JupyterLab as a notebook (nbformat 4.5).",
        )
    return notebook


def cells_of(notebook: Mapping[str, Any]) -> list[RawCell]:
    """The cells of a notebook, each with its source as one string and some metadata.

    Args:
        notebook: As `read_notebook` gives it; what is no object among its cells is left out.

    Returns:
        Copies: a change to `source` or a new key is not seen in `notebook`.
    """
    cells = [dict(cell) for cell in notebook["cells"] if isinstance(cell, dict)]
    for cell in cells:
        cell["source"] = _joined(cell.get("source", ""))
        if not isinstance(cell.get("metadata"), dict):
            cell["metadata"] = {}
    return cells


def anchor(heading: str) -> str:
    """The word that names a section: lower case, words joined by hyphens.

    >>> anchor("Strides, and `view`")
    'strides-and-view'
    """
    kept = re.sub(r"[^\w\s-]", "", heading.lower())
    return re.sub(r"[\s-]+", "-", kept).strip("-")


def grader(cell: RawCell) -> Mapping[str, Any]:
    """The nbgrader metadata of a cell, empty where it has none."""
    found = cell["metadata"].get("nbgrader", {})
    return found if isinstance(found, Mapping) else {}


def grade_id(cell: RawCell) -> str:
    """The name that nbgrader knows a cell by; empty where it has none."""
    return str(grader(cell).get("grade_id", ""))


def role(cell: RawCell) -> Mapping[str, Any]:
    """The course's own metadata of a cell, empty where it has none."""
    found = cell["metadata"].get("course", {})
    return found if isinstance(found, Mapping) else {}


def declares_loopback(cells: Iterable[RawCell]) -> bool:
    """Whether a lesson's title cell asks for a loopback network: `metadata.course.loopback`.

    Args:
        cells: Those of the source. What a submission says of itself is not to be asked.
    """
    return _declares(cells, "loopback")


def declares_rehearsal(cells: Iterable[RawCell]) -> bool:
    """Whether a lesson's title cell says that its test cells leave nothing to each other.

    With `metadata.course.rehearsal` they may be run once without an answer, in the process from
    which those are forked that check the submissions: what their references give is kept. Where
    they changed anything there, in a module, say, a visible check might meet a hidden one's input.

    Args:
        cells: Those of the source.
    """
    return _declares(cells, "rehearsal")


def _declares(cells: Iterable[RawCell], key: str) -> bool:
    titles = (role(cell) for cell in cells if role(cell).get("role") == "title")
    return any(title.get(key) is True for title in titles)


def is_test(cell: RawCell) -> bool:
    """Whether the cell gives the points of an exercise."""
    return bool(grader(cell).get("grade")) and not grader(cell).get("solution")


def is_answer(cell: RawCell) -> bool:
    """Whether the learner writes in this cell."""
    return bool(grader(cell).get("solution"))


def is_marked(cell: RawCell) -> bool:
    """Whether the learner writes in this cell, and a person gives its points."""
    return is_answer(cell) and bool(grader(cell).get("grade"))


def is_task(cell: RawCell) -> bool:
    """Whether the cell is what nbgrader calls a task: a person gives its points.

    What it asks for may stand anywhere in the notebook.
    """
    return bool(grader(cell).get("task"))


def attachments_of(cell: RawCell) -> dict[str, Any]:
    """The attachments of a cell that have the form of some; nbgrader's pages end at any other.

    Args:
        cell: One that a learner may have written.

    >>> attachments_of({"attachments": {"a.png": {"image/png": "AAAA"}, "b.png": {"x": 1}, "c": 5}})
    {'a.png': {'image/png': 'AAAA'}}
    """
    found = cell.get("attachments")
    return {
        name: bundle
        for name, bundle in (found.items() if isinstance(found, dict) else ())
        if isinstance(bundle, dict) and all(map(_is_text, bundle.values()))
    }


def _is_text(value: object) -> bool:
    return all(isinstance(one, str) for one in (value if isinstance(value, list) else [value]))


def pictures_not_shown(cell: RawCell) -> list[str]:
    """The names of the attachments that the text of the cell does not mention.

    >>> pictures_not_shown({"source": "![a](attachment:a%20b.png)", "attachments": {"a b.png": {}}})
    []
    """
    attached = cell.get("attachments")
    names = list(attached) if isinstance(attached, Mapping) else []
    mentioned = re.findall(r"attachment:([^)\s\"']+)", cell["source"])
    shown = {form for name in mentioned for form in (name, unquote(name))}
    return [name for name in names if name not in shown]


def without_pictures(cell: RawCell, names: Iterable[str]) -> None:
    """Take attachments out of a cell, and what held them where none is left.

    Args:
        cell: Changed in place.
        names: Those of the attachments that go.
    """
    attached = cell.get("attachments", {})
    for name in names:
        attached.pop(name, None)
    if not attached:
        cell.pop("attachments", None)


def number(value: object) -> float:
    """`value` where it is a finite number, else 0: metadata can hold anything."""
    usable = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if usable and math.isfinite(value) else 0.0  # type: ignore[arg-type]


def first_heading(cells: Iterable[RawCell], level: int) -> str | None:
    """The text of the first heading of that level or deeper, None where there is none."""
    found = (text for cell in cells for depth, text in headings(cell) if depth >= level)
    return next(found, None)


def headings(cell: RawCell) -> list[tuple[int, str]]:
    """Level and text of each heading of a markdown cell; `#` inside a code fence is none."""
    if cell.get("cell_type") != "markdown":
        return []
    without_code = re.sub(r"^```.*?^```", "", cell["source"], flags=re.M | re.S)
    found = re.findall(r"^(#{1,6})\s+(.+?)\s*#*$", without_code, flags=re.M)
    return [(len(marks), text) for marks, text in found]


def text_cell(id_: str, source: str) -> RawCell:
    """A new cell of Markdown."""
    return {"cell_type": "markdown", "id": id_, "metadata": {}, "source": source}


def code_cell(id_: str, source: str, *, metadata: Mapping[str, Any]) -> RawCell:
    """A new cell of code, which never ran."""
    return {
        "cell_type": "code",
        "id": id_,
        "metadata": dict(metadata),
        "source": source,
        "execution_count": None,
        "outputs": [],
    }


def _joined(source: object) -> str:
    return "".join(map(str, source)) if isinstance(source, list) else str(source)


def saved_notebook(notebook: Mapping[str, Any]) -> bytes:
    """The notebook as a learner's JupyterLab would save it."""
    text = json.dumps(notebook, indent=1, sort_keys=True, ensure_ascii=False)
    return text.encode() + b"\n"


def put_source(notebook: Mapping[str, Any], id_: str, source: str) -> None:
    """Replace the source of the cell `id_`.

    Args:
        notebook: Changed in place.
        id_: The cell's own id; nothing happens where no cell has it.
        source: All of its text.
    """
    for cell in notebook["cells"]:
        if cell["id"] == id_:
            cell["source"] = source.splitlines(keepends=True)
