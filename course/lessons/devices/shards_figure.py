"""Which rank gets which samples, and which samples come twice or not at all: `show_shards`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

from course.figures.palette import CARD, FAULT, INK, MUTED, RULE, fill
from course.figures.picture import Picture, drawing
from course.figures.scene import SMALL, WIDTH, Box, Item, Label, Scene, paint
from course.figures.storage.descriptions import listed

__all__ = ["show_shards"]

_LEFT = 76.0  # px for the names
_CELL, _GAP = 34.0, 10.0
_CAPTION = (
    "A row for each rank, in the order in which it gets its samples; a colour for each rank. "
    "A sample that comes more than once is dashed after the first time."
)


def show_shards(shards: Mapping[str, Sequence[int]], samples: int) -> Picture:
    """A picture of the samples of each rank, and of those that nobody gets.

    Args:
        shards: For each rank the indices of its samples, in its order.
        samples: How many samples the data set has.

    Raises:
        ValueError: There is no rank, or an index is no sample.
    """
    if not drawing():
        return Picture(lambda: paint(Scene(1, 1)), alt="Figures are not drawn in this process.")
    rows = {name: [int(index) for index in shard] for name, shard in shards.items()}
    found = [index for row in rows.values() for index in row]
    if not rows or not all(0 <= index < samples for index in found):
        raise ValueError(f"show_shards() takes indices from 0 to {samples - 1} for each rank.")
    count = Counter(found)
    twice = sorted(index for index, times in count.items() if times > 1)
    missing = [index for index in range(samples) if index not in count]
    more, nobody = _in_words(twice) or "none", _in_words(missing) or "none"
    told = f"More than once: {more}. Nobody gets: {nobody}."
    alt = " ".join(f"{name}: {_in_words(row) or 'nothing'}." for name, row in rows.items())
    return Picture(partial(paint, _scene(rows, told)), alt=f"{alt} {told}", caption=_CAPTION)


def _in_words(indices: Sequence[int]) -> str:
    return listed([str(index) for index in indices])


def _scene(rows: Mapping[str, list[int]], told: str) -> Scene:
    longest = max((len(row) for row in rows.values()), default=0)
    wide = min(_CELL, (WIDTH - _LEFT) / max(1, longest))
    # Columns are dealt in turn, as a sampler does it: so the first of equals is the plain one.
    seen: set[int] = set()
    items: list[Item] = []
    for column in range(longest):
        for number, row in enumerate(rows.values()):
            if column < len(row):
                items.append(_cell(row[column], column, number, wide, row[column] in seen))
                seen.add(row[column])
    for number, name in enumerate(rows):
        items.append(Label(0, number * (_CELL + _GAP) + _CELL / 2, name, bold=True))
    low = len(rows) * (_CELL + _GAP) + 8
    items.append(Label(0, low, told, ink=MUTED))
    return Scene(WIDTH, low + 12, tuple(items))


def _cell(index: int, column: int, number: int, wide: float, again: bool) -> Box:
    x, y = _LEFT + column * wide, number * (_CELL + _GAP)
    colours = (CARD,) if again else (fill(number),)
    edge, ink = (FAULT, FAULT) if again else (RULE, INK)
    return Box(x, y, wide, _CELL, str(index), colours, edge, ink, again, SMALL)
