"""A small tensor as a grid of boxes, from three dimensions on as slabs beside each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product

import torch

from course.figures.palette import INK, MUTED
from course.figures.scene import (
    TEXT,
    Box,
    Item,
    Label,
    Scene,
    beside,
    flow,
    line,
    stack,
    text_width,
)

__all__ = ["Index", "as_text", "grid_of", "in_lines", "indices_of", "texts_of"]

HEIGHT = 28.0  # px, a cell
_LEAST = 34.0
_INDEX = 16.0  # room for the index of a row or a column

Index = tuple[int, ...]
# How the cell with this index looks: its fills, and whether its edge is dashed.
Look = Callable[[Index], tuple[tuple[str, ...], bool]]


def indices_of(shape: Sequence[int]) -> Iterator[Index]:
    """The indices of a shape's elements, row by row."""
    return product(*map(range, shape))


def texts_of(tensor: torch.Tensor) -> dict[Index, str]:
    """The value of each element as a short text, by its index."""
    values = tensor.detach().reshape(-1).tolist()
    return dict(zip(indices_of(tensor.shape), map(as_text, values), strict=True))


def as_text(value: object) -> str:
    """A value as it stands in a box."""
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def grid_of(shape: Sequence[int], texts: dict[Index, str], look: Look, width: float) -> Scene:
    """The cells of a tensor of this shape with their texts, in slabs of two dimensions."""
    if 0 in shape:
        return Scene(110, HEIGHT, (Box(0, 0, 110, HEIGHT, "no elements", dashed=True, ink=MUTED),))
    cell = max([_LEAST, *(text_width(text, TEXT) + 8 for text in texts.values())])
    slabs = [_slab(tuple(shape), prefix, texts, look, cell) for prefix in indices_of(shape[:-2])]
    return flow(slabs, width, gap=14)


def _slab(
    shape: tuple[int, ...], prefix: Index, texts: dict[Index, str], look: Look, cell: float
) -> Scene:
    rows, columns = (1, 1, *shape)[-2:]
    left = _INDEX if len(shape) > 1 else 0.0
    top = _INDEX if shape else 0.0
    items: list[Item] = []
    for row, column in product(range(rows), range(columns)):
        index = (*prefix, *(row, column)[2 - min(2, len(shape)) :])
        fills, dashed = look(index)
        x, y = left + column * cell, top + row * HEIGHT
        ink = MUTED if dashed else INK
        items.append(Box(x, y, cell, HEIGHT, texts[index], fills, ink, ink, dashed=dashed))
    items += _indices(rows if left else 0, columns if top else 0, cell, left)
    body = Scene(left + columns * cell, top + rows * HEIGHT, tuple(items))
    if not prefix:
        return body
    name = f"[{', '.join(map(str, prefix))}, :, :]"
    return stack([line(name), body], gap=2)


def _indices(rows: int, columns: int, cell: float, left: float) -> list[Item]:
    """The numbers above the columns and beside the rows."""
    above = [
        Label(left + (c + 0.5) * cell, _INDEX / 2, str(c), "center", MUTED) for c in range(columns)
    ]
    beside = [Label(0, _INDEX + (r + 0.5) * HEIGHT, str(r), ink=MUTED) for r in range(rows)]
    return [*above, *beside]


def in_lines(scenes: Sequence[Scene], width: float, gap: float) -> Scene:
    """The scenes from left to right, their upper edges in line, in as many lines as it takes."""
    lines: list[list[Scene]] = [[]]
    for scene in scenes:
        used = sum(one.width + gap for one in lines[-1])
        if lines[-1] and used + scene.width > width:
            lines.append([])
        lines[-1].append(scene)
    return stack((beside(one, gap, align=0) for one in lines), gap)
