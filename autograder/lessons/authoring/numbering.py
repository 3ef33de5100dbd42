"""The numbers of exercises: in their headings, and wherever the lesson's text speaks of them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from autograder.lessons.cells import RawCell, role

_HEADING = re.compile(r"^### Exercise(?: (\d+))?(?: of \d+)?:", re.M)
_MENTION = re.compile(r"\b([Ee]xercise) (\d+)\b(?: of (\d+))?")
_WORDS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"),
    *("eighteen", "nineteen", "twenty"),
)
_COUNT = re.compile(rf"\b({'|'.join(_WORDS[1:])}|\d+) exercises?\b")


def renumbered(cells: Sequence[RawCell]) -> list[str]:
    """The source of each cell with the exercises numbered in order, and their number put right.

    The text follows: who says "exercise 5" goes on to mean the same exercise, and the title cell
    says how many there are.  A lesson that numbers none of its exercises is left as it is.
    """
    tasks = [cell for cell in cells if _is_numbered(cell)]
    numbers = {id(cell): n for n, cell in enumerate(tasks, 1)}
    moved = _moved(tasks)
    return [_new_source(cell, numbers, moved) if tasks else cell["source"] for cell in cells]


def unknown_mentions(cells: Sequence[RawCell]) -> Iterator[tuple[RawCell, str]]:
    """Each cell that speaks of an exercise by a number that none has, with that number."""
    tasks = [cell for cell in cells if _is_numbered(cell)]
    there = {old for cell in tasks for old in _HEADING.findall(cell["source"])}
    for cell in cells if tasks else ():
        for _, number, _ in _MENTION.findall(_text(cell)):
            if number not in there:
                yield cell, number


def differences(old: str, new: str) -> list[tuple[str, str]]:
    """What two sources say about numbers of exercises where they differ: (said, right)."""
    pattern = re.compile(f"{_HEADING.pattern}|{_MENTION.pattern}|{_COUNT.pattern}", re.M)
    pairs = zip(pattern.finditer(old), pattern.finditer(new), strict=False)
    return [(a.group(), b.group()) for a, b in pairs if a.group() != b.group()]


def unnumbered(cells: Sequence[RawCell], names: Sequence[str]) -> Iterator[RawCell]:
    """The tasks of the exercises `names` without a number, in a lesson that numbers others."""
    tasks = [cell for cell in cells if role(cell).get("role") == "exercise"]
    if any(map(_is_numbered, tasks)):
        yield from (c for c in tasks if role(c).get("exercise") in names and not _is_numbered(c))


def _is_numbered(cell: RawCell) -> bool:
    return role(cell).get("role") == "exercise" and _HEADING.search(_text(cell)) is not None


def _text(cell: RawCell) -> str:
    return str(cell["source"]) if cell["cell_type"] == "markdown" else ""


def _moved(tasks: Sequence[RawCell]) -> dict[str, int]:
    """Old number to new one; a number that two exercises had says nothing."""
    old = [found.group(1) for cell in tasks if (found := _HEADING.search(cell["source"]))]
    once = {number for number, times in Counter(old).items() if number and times == 1}
    return {number: n for n, number in enumerate(old, 1) if number in once}


def _new_source(cell: RawCell, numbers: Mapping[int, int], moved: Mapping[str, int]) -> str:
    if cell["cell_type"] != "markdown":
        return str(cell["source"])
    total = len(numbers)

    def mention(found: re.Match[str]) -> str:
        number = moved.get(found[2], found[2])
        return f"{found[1]} {number}" + (f" of {total}" if found[3] else "")

    source = _MENTION.sub(mention, cell["source"])
    if id(cell) in numbers:
        n = numbers[id(cell)]
        source = _HEADING.sub(lambda old: _heading(old.group(), n, total), source, count=1)
    if role(cell).get("role") == "title":
        source = _COUNT.sub(lambda found: _count(found[1], total), source)
    return source


def _heading(old: str, number: int, total: int) -> str:
    return f"### Exercise {number} of {total}:" if " of " in old else f"### Exercise {number}:"


def _count(said: str, total: int) -> str:
    number = str(total) if said.isdigit() or total >= len(_WORDS) else _WORDS[total]
    return f"{number} exercise{'' if total == 1 else 's'}"
