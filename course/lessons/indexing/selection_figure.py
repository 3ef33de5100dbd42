"""Which elements of a tensor an expression selects, from which slots, as a view or a copy.

A small storage as a line of boxes, those that a selection touches in colour.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import torch

from course.figures.palette import CARD, FAULT, INK, MUTED, fill
from course.figures.picture import Picture, drawing
from course.figures.scene import (
    TEXT,
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
from course.inspection.facts import facts, positions, same_storage
from course.lessons.indexing.element_grid import (
    Index,
    as_text,
    grid_of,
    in_lines,
    indices_of,
    texts_of,
)
from course.lessons.indexing.index_expressions import Expression, ExpressionError, parse_expression

__all__ = [
    "Selection",
    "pictured",
    "select",
    "show_index",
    "slot_words",
    "slots_scene",
    "unselected",
]

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


_MOST_SOURCE, _MOST_RESULT = 48, 60  # elements that are drawn
_MOST_LISTED = 12  # slots, or runs of slots, that an alt text names


@dataclass(frozen=True)
class Selection:
    """What an expression gave: its result and where each of its elements comes from, or why not.

    `slots` are the storage positions in the tensor that was selected from, by the index in the
    result.
    """

    code: str
    result: torch.Tensor | None = None
    slots: dict[Index, int] | None = None
    shares: bool = False
    error: str = ""

    @property
    def kind(self) -> str:
        """What the expression gives: "view", "copy" or "error"."""
        if self.result is None:
            return "error"
        return "view" if self.shares else "copy"


def show_index(tensor: torch.Tensor, *expressions: str, name: str = "x") -> Picture:
    """A picture of what each expression selects from a small tensor, and from which slots.

    Each colour is one row of the result. A view is drawn with its strides over the same storage, a
    copy with a storage of its own.

    Args:
        tensor: 1 to 48 elements, in a storage as small.
        expressions: What you would type, such as `"x[:, 1]"`; they are read, not executed.
        name: What the tensor is called in them.

    Raises:
        ValueError: The tensor is too large or empty, or an expression cannot be read.

    >>> print(show_index(torch.arange(12).view(3, 4), "x[:, 1]").alt)
    x[:, 1] is a view of shape (3,), on slots 1, 5 and 9.
    """
    if not 0 < tensor.numel() <= _MOST_SOURCE or facts(tensor).storage_nbytes > 8 * _MOST_SOURCE:
        raise ValueError(
            f"show_index() draws 1 to {_MOST_SOURCE} elements of a storage as small; "
            f"{name} has shape {tuple(tensor.shape)}."
        )
    return pictured(tensor, [select(tensor, parse_expression(one)) for one in expressions], name)


def select(tensor: torch.Tensor, expression: Expression) -> Selection:
    """What the expression selects from the tensor."""
    where = torch.tensor(positions(tensor), dtype=torch.int64).view(tensor.shape)
    try:
        result = expression.of(tensor.detach())
        origin = expression.along(tensor.detach(), where)
    except ExpressionError as error:
        return Selection(expression.code, error=str(error))
    slots = dict(zip(indices_of(origin.shape), origin.reshape(-1).tolist(), strict=True))
    return Selection(expression.code, result, slots, same_storage(result, tensor))


def pictured(tensor: torch.Tensor, selections: Sequence[Selection], name: str) -> Picture:
    """The picture of these selections from one tensor."""
    words = " ".join(map(_words, selections))
    if not drawing():
        return Picture(lambda: paint(Scene(1, 1)), alt=words)
    scene = stack([_scene(tensor.detach(), one, name) for one in selections], gap=26)
    caption = "Each colour is one row of the result. White cells and slots are not selected."
    return Picture(partial(paint, scene), alt=words, caption=caption)


def unselected(tensor: torch.Tensor, name: str) -> Picture:
    """The picture of a tensor and its storage before anything is selected from it."""
    words = f"{name} of shape {tuple(tensor.shape)}, on {slot_words(positions(tensor))}."
    if not drawing():
        return Picture(lambda: paint(Scene(1, 1)), alt=words)
    head = line(f"{name}   {tuple(tensor.shape)}")
    slots = slots_scene(tensor, f"storage of {name}", {}, {}, WIDTH)
    scene = stack([head, _source(tensor, {}), slots], gap=4)
    return Picture(partial(paint, scene), alt=words, caption="Nothing is selected yet.")


def _words(one: Selection) -> str:
    if one.result is None or one.slots is None:
        return one.error if one.error.endswith(".") else f"{one.error}."
    how = "on" if one.shares else "made from"
    where = slot_words(list(one.slots.values()))
    return f"{one.code} is a {one.kind} of shape {tuple(one.result.shape)}, {how} {where}."


def slot_words(slots: Sequence[int]) -> str:
    """The slots in words and in their order, those that follow each other as one run.

    >>> slot_words([1, 5, 6, 7, 8]), slot_words([]), slot_words([4])
    ('slots 1 and 5 to 8', 'no slot', 'slot 4')
    """
    runs: list[list[int]] = []
    for slot in slots:
        if runs and slot == runs[-1][-1] + 1:
            runs[-1].append(slot)
        else:
            runs.append([slot])
    words = [w for run in runs for w in _run_words(run)]
    if len(words) > _MOST_LISTED:
        words = [*words[:_MOST_LISTED], f"{len(slots)} in all"]
    return f"slot{'s' if len(slots) > 1 else ''} {listed(words)}" if words else "no slot"


def _run_words(run: Sequence[int]) -> list[str]:
    return [f"{run[0]} to {run[-1]}"] if len(run) > 3 else [str(slot) for slot in run]


def _scene(tensor: torch.Tensor, one: Selection, name: str) -> Scene:
    if one.result is None or one.slots is None:
        return stack([heading(one.code), line(one.error, FAULT)], gap=2)
    colours = _colours(one.slots, one.result.dim())
    source = stack([line(f"{name}   {tuple(tensor.shape)}"), _source(tensor, colours)], gap=2)
    grids = in_lines([source, _result(one)], WIDTH, gap=48)
    counts = dict.fromkeys(colours, 0)
    for slot in one.slots.values():
        counts[slot] += 1
    parts = [heading(f"{one.code}   {_in_words(one)}"), grids]
    parts.append(slots_scene(tensor, f"storage of {name}", colours, counts, WIDTH))
    if not one.shares and one.result.numel():
        own = _flat(one)
        parts.append(slots_scene(own[0], "storage of the copy", own[1], {}, WIDTH))
    return stack(parts, gap=8)


def _in_words(one: Selection) -> str:
    assert one.result is not None
    seen = facts(one.result)
    if one.shares:
        return f"a view: stride {seen.stride}, offset {seen.storage_offset}"
    return f"a copy: {seen.storage_nbytes} bytes of its own"


def _row(index: Index, shape: Sequence[int]) -> int:
    """The number of the row that an element of this shape stands in."""
    row = 0
    for size, i in zip(shape[:-1], index[:-1], strict=True):
        row = row * size + i
    return row


def _colours(slots: dict[Index, int], rank: int) -> dict[int, tuple[str, ...]]:
    """The colours of each slot: those of the result's rows that it appears in."""
    shape = [1 + max((index[axis] for index in slots), default=0) for axis in range(rank)]
    found: dict[int, dict[str, None]] = {}
    for index, slot in slots.items():
        found.setdefault(slot, {})[fill(_row(index, shape))] = None
    return {slot: tuple(colours) for slot, colours in found.items()}


def _source(tensor: torch.Tensor, colours: dict[int, tuple[str, ...]]) -> Scene:
    where = dict(zip(indices_of(tensor.shape), positions(tensor), strict=True))

    def look(index: Index) -> tuple[tuple[str, ...], bool]:
        return colours.get(where[index], (CARD,)), False

    return grid_of(tuple(tensor.shape), texts_of(tensor), look, WIDTH)


def _result(one: Selection) -> Scene:
    assert one.result is not None
    shape = tuple(one.result.shape)
    title = line(f"result   {shape}")
    if one.result.numel() > _MOST_RESULT:
        return stack([title, line(f"{one.result.numel()} elements: too many to draw", MUTED)])

    def look(index: Index) -> tuple[tuple[str, ...], bool]:
        return (fill(_row(index, shape)),), False

    return stack([title, grid_of(shape, texts_of(one.result), look, WIDTH)], gap=2)


def _flat(one: Selection) -> tuple[torch.Tensor, dict[int, tuple[str, ...]]]:
    """The copy and the colour of each of its slots."""
    assert one.result is not None
    shape = tuple(one.result.shape)
    places = zip(indices_of(shape), positions(one.result), strict=True)
    return one.result, {place: (fill(_row(index, shape)),) for index, place in places}
