"""What the lessons together give: the cards of the map, the map, its page, the README's table.

All of it is made from the lessons' own words (see `course.guide.lesson_cards`), and only where the
course directory is this repository: other courses have no `course/guide` to write to.
"""

from __future__ import annotations

from pathlib import Path

from autograder.errors import ReleaseError
from autograder.lessons.cells import cells_of, read_notebook
from autograder.lessons.editions.addresses import binder, colab, repository
from autograder.lessons.editions.opening import SELF_STUDY
from autograder.lessons.model import lesson_paths
from course.guide import Card, card_of, drawn, in_markdown, picture, table, written

__all__ = ["CARDS", "PICTURES", "overview"]

CARDS = "course/guide/lessons.json"
PICTURES = ("map.svg", "map-narrow.svg")  # in docs/
_PAGE, _README = "docs/map.md", "README.md"
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
    cards = [
        card_of(cells_of(read_notebook(path)), slug)
        for slug, path in sorted(lesson_paths(course).items())
    ]
    for card in cards:
        _refuse_odd_needs(card, [one.number for one in cards])
    wide, narrow = PICTURES
    files = {
        CARDS: written(cards),
        f"docs/{wide}": drawn(cards),
        f"docs/{narrow}": drawn(cards, narrow=True),
        _PAGE: in_markdown(cards, wide=wide, narrow=narrow),
    }
    readme = course / _README
    if readme.is_file() and _BEGIN in (text := readme.read_text(encoding="utf-8")):
        shown = picture(cards, wide=f"docs/{wide}", narrow=f"docs/{narrow}")
        rows = table(cards, links=_LESSON, open_in=_opens(course))
        before, _, rest = text.partition(_BEGIN)
        files[_README] = f"{before}{_BEGIN}\n{shown}\n\n{rows}\n{_END}{rest.partition(_END)[2]}"
    return {name: content.encode() for name, content in files.items()}


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
