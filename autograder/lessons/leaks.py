"""Whether an edition that was built publishes what its source keeps for the grader.

Compared are whole lines of source, and whole lines of the texts that metadata, ids and outputs
hold: `},` alone is no secret because JSON is full of it, and no line is found inside another one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from autograder.lessons.cells import RawCell, cells_of, is_answer
from autograder.lessons.regions import secrets

_SHOWN_CHARS = 200


@dataclass(frozen=True)
class Leak:
    """One secret line, where the source has it and where the edition shows it."""

    line: str
    source: str
    published: str

    def __str__(self) -> str:
        """Return the leak in words."""
        line = self.line if len(self.line) <= _SHOWN_CHARS else f"{self.line[:_SHOWN_CHARS]}…"
        return f"{self.published} shows the secret line of {self.source}: {line}"


def leaks(source: Iterable[RawCell], edition: Mapping[str, Any]) -> tuple[Leak, ...]:
    """Every secret line of the cells in `source` that stands in the notebook `edition`."""
    cells = list(source)
    hidden = set(secrets(cell["source"] for cell in cells)) | set(_pictures(cells))
    return tuple(
        Leak(line, _home(line, cells), place)
        for line, place in _published(edition)
        if line in hidden
    )


def _pictures(cells: Iterable[RawCell]) -> Iterator[str]:
    """The lines of the pictures that belong to model answers."""
    for cell in cells:
        if is_answer(cell):
            yield from (line for line, _ in _texts(cell.get("attachments"), ()) if len(line) > 80)


def _home(line: str, cells: Iterable[RawCell]) -> str:
    for cell in cells:
        for number, text in enumerate(cell["source"].split("\n"), 1):
            if text.strip() == line:
                return f"cell {cell.get('id')}, line {number}"
    return "the source"


def _published(edition: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Every line that the edition holds, bare, with its place."""
    for cell in cells_of(edition):
        about = {key: value for key, value in cell.items() if key != "source"}
        for number, text in enumerate(cell["source"].split("\n"), 1):
            yield text.strip(), f"cell {cell.get('id')}, line {number},"
        for text, path in _texts(about, ()):
            yield text, f"cell {cell.get('id')}, its {'.'.join(path)},"
    rest = {key: value for key, value in edition.items() if key != "cells"}
    for text, path in _texts(rest, ()):
        yield text, f"the notebook's {'.'.join(path)}"


def _texts(value: object, path: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    if isinstance(value, str):
        yield from ((line.strip(), path) for line in value.split("\n"))
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield str(key).strip(), path
            yield from _texts(one, (*path, str(key)))
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one, path)
