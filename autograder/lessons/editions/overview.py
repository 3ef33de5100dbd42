"""What the lessons together give: the map with its cards and page, the README's table, the rules.

All of it is made from the lessons' own words (see `course.guide.lesson_cards`), and only where the
course directory is this repository: other courses have no `course/guide` to write to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from autograder.errors import ReleaseError
from autograder.lessons.cells import RawCell, cells_of, read_notebook
from autograder.lessons.editions.addresses import binder, colab, repository
from autograder.lessons.editions.opening import SELF_STUDY
from autograder.lessons.model import lesson_paths
from course.guide import Card, card_of, drawn, in_markdown, picture, table, written

__all__ = ["CARDS", "PICTURES", "overview"]

CARDS = "course/guide/lessons.json"
PICTURES = ("map.svg", "map-narrow.svg")  # in docs/
_PAGE, _RULES, _README = "docs/map.md", "docs/rules.md", "README.md"
_BEGIN, _END = "<!-- lessons: written by `autograder release` -->\n", "<!-- end of lessons -->\n"
_LESSON, _SELF_STUDY = "release/{0}/{0}.ipynb", f"release/{SELF_STUDY}/{{}}.ipynb"


def overview(course: Path) -> dict[str, bytes]:
    """The files that show all lessons together: path below the course directory to content.

    Args:
        course: The course directory.

    Returns:
        Nothing where the directory holds no `course/guide`.

    Raises:
        LessonError: A notebook cannot be read.
        ReleaseError: A lesson names one that does not come before it.
    """
    if not (course / CARDS).parent.is_dir():
        return {}
    paths = sorted(lesson_paths(course).items())
    lessons = {slug: cells_of(read_notebook(path)) for slug, path in paths}
    cards = [card_of(cells, slug) for slug, cells in lessons.items()]
    for card in cards:
        _refuse_odd_needs(card, [one.number for one in cards])
    wide, narrow = PICTURES
    files = {
        CARDS: written(cards),
        f"docs/{wide}": drawn(cards),
        f"docs/{narrow}": drawn(cards, narrow=True),
        _PAGE: in_markdown(cards, wide=wide, narrow=narrow),
        _RULES: _rules(cards, lessons),
    }
    readme = course / _README
    if readme.is_file() and _BEGIN in (text := readme.read_text(encoding="utf-8")):
        shown = picture(cards, wide=f"docs/{wide}", narrow=f"docs/{narrow}")
        rows = table(cards, links=_LESSON, open_in=_opens(course))
        before, _, rest = text.partition(_BEGIN)
        files[_README] = f"{before}{_BEGIN}\n{shown}\n\n{rows}\n{_END}{rest.partition(_END)[2]}"
    return {name: content.encode() for name, content in files.items()}


def _rules(cards: Iterable[Card], lessons: Mapping[str, Sequence[RawCell]]) -> str:
    """The rules with which each lesson ends, one lesson after the other: a page to print."""
    parts = [
        "<!-- Written by `autograder release` from the lessons themselves. Do not edit. -->\n"
        "# The rules, lesson by lesson\n\nWhat each lesson ends with, to print or to look up. "
        "Why a rule holds, and where it stops holding, is in the lesson.\n"
    ]
    for card in cards:
        found = [one["source"] for one in lessons[card.slug] if one.get("id") == "summary"]
        summary = found[0] if found else ""
        _, _, rules = summary.partition("\n\n")
        parts += [f"## {card.number} {card.title}\n\n{rules.strip()}\n"] if rules else []
    return "\n".join(parts)


def _opens(course: Path) -> dict[str, str]:
    """Colab and Binder with the address of a lesson there; nothing without a public address."""
    address = repository(course)
    programs = {"Colab": colab, "Binder": binder} if address else {}
    return {name: opens(address, _SELF_STUDY) for name, opens in programs.items()}


def _refuse_odd_needs(card: Card, known: list[str]) -> None:
    """Raise `ReleaseError` where a lesson needs one that is not there, or not before it."""
    odd = [one for one in card.needs if one not in known or one >= card.number]
    if odd:
        raise ReleaseError(
            f"the sentence with **You need** names lesson {odd[0]}, which does not come before it",
            place=f"source/{card.slug}",
            remedy="Name lessons that come before; write other numbers as words there.",
        )
