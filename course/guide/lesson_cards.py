"""What the map knows of each lesson, all of it said by the lesson itself.

`autograder release` reads the cards out of the sources and writes them to `lessons.json`; whoever
draws, asks or tells takes them from there. Where each part of a card stands in the notebook:

    title     its first heading; what stands before the colon is its name
    minutes   "That's the core: about 90 minutes"; else those of its exercises together
    needs     the lessons by number in the sentence that begins with "**You need**", "05" or
              "01 to 16"
    can       `metadata.course.can` of the title cell; else the first point of its list
    paths     `metadata.course.paths` of the title cell: those that lead to this lesson
    exercises the test cells that nbgrader grades
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["PATHS", "Card", "card_of", "cards", "exercise_of", "on_path", "read_cards", "written"]

# The ways through the map: the word that a lesson's metadata use, and whom it is for.
PATHS = {"train": "I train models", "debug": "I debug memory and speed"}

_FILE = Path(__file__).parent / "lessons.json"
_CORE = re.compile(r"\bthe core: about (\d+) minutes\b")
_NEED = re.compile(r"\*\*You need\*\*.*?(?:\.\s|\.?$)", re.DOTALL | re.MULTILINE)
_NUMBERS = re.compile(r"\b(\d\d)(?:(?: to |–|-)(\d\d))?\b")
_PROMISE = re.compile(r"(?:you can|learn to)\*{0,2}:?\s*\n+- (.+?)[;.]?\n")


@dataclass(frozen=True)
class Card:
    """One lesson on the map.

    Attributes:
        slug: Its folder and file, `04-memory-layout`.
        title: Its whole title.
        minutes: How long its core takes; 0 where it does not say.
        needs: The numbers of the lessons that it builds on, as it names them: `("04", "05")`.
        can: What you can do afterwards, the rest of a sentence that begins with "you can".
        paths: The paths, keys of `PATHS`, that lead to this lesson.
        exercises: The names of its exercises that a test grades, in their order.
    """

    slug: str
    title: str
    minutes: int
    needs: tuple[str, ...]
    can: str
    paths: tuple[str, ...]
    exercises: tuple[str, ...]

    @property
    def number(self) -> str:
        """Two digits, `04`."""
        return self.slug[:2]

    @property
    def name(self) -> str:
        """The title as far as its colon: `Memory layout`."""
        return self.title.partition(":")[0].strip()


def card_of(cells: Iterable[Mapping[str, Any]], slug: str) -> Card:
    """The card of a lesson.

    Args:
        cells: The notebook's cells as JSON; what is missing or odd in them is passed over.
        slug: The lesson's name.
    """
    found = [cell for cell in cells if isinstance(cell, Mapping)]
    texts = [_text(cell) for cell in found if cell.get("cell_type") == "markdown"]
    whole = "\n\n".join(texts) + "\n"
    title = re.search(r"^#\s+(.+)$", texts[0] if texts else "", re.MULTILINE)
    core, need = _CORE.search(whole), _NEED.search(whole)
    about = _course(found[0]) if found else {}
    promise = _PROMISE.search(whole)
    return Card(
        slug=slug,
        title=title[1].strip() if title else slug[3:],
        minutes=int(core[1]) if core else sum(map(_minutes, found)),
        needs=tuple(sorted(set(_named(need[0])))) if need else (),
        can=str(about.get("can") or (promise[1] if promise else "")),
        paths=tuple(one for one in PATHS if one in _words(about.get("paths"))),
        exercises=tuple(filter(None, map(exercise_of, found))),
    )


@cache
def cards() -> tuple[Card, ...]:
    """The lessons of the course in their order; none where the file was never written."""
    return read_cards(_FILE.read_text(encoding="utf-8")) if _FILE.is_file() else ()


def read_cards(text: str) -> tuple[Card, ...]:
    """The cards that `written` gave as text.

    Args:
        text: JSON in the form of `lessons.json`.
    """
    return tuple(_card(entry) for entry in json.loads(text)["lessons"])


def written(lessons: Iterable[Card]) -> str:
    """The cards as the text of `lessons.json`, in the order of their slugs.

    Args:
        lessons: The cards, in any order.

    Returns:
        JSON that ends with a line break.
    """
    about = "Written by `autograder release` from the lessons themselves. Do not edit."
    names = [one.name for one in fields(Card)]
    ordered = sorted(lessons, key=lambda card: card.slug)
    entries = [{name: asdict(card)[name] for name in names} for card in ordered]
    return json.dumps({"about": about, "lessons": entries}, indent=1, ensure_ascii=False) + "\n"


def on_path(lessons: Sequence[Card], path: str) -> tuple[Card, ...]:
    """The lessons on a path, in their order: those it leads to, and all that they build on.

    Args:
        lessons: All cards, in their order.
        path: A key of `PATHS`, "train" or "debug"; any other leads to no lesson.
    """
    by_number = {card.number: card for card in lessons}
    waiting = [card.number for card in lessons if path in card.paths]
    wanted: set[str] = set()
    while waiting:
        number = waiting.pop()
        if number in by_number and number not in wanted:
            wanted.add(number)
            waiting += by_number[number].needs
    return tuple(card for card in lessons if card.number in wanted)


def _named(sentence: str) -> Iterator[str]:
    """The lessons that a sentence names, one by one or from one to another."""
    for first, last in _NUMBERS.findall(sentence):
        yield from (f"{n:02}" for n in range(int(first), int(last or first) + 1))


def _minutes(cell: Mapping[str, Any]) -> int:
    """How long the exercise of a cell takes, 0 for other cells."""
    found = _course(cell).get("minutes")
    return int(found) if isinstance(found, int | float) and 0 < found < 1e6 else 0


def _card(entry: Mapping[str, Any]) -> Card:
    lists = {key: tuple(one) for key, one in entry.items() if isinstance(one, list)}
    return Card(**{**entry, **lists})


def exercise_of(cell: Mapping[str, Any]) -> str:
    """The exercise that a test cell grades, empty for other cells.

    Its cell is `test-NAME`, in nbgrader's metadata or, in the self-study edition, by its id. An
    answer in words has no such cell: a person grades it.
    """
    grading = _metadata(cell).get("nbgrader")
    if not isinstance(grading, Mapping):
        name = str(cell.get("id", ""))
        tested = name.startswith("test-") and "check.score(" in _text(cell)
    else:
        name = str(grading.get("grade_id", ""))
        points = grading.get("points")
        worth = isinstance(points, int | float) and points > 0
        tested = worth and bool(grading.get("grade")) and not grading.get("solution")
    return name.removeprefix("test-") if tested else ""


def _course(cell: Mapping[str, Any]) -> Mapping[str, Any]:
    found = _metadata(cell).get("course")
    return found if isinstance(found, Mapping) else {}


def _metadata(cell: Mapping[str, Any]) -> Mapping[str, Any]:
    found = cell.get("metadata")
    return found if isinstance(found, Mapping) else {}


def _words(value: object) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else []


def _text(cell: Mapping[str, Any]) -> str:
    source = cell.get("source", "")
    return "".join(map(str, source)) if isinstance(source, list) else str(source)
