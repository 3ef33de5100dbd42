"""Where each lesson stands on the map, and how the lines between them run.

A lesson stands one row below the last of those that it builds on, in one of a few columns. A line
that passes rows on its way goes down between the columns, where nothing stands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations, product
from typing import NamedTuple

from course.guide.lesson_cards import Card

__all__ = ["Line", "Place", "columns_of", "direct", "lines_of", "places_of", "rows_of"]

_LEAST_COLUMNS = 3
_ROUNDS = 6  # each row in turn takes its best order; after that many rounds nothing moves


class Place(NamedTuple):
    """The row and the column of a lesson, counted from 0."""

    row: int
    column: int


class Line(NamedTuple):
    """A line from a lesson to one that builds on it.

    `gap` is the gap through which it passes the rows between (gap 1 lies before column 1), and
    `track` tells lines in one gap apart; None where the two rows are neighbours.
    """

    above: str
    below: str
    gap: int | None = None
    track: int = 0


def direct(lessons: Sequence[Card]) -> dict[str, tuple[str, ...]]:
    """What each lesson builds on by number, without what follows from the rest.

    >>> chain = {"01": (), "02": ("01",), "03": ("01", "02")}
    >>> direct([Card(f"{no}-a", "A", 0, needs, "", (), ()) for no, needs in chain.items()])
    {'01': (), '02': ('01',), '03': ('02',)}
    """
    known = {card.number for card in lessons}
    needs = {card.number: tuple(one for one in card.needs if one in known) for card in lessons}
    behind: dict[str, set[str]] = {}
    for number in sorted(needs):
        behind[number] = set().union(*({one, *behind.get(one, ())} for one in needs[number]))
    return {
        number: tuple(
            one
            for one in mine
            if not any(one in behind[other] for other in mine if other in behind)
        )
        for number, mine in needs.items()
    }


def rows_of(needs: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """The row of each lesson: one below the lowest of those that it builds on."""
    rows: dict[str, int] = {}
    for number in sorted(needs):
        rows[number] = 1 + max((rows[one] for one in needs[number] if one in rows), default=-1)
    return rows


def columns_of(needs: Mapping[str, Sequence[str]]) -> int:
    """How many columns the map has: as many as its widest row, and three at least."""
    rows = list(rows_of(needs).values())
    return max([_LEAST_COLUMNS, *(rows.count(row) for row in set(rows))])


def places_of(needs: Mapping[str, Sequence[str]]) -> dict[str, Place]:
    """The place of each lesson; lines are short and cross little."""
    rows, columns = rows_of(needs), columns_of(needs)
    members: dict[int, list[str]] = {}
    for number in sorted(rows):
        members.setdefault(rows[number], []).append(number)
    middle = columns // 2
    column = {
        number: (middle + position if len(many) < columns else position) % columns
        for many in members.values()
        for position, number in enumerate(many)
    }
    for _ in range(_ROUNDS):
        for many in members.values():
            choices = permutations(range(columns), len(many))
            best = min(
                choices,
                key=lambda chosen: _cost(
                    needs, rows, column | dict(zip(many, chosen, strict=True)), middle
                ),
            )
            column |= dict(zip(many, best, strict=True))
    return {number: Place(rows[number], column[number]) for number in sorted(rows)}


def lines_of(needs: Mapping[str, Sequence[str]], places: Mapping[str, Place]) -> list[Line]:
    """The lines of the map; those that pass rows share no track of a gap."""
    taken: dict[int, list[set[int]]] = {}
    lines = []
    for above, below in sorted(_pairs(needs)):
        start, end = places[above], places[below]
        if start.row + 1 == end.row:
            lines.append(Line(above, below))
            continue
        passed = set(range(start.row, end.row + 1))  # where one ends, the next must not begin
        gap = _gap(start.column, end.column)
        tracks = taken.setdefault(gap, [])
        track = next((n for n, rows in enumerate(tracks) if not rows & passed), len(tracks))
        if track == len(tracks):
            tracks.append(set())
        tracks[track] |= passed
        lines.append(Line(above, below, gap, track))
    return lines


def _pairs(needs: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    return ((above, below) for below, many in needs.items() for above in many)


def _gap(start: int, end: int) -> int:
    """The gap nearest to both columns, on the right of the left one."""
    return min(start, end) + 1 if start != end else max(start, 1)


def _cost(
    needs: Mapping[str, Sequence[str]],
    rows: Mapping[str, int],
    column: Mapping[str, int],
    middle: int,
) -> tuple[int, int, int]:
    """How bad an arrangement is: lines that cross, how far they go, how far off centre it is."""
    ends = [(rows[a], column[a], rows[b], column[b]) for a, b in _pairs(needs)]
    crossed = sum(_cross(one, other) for one, other in product(ends, ends) if one < other)
    far = sum(abs(start - end) for _, start, _, end in ends)
    return crossed * 2 + far, crossed, sum(abs(one - middle) for one in column.values())


def _cross(one: tuple[int, int, int, int], other: tuple[int, int, int, int]) -> bool:
    """Whether two lines cross on their way, as far as rows and columns say."""
    top, bottom = max(one[0], other[0]), min(one[2], other[2])
    if top >= bottom:
        return False
    first, last = ([_at(line, row) for line in (one, other)] for row in (top, bottom))
    return (first[0] - first[1]) * (last[0] - last[1]) < 0


def _at(line: tuple[int, int, int, int], row: int) -> float:
    start, begin, end, finish = line
    return begin + (finish - begin) * (row - start) / (end - start)
