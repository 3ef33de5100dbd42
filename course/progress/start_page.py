"""The start page: which lessons lie in a folder, how long they take, and how far you are.

    lessons()

reads the notebooks as they were saved last. The state of an exercise is the last check table below
its test cell, so only checks that you can see count here. Nothing is run and nothing is written.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from course.testing.table import METADATA_KEY

__all__ = ["Lessons", "Progress", "lessons", "progress_in", "show_in"]

_SLUG = re.compile(r"\d\d-[a-z0-9-]+")
_TIME = re.compile(r"\*\*Time:?\*\*:?\s+(.+?)[,.]")
_CORE = re.compile(r"\bthe core: (about \d+ minutes)\b")
_HINT = "Save a lesson (Ctrl+S), then run this cell again: it reads the files as they were saved."


@dataclass(frozen=True)
class Progress:
    """How far one lesson is, by the visible checks of the exercises that were attempted."""

    path: str  # from the folder of the start page
    title: str
    time: str  # in words, for example "about three hours"
    exercises: int  # those with a check table
    started: bool = False
    attempted: int = 0
    solved: int = 0
    held: int = 0  # checks of the exercises attempted, all of them in `checks`
    checks: int = 0

    @property
    def state(self) -> str:
        """The state in words: they must not depend on colours."""
        if not self.started:
            return "not started"
        if not self.attempted:
            return "started, no exercise attempted"
        if self.solved == self.exercises:
            return "✓ done: every visible check holds"
        return f"{self.attempted} of {self.exercises} exercises attempted, {self.solved} solved"

    @property
    def counted(self) -> str:
        """How many visible checks hold of those tried; a score would count hidden ones, too."""
        return f"{self.held} of {self.checks} tried" if self.checks else "none tried yet"


def lessons(folder: str | Path = ".") -> Lessons:
    """The lessons in a folder, each with its time, its state and the visible checks that hold."""
    return Lessons(tuple(_all_in(Path(folder))))


@dataclass(frozen=True, repr=False)
class Lessons:
    """The lessons of a folder, as a table."""

    found: tuple[Progress, ...]

    def __repr__(self) -> str:
        if not self.found:
            return _nothing()
        rows = [
            f"{one.title}: {one.time}; {one.state}; visible checks that hold: {one.counted}"
            for one in self.found
        ]
        return "\n".join([*rows, _HINT])

    def _repr_html_(self) -> str:
        if not self.found:
            return f"<p>{escape(_nothing())}</p>"
        head = "".join(
            f'<th scope="col" style="text-align:left">{name}</th>'
            for name in ("Lesson", "Time", "Exercises", "State", "Checks that hold")
        )
        rows = "".join(f"<tr>{_cells(one)}</tr>" for one in self.found)
        table = f'<table aria-label="Lessons"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody>'
        return f"{table}</table><p>{escape(_HINT)}</p>"


def progress_in(notebook: Mapping[str, Any], path: str) -> Progress:
    """How far a notebook is; whatever else stands in the file is passed over."""
    cells = [cell for cell in notebook.get("cells", []) if isinstance(cell, dict)]
    tests = [cell for cell in cells if _points_of(cell) > 0]
    tables = [table for cell in tests if (table := _last_table(cell))]
    tried = [table for table in tables if table.get("status") != "not attempted"]
    checks = [_checks_in(table) for table in tried]
    first = _text(cells[0]) if cells else ""
    return Progress(
        path=path,
        title=f"{Path(path).stem[:2]} {_title(first) or Path(path).stem[3:]}",
        time=_time(first, cells),
        exercises=len(tests),
        started=any(cell.get("execution_count") for cell in cells),
        attempted=len(tried),
        solved=sum(all(one) and bool(one) for one in checks),
        held=sum(map(sum, checks)),
        checks=sum(map(len, checks)),
    )


def show_in(page: Path) -> None:
    """Put the table into the start page, so that it stands there before anything is run."""
    notebook = json.loads(page.read_text(encoding="utf-8"))
    shown = lessons(page.parent)
    data = {"text/plain": repr(shown), "text/html": shown._repr_html_()}
    output = {"output_type": "display_data", "data": data, "metadata": {}}
    for cell in notebook["cells"]:
        if "lessons()" in _text(cell) and cell["cell_type"] == "code":
            cell["outputs"] = [output]
    page.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _all_in(folder: Path) -> Iterator[Progress]:
    for path in sorted(folder.glob("*/*.ipynb")):
        if path.stem == path.parent.name and _SLUG.fullmatch(path.stem):
            where = path.relative_to(folder).as_posix()
            try:
                yield progress_in(json.loads(path.read_text(encoding="utf-8")), where)
            except (OSError, ValueError, AttributeError) as error:
                title = f"{path.stem} (the file cannot be read: {type(error).__name__})"
                yield Progress(where, title, "–", 0)


def _cells(one: Progress) -> str:
    link = f'<a href="{quote(one.path)}">{escape(one.title)}</a>'
    values = (link, escape(one.time), str(one.exercises), escape(one.state), escape(one.counted))
    return "".join(f'<td style="text-align:left">{value}</td>' for value in values)


def _nothing() -> str:
    return "There are no lessons in this folder. Start JupyterLab with `make lab`."


def _title(text: str) -> str:
    found = re.search(r"^#\s+(.+)$", text, re.MULTILINE)
    return found.group(1).strip() if found else ""


def _time(title: str, cells: list[dict[str, Any]]) -> str:
    """What the lesson says itself; else the minutes of its exercises."""
    found = _TIME.search(title)
    if found:
        return found.group(1)
    core = _CORE.search("\n".join(map(_text, cells)))
    if core:
        return f"{core.group(1)}, deep dives aside"
    minutes = sum(_number(_about(cell, "course").get("minutes")) for cell in cells)
    return f"{minutes:g} minutes" if minutes else "–"


def _points_of(cell: Mapping[str, Any]) -> float:
    """The points of a test cell, 0 for any other; answers in words are for a person to grade."""
    grading = _about(cell, "nbgrader")
    is_test = bool(grading.get("grade")) and not grading.get("solution")
    return _number(grading.get("points")) if is_test else 0.0


def _last_table(cell: Mapping[str, Any]) -> Mapping[str, Any]:
    """The record of the last check table below a cell, empty where there is none."""
    outputs = cell.get("outputs")
    found = [_about(one, METADATA_KEY) for one in outputs or [] if isinstance(one, dict)]
    return ([one for one in found if one] or [{}])[-1]


def _checks_in(table: Mapping[str, Any]) -> list[bool]:
    """Whether each check of a table holds."""
    found = table.get("checks")
    checks = [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
    return [one.get("passed") is True for one in checks]


def _about(thing: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    metadata = thing.get("metadata")
    found = metadata.get(key) if isinstance(metadata, dict) else None
    return found if isinstance(found, dict) else {}


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and 0 <= value < 1e6 else 0.0


def _text(cell: Mapping[str, Any]) -> str:
    source = cell.get("source", "")
    return "".join(map(str, source)) if isinstance(source, list) else str(source)


if __name__ == "__main__":
    show_in(Path(sys.argv[1]))
