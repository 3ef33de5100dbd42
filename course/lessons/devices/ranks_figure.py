"""What several ranks, or devices, do over the same time: `show_ranks`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial

from course.figures.palette import CARD, FAULT, MUTED, RULE, fill
from course.figures.picture import Picture, drawing
from course.figures.scene import SMALL, WIDTH, Box, Item, Label, Scene, paint, text_width

__all__ = ["Work", "show_ranks"]

Work = tuple[str, float, float]  # what it does, from when, until when

_LEFT, _RIGHT = 72.0, 8.0  # px
_BAR, _GAP = 32.0, 10.0
_LEAST = 1e-9
_WAITS, _IDLE = "waits", "idle"  # before the next piece of work, and after the last one
_CAPTION = (
    "A row for each rank or device; time runs from left to right. The same words have the same "
    "colour. Dashed: it waits for another one, or has nothing left to do."
)


def show_ranks(rows: Mapping[str, Sequence[Work]]) -> Picture:
    """A picture of what each rank does over time; the time between is drawn as waiting.

    Args:
        rows: For each rank its pieces of work `(text, start, end)`, in order and without overlap,
            in any unit of time. An end of `inf` is work that never ends.

    Raises:
        ValueError: There is no work, or pieces of a row overlap or end before they start.
    """
    if not drawing():
        return Picture(lambda: paint(Scene(1, 1)), alt="Figures are not drawn in this process.")
    _refuse(rows)
    times = [t for row in rows.values() for _, *both in row for t in both if math.isfinite(t)]
    last = max(times)
    end = 1.25 * last if _endless(rows) else last
    scene = _scene(rows, end or 1.0)
    alt = " ".join(_words(name, row, end) for name, row in rows.items())
    return Picture(partial(paint, scene), alt=alt, caption=_CAPTION)


def _refuse(rows: Mapping[str, Sequence[Work]]) -> None:
    if not any(rows.values()):
        raise ValueError("show_ranks() draws work: give each rank a list of (text, start, end).")
    for name, row in rows.items():
        free = 0.0
        for text, start, end in row:
            if not free - _LEAST <= start <= end or not math.isfinite(start):
                raise ValueError(
                    f"{name}: {text!r} is from {start} to {end}, but the row is free from {free}."
                )
            free = end


def _endless(rows: Mapping[str, Sequence[Work]]) -> bool:
    return any(math.isinf(end) for row in rows.values() for *_, end in row)


def _pieces(row: Sequence[Work], end: float) -> list[Work]:
    """The row's work with the waiting between, before and after it."""
    found: list[Work] = []
    free = 0.0
    for text, start, stop in row:
        if start - free > _LEAST:
            found.append((_WAITS, free, start))
        found.append((text, start, stop))
        free = stop
    if end - free > _LEAST:
        found.append((_IDLE, free, end))
    return found


def _scene(rows: Mapping[str, Sequence[Work]], end: float) -> Scene:
    kinds = list(dict.fromkeys(text for row in rows.values() for text, *_ in row))
    unit = (WIDTH - _LEFT - _RIGHT) / end
    items: list[Item] = []
    for number, (name, row) in enumerate(rows.items()):
        y = number * (_BAR + _GAP)
        items.append(Label(0, y + _BAR / 2, name, bold=True))
        for text, start, stop in _pieces(row, end):
            x, width = _LEFT + start * unit, (min(stop, end) - start) * unit
            items.append(_box(text, x, y, width, math.isinf(stop), kinds))
    return Scene(WIDTH, len(rows) * (_BAR + _GAP), tuple(items))


def _box(text: str, x: float, y: float, width: float, endless: bool, kinds: list[str]) -> Box:
    shown = f"{text}: for ever" if endless else text
    words = shown if text_width(shown) + 4 < width else ""
    if text in (_WAITS, _IDLE):
        return Box(x, y, width, _BAR, words, (CARD,), RULE, MUTED, True, SMALL)
    if endless:
        return Box(x, y, width, _BAR, words, (CARD,), FAULT, FAULT, True, SMALL)
    return Box(x, y, width, _BAR, words, (fill(kinds.index(text)),), size=SMALL)


def _words(name: str, row: Sequence[Work], end: float) -> str:
    told = [
        f"{text} {'for ever' if math.isinf(stop) else f'from {start:g} to {stop:g}'}"
        for text, start, stop in _pieces(row, end)
    ]
    return f"{name}: {', '.join(told)}."
