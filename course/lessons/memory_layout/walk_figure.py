"""The row-major walk through a tensor, drawn over its storage: `show_walk`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import torch

from course.figures.palette import INK, MUTED, REST, RULE, fill
from course.figures.picture import Picture, drawing
from course.figures.scene import (
    TEXT,
    WIDTH,
    Arrow,
    Box,
    Item,
    Label,
    Scene,
    flow,
    paint,
    stack,
    text_width,
)
from course.inspection.facts import facts, positions

__all__ = ["MOST_STEPS", "indices_of", "show_walk", "walk_words"]

MOST_STEPS = 24  # elements of a tensor; a longer walk does not fit under its storage
_BOX, _HEIGHT, _STEP = 46.0, 30.0, 17.0
_TOP = 18.0  # px, the positions above the boxes
_GUTTER = 74.0  # px left of the boxes, for the numbers of the steps

Index = tuple[int, ...]


def show_walk(*tensors: torch.Tensor, names: Sequence[str], steps: int | None = None) -> Picture:
    """A picture of the storage of each tensor, and how reading row by row walks through it.

    Time runs downwards, one line an element.

    Args:
        tensors: 1 to 24 elements each, in storages as small.
        names: One for each.
        steps: Elements after which the walk stops, with the last of them marked; None for all.

    Raises:
        ValueError: A tensor or its storage is too large, or there are not as many names.
    """
    for tensor, name in zip(tensors, names, strict=True):
        _refuse_large(tensor, name)
    words = " ".join(
        walk_words(tensor, name, steps) for tensor, name in zip(tensors, names, strict=True)
    )
    if not drawing():
        return Picture(lambda: paint(Scene(1, 1)), alt=words)
    scenes = [_walk_scene(t, name, steps) for t, name in zip(tensors, names, strict=True)]
    caption = (
        "Above: the storage. Below: the elements in the order of their indices, row by row; time "
        "runs downwards."
    )
    return Picture(partial(paint, flow(scenes, WIDTH, gap=36)), alt=words, caption=caption)


def indices_of(tensor: torch.Tensor) -> list[Index]:
    """The indices of a tensor's elements, row by row."""
    shape = tuple(tensor.shape)
    count = tensor.numel()
    found = []
    for number in range(count):
        index, left = [], number
        for size in reversed(shape):
            index.append(left % size)
            left //= size
        found.append(tuple(reversed(index)))
    return found


def walk_words(tensor: torch.Tensor, name: str, steps: int | None = None) -> str:
    """The walk in words: the positions one after another, up to the step that is looked at."""
    walk = positions(tensor)
    done = walk if steps is None else walk[:steps]
    listed = ", ".join(map(str, done)) or "nowhere yet"
    more = " …" if len(done) < len(walk) else ""
    return f"Row by row, {name} goes to storage positions {listed}{more}."


def _refuse_large(tensor: torch.Tensor, name: str) -> None:
    if not 0 < tensor.numel() <= MOST_STEPS or facts(tensor).storage_nbytes > 8 * MOST_STEPS:
        raise ValueError(
            f"a walk is drawn through 1 to {MOST_STEPS} elements of a storage as small; "
            f"{name} has shape {tuple(tensor.shape)}."
        )


def _walk_scene(tensor: torch.Tensor, name: str, steps: int | None) -> Scene:
    seen = facts(tensor)
    slots = seen.storage_nbytes // seen.itemsize
    walk = positions(tensor)
    done = len(walk) if steps is None else min(steps, len(walk))
    items = _boxes(tensor, slots, walk, done, steps is not None)
    items += _path(indices_of(tensor), walk, done, steps is not None)
    head = f"{name}   shape {seen.shape}, stride {seen.stride}"
    title = Scene(text_width(head, TEXT, bold=True), 26, (Label(0, 9, head, size=TEXT, bold=True),))
    tall = _TOP + _HEIGHT + len(walk) * _STEP + 4
    return stack([title, Scene(_GUTTER + slots * _BOX, tall, tuple(items))])


def _boxes(
    tensor: torch.Tensor, slots: int, walk: Sequence[int], done: int, marked: bool
) -> list[Item]:
    """The storage: what the walk has reached is coloured, and where it stands is marked."""
    values = tensor.detach().as_strided((slots,), (1,), 0).tolist()
    reached = set(walk[:done])
    items: list[Item] = [Label(0, _TOP / 2, "position", ink=MUTED)]
    for position in range(slots):
        x = _GUTTER + position * _BOX
        items.append(Label(x + _BOX / 2, _TOP / 2, str(position), "center", MUTED))
        colour = REST
        if position in reached:
            colour = fill(0)
        if marked and done and position == walk[done - 1]:
            colour = fill(1)
        edge, dashed = (INK, False) if position in walk else (RULE, True)
        text = str(values[position])
        items.append(Box(x, _TOP, _BOX, _HEIGHT, text, (colour,), edge, INK, dashed=dashed))
    return items


def _path(indices: Sequence[Index], walk: Sequence[int], done: int, marked: bool) -> list[Item]:
    """One line an element: its index at the left, and an arrow from the place before to its own."""
    items: list[Item] = []
    top = _TOP + _HEIGHT + _STEP / 2 + 2
    for number in range(done):
        y = top + number * _STEP
        index = ", ".join(map(str, indices[number]))
        items.append(Label(0, y, f"[{index}]", ink=MUTED))
        x = _middle(walk[number])
        items.append(
            Box(x - 4, y - 4, 8, 8, fills=(fill(1 if marked and number == done - 1 else 0),))
        )
        if number:
            before = _middle(walk[number - 1])
            side = 5 if before > x else -5
            items.append(Arrow(((before, y - _STEP), (x + side, y))))
    return items


def _middle(position: int) -> float:
    return _GUTTER + (position + 0.5) * _BOX
