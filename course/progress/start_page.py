"""The start page: which lessons there are, how long they take, and how far you are.

    lessons()
    lesson_map()

read the notebooks as they were saved last, and the progress file beside the page. The state of an
exercise is the last check table below its test cell, so only checks that you can see count here.
Nothing is run and nothing is written.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import quote

from course.guide.lesson_cards import Card, card_of, cards, exercise_of
from course.guide.lesson_map import LessonMap
from course.progress.progress_file import FILE_NAME, Checks, Kept, ProgressError, read
from course.testing.table import METADATA_KEY

__all__ = [
    "Lessons",
    "Progress",
    "checks_in",
    "kept_beside",
    "lesson_map",
    "lessons",
    "notebooks_in",
    "progress_in",
    "show_in",
]

_SLUG = re.compile(r"\d\d-[a-z0-9-]+")
_PAGE = "00-"  # how the start page's own name begins
_TIME = re.compile(r"\*\*Time:?\*\*:?\s+(.+?)[,.]")
_CELL = "text-align:left;padding:4px 8px;line-height:1.35"
_SHORT = 12  # a state of so many letters stands on one line
_CORE = "The times are those of the core. Deep dives are folded, and can wait for another day."
_HINT = "Save a lesson (Ctrl+S), then run this cell again: it reads the files as they were saved."


@dataclass(frozen=True)
class Progress:
    """How far one lesson is, by the visible checks of the exercises that were attempted."""

    title: str
    time: str  # in words, for example "about three hours"
    exercises: int  # those with a check table
    path: str = ""  # from the folder of the start page; empty where no notebook is there
    started: bool = False
    results: Mapping[str, Checks] = field(default_factory=dict)  # of the exercises attempted
    carried: int = 0  # how many of them come from the progress file

    @property
    def attempted(self) -> int:
        """How many exercises were attempted."""
        return len(self.results)

    @property
    def solved(self) -> int:
        """The exercises all of whose visible checks hold."""
        return sum(one.share == 1 for one in self.results.values())

    @property
    def state(self) -> str:
        """The state in words: they must not depend on colours."""
        if self.attempted:
            done = "✓ done: every visible check holds"
            some = f"{self.attempted} of {self.exercises} exercises attempted, {self.solved} solved"
            told = done if self.solved == self.exercises else some
            return f"{told} ({self.carried} from the progress file)" if self.carried else told
        return "started, no exercise attempted" if self.started else "not started"

    @property
    def counted(self) -> str:
        """How many visible checks hold of those tried; a score would count hidden ones, too."""
        tried = sum(one.of for one in self.results.values())
        held = sum(one.held for one in self.results.values())
        return f"{held} of {tried} tried" if tried else "none tried yet"

    @property
    def on_the_map(self) -> str:
        """The state as short as a box of the map allows."""
        if self.attempted and self.solved == self.exercises:
            return "✓ done"
        if self.attempted:
            return f"{self.solved} of {self.exercises} solved"
        return "started" if self.started else ""


def lessons(folder: str | Path = ".") -> Lessons:
    """The lessons in a folder, each with its time, its state and the visible checks that hold.

    Where no notebook of a lesson lies there, the table lists the whole course.

    Args:
        folder: Where the notebooks lie, each in a folder of its own or not, and the progress file.
    """
    kept, trouble = kept_beside(Path(folder))
    found = tuple(one for _, one in _all_in(Path(folder), kept))
    notes = (trouble,) if trouble else ()
    if found:
        return Lessons(found, (*notes, _CORE, _HINT))
    return Lessons(tuple(_without_notebook(card, kept) for card in cards()), (*notes, _nothing()))


def lesson_map(folder: str | Path = ".") -> LessonMap:
    """The map of all lessons, with what you have done in those of the folder.

    Args:
        folder: Where the notebooks lie, each in a folder of its own or not, and the progress file.
    """
    kept, _ = kept_beside(Path(folder))
    done = {card.number: _without_notebook(card, kept) for card in cards()}
    done |= {slug[:2]: one for slug, one in _all_in(Path(folder), kept)}
    return LessonMap(cards(), {number: one.on_the_map for number, one in done.items()})


@dataclass(frozen=True, repr=False)
class Lessons:
    """The lessons of a folder, as a table, and sentences to go below it."""

    found: tuple[Progress, ...]
    notes: tuple[str, ...] = (_CORE, _HINT)

    def __repr__(self) -> str:
        rows = [
            f"{one.title}: {one.time}; {one.state}; visible checks that hold: {one.counted}"
            for one in self.found
        ]
        return "\n".join([*rows, *self.notes])

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{escape(one)}</p>" for one in self.notes)
        if not self.found:
            return notes
        head = "".join(
            f'<th scope="col" style="{_CELL}">{name}</th>'
            for name in ("Lesson", "Time", "Exercises", "State", "Checks that hold")
        )
        rows = "".join(f"<tr>{_cells(one)}</tr>" for one in self.found)
        table = f'<table aria-label="Lessons"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody>'
        return f"{table}</table>{notes}"


def progress_in(notebook: Mapping[str, Any], path: str, kept: Kept | None = None) -> Progress:
    """How far a notebook is; whatever else stands in the file is passed over.

    Args:
        notebook: The file as JSON.
        path: Where it lies, from the start page.
        kept: What the progress file holds; a better result of an exercise counts from there.
    """
    cells = [cell for cell in notebook.get("cells", []) if isinstance(cell, dict)]
    slug = Path(path).stem
    card = card_of(cells, slug)
    mine, elsewhere = checks_in(cells), _results_of(slug, kept or Kept(), card)
    together = {
        name: max(filter(None, [mine.get(name), elsewhere.get(name)]), key=lambda one: one.share)
        for name in card.exercises
        if name in mine or name in elsewhere
    }
    return Progress(
        path=path,
        title=f"{card.number} {card.title}",
        time=_time(_text(cells[0]) if cells else "", card),
        exercises=len(card.exercises),
        started=any(cell.get("execution_count") for cell in cells),
        results=together,
        carried=sum(mine.get(name) != one for name, one in together.items()),
    )


def checks_in(cells: Iterable[Mapping[str, Any]]) -> dict[str, Checks]:
    """The visible checks of each exercise that was attempted, by its last table."""
    found = {}
    for cell in cells:
        name = exercise_of(cell)
        table = _last_table(cell) if name else {}
        if table and table.get("status") != "not attempted":
            held = _checks_in(table)
            found[name] = Checks(sum(held), len(held))
    return found


def kept_beside(folder: Path) -> tuple[Kept, str]:
    """What the progress file in a folder holds, and what is wrong with it, if anything."""
    path = folder / FILE_NAME
    try:
        return (read(path.read_bytes()) if path.is_file() else Kept()), ""
    except ProgressError as error:
        return Kept(), f"{error} Its results are not counted here."
    except OSError as error:
        return Kept(), f"{path.name} cannot be read: {error.strerror or error}."


def show_in(page: Path) -> None:
    """Put table and map into the start page, so that they stand there before anything is run."""
    notebook = json.loads(page.read_text(encoding="utf-8"))
    shown: dict[str, Lessons | LessonMap] = {
        "lessons()": lessons(page.parent),
        "lesson_map()": lesson_map(page.parent),
    }
    for cell in notebook["cells"]:
        for call, result in shown.items():
            if call in _text(cell) and cell["cell_type"] == "code":
                data = {"text/plain": repr(result), "text/html": result._repr_html_()}
                about = {"output_type": "display_data", "data": data, "metadata": {}}
                cell["outputs"] = [about]
    page.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def notebooks_in(folder: Path) -> Iterator[tuple[str, Path]]:
    """The lessons of a folder, each in one of its own or all side by side: slug and file."""
    for path in sorted(
        [*folder.glob("*/*.ipynb"), *folder.glob("*.ipynb")], key=lambda one: one.stem
    ):
        own = path.parent == folder or path.stem == path.parent.name
        if own and _SLUG.fullmatch(path.stem) and not path.stem.startswith(_PAGE):
            yield path.stem, path


def _all_in(folder: Path, kept: Kept) -> Iterator[tuple[str, Progress]]:
    for slug, path in notebooks_in(folder):
        where = path.relative_to(folder).as_posix()
        try:
            yield slug, progress_in(json.loads(path.read_text(encoding="utf-8")), where, kept)
        except (OSError, ValueError, AttributeError) as error:
            title = f"{slug} (the file cannot be read: {type(error).__name__})"
            yield slug, Progress(title, "–", 0, where)


def _without_notebook(card: Card, kept: Kept) -> Progress:
    results = _results_of(card.slug, kept, card)
    return Progress(
        title=f"{card.number} {card.title}",
        time=_time("", card),
        exercises=len(card.exercises),
        results=results,
        carried=len(results),
    )


def _results_of(slug: str, kept: Kept, card: Card) -> dict[str, Checks]:
    """What a file knows of the exercises that the lesson has today.

    A self-study notebook saves points: all of them are one check that holds.
    """
    points = kept.lessons.get(slug, {})
    results = {name: Checks(int(best.share >= 1), 1) for name, best in points.items()}
    for name, one in kept.checks.get(slug, {}).items():
        if name not in results or one.share > results[name].share:
            results[name] = one
    return {name: one for name, one in results.items() if name in card.exercises}


def _cells(one: Progress) -> str:
    title = escape(one.title)
    link = f'<a href="{quote(one.path)}">{title}</a>' if one.path else title
    values = (link, escape(one.time), str(one.exercises), escape(one.state), escape(one.counted))
    whole = (False, True, True, len(one.state) <= _SHORT, True)
    kept = {True: ";white-space:nowrap", False: ""}
    pairs = zip(values, whole, strict=True)
    return "".join(f'<td style="{_CELL}{kept[short]}">{value}</td>' for value, short in pairs)


def _nothing() -> str:
    return (
        "There are no lessons in this folder. Put this page beside them, or start JupyterLab with "
        "`make lab`."
    )


def _time(title: str, card: Card) -> str:
    """What the title says; else the minutes of the core."""
    found = _TIME.search(title)
    if found:
        return found.group(1)
    return f"about {card.minutes} minutes" if card.minutes else "–"


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


def _text(cell: Mapping[str, Any]) -> str:
    source = cell.get("source", "")
    return "".join(map(str, source)) if isinstance(source, list) else str(source)


if __name__ == "__main__":
    show_in(Path(sys.argv[1]))
