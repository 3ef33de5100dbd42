"""The parts of an answer that a person marks, put together where a learner's cells hold them.

JupyterLab's "split cell" leaves two cells with one grade id; others empty the cell and write below
it, or in a new cell of the wrong kind.  Whoever marks reads one cell, so all of it has to stand
there.  What stands beside an answer is told by the lesson's own cells around it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from autograder.lessons.cells import RawCell, attachments_of
from autograder.lessons.regions import is_untouched

Pictures = dict[str, Any]
_MOST_CELLS, _MOST_PICTURES = 100, 100  # of which one answer is put together


@dataclass
class AnswerParts:
    """One answer with its parts.

    Attributes:
        texts: All of it, part by part.
        pictures: The attachments of all parts; no two have one name.
        cells: How many cells it comes from.
        more: How many others were more than it takes, and stay where they are.
        moved: The numbers of those that are now in it, and nowhere else.
    """

    texts: list[str]
    pictures: Pictures
    cells: int = 1
    more: int = 0
    moved: set[int] = field(default_factory=set)

    @property
    def text(self) -> str:
        """All of it."""
        return "\n\n".join(self.texts)


@dataclass(frozen=True)
class Surroundings:
    """What is known of the cells that were handed in, around one answer.

    Attributes:
        cells: All of them.
        place: The number of the answer's own cell.
        stub: What the answer was when it was handed out.
        copies: The numbers of other cells with its grade id.
        is_lessons: Whether a cell, by its number, belongs to the lesson.
    """

    cells: Sequence[RawCell]
    place: int
    stub: str
    copies: frozenset[int]
    is_lessons: Callable[[int], bool]

    def below(self) -> list[int]:
        """The learner's cells from the answer down to the lesson's next cell."""
        return self._until_the_lesson(range(self.place + 1, len(self.cells)))

    def above(self) -> list[int]:
        """The learner's cells from the answer up to the lesson's last cell before it."""
        return self._until_the_lesson(range(self.place - 1, -1, -1))[::-1]

    def is_blank(self, number: int) -> bool:
        """Whether nothing stands in a cell but the stub."""
        return is_untouched(self.cells[number]["source"], self.stub)

    def _until_the_lesson(self, numbers: range) -> list[int]:
        found = []
        for number in numbers:
            if self.is_lessons(number):
                break
            found.append(number)
        return found


def words_of(around: Surroundings, *, look_above: bool) -> AnswerParts:
    """An answer in words: its own cell, the text below it, and every copy.

    Where the cell is empty or still the stub, code below it counts as well, quoted; it also stays
    where it is. `look_above` says whether text above an empty one is its own.
    """
    own = around.cells[around.place]
    blank = around.is_blank(around.place)
    below = around.below()
    beside = [*below, *sorted(around.copies - {*below})]
    if blank and look_above and not _told(around, beside):
        beside = around.above()
    answer = AnswerParts(["" if blank else own["source"]], attachments_of(own))
    for number in _told(around, beside):
        cell = around.cells[number]
        if cell["cell_type"] != "code" or number in around.copies:
            if _add(answer, cell["source"], attachments_of(cell)):
                answer.moved.add(number)
        elif blank:
            _add(answer, f"```python\n{cell['source']}\n```", {})
    return _or_alone(answer, own["source"], attachments_of(own))


def code_of(around: Surroundings) -> AnswerParts:
    """An answer in code that a person marks: its own cell, and copies right below it.

    Where the cell is empty or still the stub, all below it counts: code, and text as a comment.
    """
    own = around.cells[around.place]["source"]
    blank = around.is_blank(around.place)
    below = around.below()
    if not blank:
        last = max((n for n in below if n in around.copies), default=-1)
        below = [n for n in below if n <= last and around.cells[n]["cell_type"] == "code"]
    answer = AnswerParts(["" if blank else own], {})
    for number in _told(around, below):
        cell = around.cells[number]
        if cell["cell_type"] == "code":
            if _add(answer, cell["source"], {}):
                answer.moved.add(number)
        else:
            _add(answer, re.sub(r"(?m)^", "# ", cell["source"].strip()), {})
    return _or_alone(answer, own, {})


def _or_alone(answer: AnswerParts, own: str, pictures: Pictures) -> AnswerParts:
    """The answer; its own cell as it is, where that is all of it."""
    return answer if answer.cells > 1 else AnswerParts([own], pictures, more=answer.more)


def _told(around: Surroundings, numbers: Sequence[int]) -> list[int]:
    """Those of the cells in which something stands."""
    return [number for number in numbers if not around.is_blank(number)]


def _add(answer: AnswerParts, text: str, pictures: Pictures) -> bool:
    """Put one more part at the end; False where the answer has as many as it takes."""
    too_many = pictures and len(answer.pictures) + len(pictures) > _MOST_PICTURES
    if too_many or answer.cells == _MOST_CELLS:
        answer.more += 1
        return False
    for name, picture in pictures.items():
        free = name
        while free in answer.pictures and answer.pictures[free] != picture:
            free = f"{answer.cells}-{free}"
        text = text.replace(f"(attachment:{name})", f"(attachment:{free})")
        answer.pictures[free] = picture
    if not answer.texts[0].strip():
        answer.texts.clear()
    answer.texts.append(text)
    answer.cells += 1
    return True
