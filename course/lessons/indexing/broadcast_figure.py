"""How shapes meet: aligned from the right, and each tensor stretched with stride 0."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod

import torch

from course.figures.palette import CARD, FAULT, INK, MUTED, REST, fill
from course.figures.picture import Picture, drawing
from course.figures.scene import (
    WIDTH,
    Box,
    Item,
    Label,
    Scene,
    heading,
    line,
    paint,
    stack,
    text_width,
)
from course.figures.storage.descriptions import listed
from course.lessons.indexing.element_grid import Index, grid_of, in_lines, texts_of

__all__ = ["Column", "columns_of", "show_broadcast"]

_MOST_CELLS = 48  # of the result; a larger one is told by its shapes alone
_MOST_TENSORS = 4
_BOX, _ROW, _GAP = 64.0, 28.0, 6.0

_SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}

Operation = Callable[..., torch.Tensor]


@dataclass(frozen=True)
class Column:
    """The sizes that meet in one dimension, counted from the right; None where there is none."""

    sizes: tuple[int | None, ...]

    @property
    def result(self) -> int | None:
        """The size that comes out, or None where the sizes clash."""
        wanted = {size for size in self.sizes if size not in (None, 1)}
        if len(wanted) > 1:
            return None
        return next(iter(wanted), 1)


def columns_of(shapes: Sequence[Sequence[int]]) -> list[Column]:
    """The sizes of the shapes, aligned from the right, from the first dimension to the last."""
    longest = max(map(len, shapes), default=0)
    padded = [[None] * (longest - len(shape)) + [*shape] for shape in shapes]
    return [Column(tuple(sizes)) for sizes in zip(*padded, strict=True)]


def show_broadcast(
    *tensors: torch.Tensor,
    names: Sequence[str],
    operation: Operation | None = None,
    marked: torch.Tensor | None = None,
) -> Picture:
    """A picture of how the shapes of these tensors meet, and what each of them is stretched to.

    Sizes stand aligned from the right; a missing one counts as 1, and a 1 is stretched. Below, each
    tensor is drawn as it is read: its own elements solid, the repeated ones dashed, and beside them
    the strides before and after. Shapes that do not fit are shown with the dimension in which they
    clash.

    Args:
        tensors: 1 to 4.
        names: One for each.
        operation: Takes all of them and gives the result that is drawn, such as `torch.add`.
        marked: Of the result's shape; its true cells are coloured.

    Raises:
        ValueError: There are more tensors, or not as many names.

    >>> one, other = torch.zeros(4, 1), torch.zeros(3)
    >>> print(show_broadcast(one, other, names=["a", "b"]).alt.partition(". ")[0])
    The shapes (4, 1) and (3,) give (4, 3)
    """
    _refuse(tensors, names)
    columns = columns_of([tensor.shape for tensor in tensors])
    words = _alt(tensors, names, columns)
    if not drawing():
        return Picture(lambda: paint(Scene(1, 1)), alt=words)
    parts = [_table(names, columns, _named(operation, names))]
    caption = "Shapes are aligned from the right. A missing size counts as 1, and a 1 is stretched."
    shape = _result(columns)
    if shape is not None and len(shape) <= 3 and prod(shape) <= _MOST_CELLS:
        parts.append(_grids(tensors, names, shape, operation, marked))
        caption += (
            " Dashed cells repeat an element that is stored once: along them the stride is 0."
        )
    return Picture(partial(paint, stack(parts, gap=20)), alt=words, caption=caption)


def _refuse(tensors: Sequence[torch.Tensor], names: Sequence[str]) -> None:
    if not 1 <= len(tensors) <= _MOST_TENSORS or len(tensors) != len(names):
        raise ValueError(
            f"show_broadcast() draws 1 to {_MOST_TENSORS} tensors, each with a name; "
            f"it got {len(tensors)} tensors and {len(names)} names."
        )


def _result(columns: Sequence[Column]) -> tuple[int, ...] | None:
    """The shape that comes out, or None where sizes clash."""
    sizes = [column.result for column in columns]
    known = tuple(size for size in sizes if size is not None)
    return known if len(known) == len(sizes) else None


def _named(operation: Operation | None, names: Sequence[str]) -> str:
    """What the result is called."""
    called = getattr(operation, "__name__", "<")
    if called in _SIGNS and len(names) == 2:
        return f"{names[0]} {_SIGNS[called]} {names[1]}"
    return "result" if called.startswith("<") else f"{called}({', '.join(names)})"


def _table(names: Sequence[str], columns: Sequence[Column], result: str) -> Scene:
    """The shapes as rows of boxes, their last sizes below each other."""
    left = max(text_width(name, bold=True) for name in (*names, result, "dimension")) + 16
    items: list[Item] = [Label(0, 9, "dimension", ink=MUTED)]
    for place, column in enumerate(columns):
        x = left + place * (_BOX + _GAP)
        number = place - len(columns)
        items.append(Label(x + _BOX / 2, 9, str(number), "center", MUTED))
        items += _column(column, x)
    for row, name in enumerate((*names, result)):
        y = 20 + row * (_ROW + _GAP) + (_GAP if row == len(names) else 0) + _ROW / 2
        items.append(Label(0, y, name, bold=True))
    tall = 20 + (len(names) + 1) * (_ROW + _GAP) + _GAP
    notes = _clashes(columns)
    wide = left + max(1, len(columns)) * (_BOX + _GAP)
    table = Scene(wide, tall, tuple(items))
    return stack([table, *(line(note, FAULT) for note in notes)], gap=4)


def _column(column: Column, x: float) -> list[Item]:
    clash = column.result is None
    edge = FAULT if clash else INK
    items: list[Item] = []
    for row, size in enumerate(column.sizes):
        y = 20 + row * (_ROW + _GAP)
        text = _size_text(size, column.result)
        missing = size is None
        fills = (CARD if missing else fill(row),)
        items.append(Box(x, y, _BOX, _ROW, text, fills, edge, INK, dashed=missing))
    y = 20 + len(column.sizes) * (_ROW + _GAP) + _GAP
    text = "?" if clash else str(column.result)
    items.append(Box(x, y, _BOX, _ROW, text, (REST,), edge, FAULT if clash else INK))
    return items


def _size_text(size: int | None, result: int | None) -> str:
    """A size, and what it is stretched to; a missing one stands as a 1 in brackets."""
    text = "(1)" if size is None else str(size)
    stretched = size in (None, 1) and result not in (None, 1)
    return f"{text} → {result}" if stretched else text


def _clashes(columns: Sequence[Column]) -> list[str]:
    words = []
    for place, column in enumerate(columns):
        if column.result is None:
            sizes = [str(size) for size in dict.fromkeys(column.sizes) if size not in (None, 1)]
            words.append(
                f"In dimension {place - len(columns)} the sizes {listed(sizes)} meet, "
                "and none of them is 1: an error."
            )
    return words


def _grids(
    tensors: Sequence[torch.Tensor],
    names: Sequence[str],
    shape: tuple[int, ...],
    operation: Operation | None,
    marked: torch.Tensor | None,
) -> Scene:
    scenes = [
        _stretched(tensor, name, shape, number)
        for number, (tensor, name) in enumerate(zip(tensors, names, strict=True))
    ]
    if operation is not None:
        result = operation(*(tensor.detach() for tensor in tensors))
        scenes.append(_result_scene(result, _named(operation, names), marked))
    return in_lines(scenes, WIDTH, gap=36)


def _stretched(tensor: torch.Tensor, name: str, shape: tuple[int, ...], number: int) -> Scene:
    """The tensor as it is read: of the result's shape, the repeated elements dashed."""
    view = tensor.detach().expand(shape)
    own = (1,) * (len(shape) - tensor.dim()) + tuple(tensor.shape)

    def look(index: Index) -> tuple[tuple[str, ...], bool]:
        repeated = any(i > 0 and size == 1 for i, size in zip(index, own, strict=True))
        return (CARD if repeated else fill(number),), repeated

    before, after = tuple(tensor.stride()), tuple(view.stride())
    same = tuple(tensor.shape) == shape
    read = "as it is" if same else f"read as {shape}"
    return stack(
        [
            heading(f"{name}   {tuple(tensor.shape)}"),
            line(read, MUTED),
            line(f"stride {before}" + ("" if same else f" → {after}"), MUTED),
            grid_of(shape, texts_of(view), look, WIDTH),
        ],
        gap=2,
    )


def _result_scene(result: torch.Tensor, name: str, marked: torch.Tensor | None) -> Scene:
    def look(index: Index) -> tuple[tuple[str, ...], bool]:
        chosen = marked is not None and bool(marked[index])
        return (fill(3) if chosen else REST,), False

    shape = tuple(result.shape)
    words = f"{result.numel()} elements of its own"
    parts = [heading(f"{name}   {shape}"), line(words, MUTED)]
    if marked is not None:
        parts.append(line(f"{int(marked.sum())} of them marked", MUTED))
    else:
        parts.append(line("", MUTED))
    return stack([*parts, grid_of(shape, texts_of(result), look, WIDTH)], gap=2)


def _alt(tensors: Sequence[torch.Tensor], names: Sequence[str], columns: Sequence[Column]) -> str:
    shapes = listed([str(tuple(tensor.shape)) for tensor in tensors])
    shape = _result(columns)
    if shape is None:
        return f"The shapes {shapes} do not fit. {' '.join(_clashes(columns))}"
    told = [f"The shapes {shapes} give {shape}."]
    for tensor, name in zip(tensors, names, strict=True):
        if tuple(tensor.shape) != shape:
            after = tuple(tensor.expand(shape).stride())
            told.append(f"{name} is read as {shape} with stride {after}.")
    return " ".join(told)
