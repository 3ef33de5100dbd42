"""A small storage as a line of boxes, those that a selection touches in colour."""

from __future__ import annotations

import torch

from course.figures.palette import CARD, INK, MUTED
from course.figures.scene import TEXT, Box, Item, Label, Scene, stack, text_width
from course.inspection.facts import facts
from course.lessons.indexing.element_grid import as_text

__all__ = ["slots_scene"]

_HEIGHT = 26.0
_LEAST = 30.0
_LINE = 16.0


def slots_scene(
    tensor: torch.Tensor,
    title: str,
    colours: dict[int, tuple[str, ...]],
    counts: dict[int, int],
    width: float,
) -> Scene:
    """The storage that the tensor lives in: positions above the boxes, repeated uses below."""
    seen = facts(tensor)
    total = seen.storage_nbytes // seen.itemsize
    values = torch.as_strided(tensor.detach(), (total,), (1,), 0).tolist()
    texts = [as_text(value) for value in values]
    left = text_width(title) + 12
    cell = max([_LEAST, *(text_width(text, TEXT) + 6 for text in texts)])
    each = max(1, int((width - left) / cell))
    lines = []
    for first in range(0, total, each):
        items: list[Item] = [Label(0, _LINE + _HEIGHT / 2, title)] if first == 0 else []
        for place in range(first, min(first + each, total)):
            x = left + (place - first) * cell
            items += _slot(x, cell, place, texts[place], colours.get(place), counts.get(place, 1))
        tall = _LINE + _HEIGHT + (_LINE if any(n > 1 for n in counts.values()) else 2)
        lines.append(Scene(left + min(each, total - first) * cell, tall, tuple(items)))
    return stack(lines, gap=2)


def _slot(
    x: float, cell: float, place: int, text: str, fills: tuple[str, ...] | None, count: int
) -> list[Item]:
    ink = MUTED if fills is None else INK
    items: list[Item] = [
        Label(x + cell / 2, _LINE / 2, str(place), "center", MUTED),
        Box(x, _LINE, cell, _HEIGHT, text, fills or (CARD,), ink, ink, dashed=fills is None),
    ]
    if count > 1:
        items.append(Label(x + cell / 2, _LINE * 1.5 + _HEIGHT, f"×{count}", "center", MUTED))
    return items
