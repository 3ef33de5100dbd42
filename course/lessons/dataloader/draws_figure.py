"""Who drew which value: a row for each worker or epoch, equal values in one colour."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

from course.figures.palette import MUTED, REST, RULE, fill
from course.figures.picture import Picture
from course.figures.scene import Box, Item, Label, Scene, paint, stack, text_width

__all__ = ["show_draws"]

_ROW = 24.0  # px, the height of a box
_LEAST = 30.0  # px, the least width of a box
_WIDTH = 850.0  # px of a whole figure, at most
_CAPTION = "A row for each lane, from left to right. Equal values share a colour; grey: seen once."


def show_draws(lanes: Mapping[str, Sequence[object]], caption: str = _CAPTION) -> Picture:
    """The values of each lane as a row of boxes; a value that comes again has a colour of its own.

    What does not fit into the figure's width is counted at the end of the row.

    Args:
        lanes: For each name the values in their order; they are compared and shown as text.
        caption: What stands below the picture.
    """
    words = {name: [_word(value) for value in values] for name, values in lanes.items()}
    times = Counter(word for row in words.values() for word in row)
    repeated = [word for word, count in times.items() if count > 1]
    fills = {word: fill(number) for number, word in enumerate(repeated)}
    left = max((text_width(name) for name in words), default=0) + 12
    width = max([_LEAST, *(text_width(word) + 12 for word in times)])
    rows = [_row(name, row, fills, left, width) for name, row in words.items()]
    return Picture(partial(paint, stack(rows, gap=6)), alt=_alt(words, times), caption=caption)


def _row(
    name: str, words: Sequence[str], fills: Mapping[str, str], left: float, width: float
) -> Scene:
    items: list[Item] = [Label(left - 10, _ROW / 2, name, "right", MUTED)]
    room = int((_WIDTH - left - 60) // (width + 4))
    shown = words[:room]
    for number, word in enumerate(shown):
        colour = fills.get(word, REST)
        x = left + number * (width + 4)
        items.append(Box(x, 0, width, _ROW, word, (colour,), RULE if colour == REST else "#111111"))
    end = left + len(shown) * (width + 4)
    if len(words) > len(shown):
        items.append(Label(end + 2, _ROW / 2, f"+ {len(words) - len(shown)}", ink=MUTED))
        end += 50
    return Scene(end, _ROW, tuple(items))


def _word(value: object) -> str:
    return f"{value:.2f}" if isinstance(value, float) else str(value)


def _alt(words: Mapping[str, Sequence[str]], times: Mapping[str, int]) -> str:
    lanes = " ".join(f"{name}: {', '.join(row) or 'nothing'}." for name, row in words.items())
    again = sum(count > 1 for count in times.values())
    number = "No value comes" if not again else f"{again} of {len(times)} values come"
    return f"{lanes} {number} more than once."
