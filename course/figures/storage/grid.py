"""The logical side of a storage figure: a tensor as cells in rows, columns and slabs."""

from __future__ import annotations

from itertools import product

from course.figures.palette import INK, MUTED, RULE
from course.figures.scene import (
    TEXT,
    Arrow,
    Box,
    Item,
    Label,
    Scene,
    beside,
    flow,
    stack,
    text_width,
)
from course.figures.storage.layouts import Index, Subject, cells_of, position_of

__all__ = ["cell_width", "grid_scene"]

CELL_HEIGHT = 30.0
_INDEX = 17.0  # room for a row's or a column's index
_ARROW = 14.0  # room for an arrow beside them


def cell_width(texts: list[str]) -> float:
    """The width in which each of these texts stands with air around it, 32 px or more."""
    return max(32.0, *(text_width(text, TEXT) + 8 for text in texts), 32.0)


def grid_scene(subject: Subject, width: float, *, titled: bool) -> Scene:
    """The tensor as cells, from three dimensions on as 2-d slabs; titled, its name stands above."""
    body = _no_elements() if 0 in subject.facts.shape else flow(_slabs(subject), width, gap=14)
    if not titled:
        return body
    size = " × ".join(map(str, subject.facts.shape)) or "0-d"
    if len(subject.facts.shape) == 1:
        size = f"size {size}"  # a number alone would read as a value
    title = Label(0, 8, f"{subject.name}   {size}", size=TEXT, bold=True)
    return stack([Scene(text_width(title.text, TEXT, bold=True), 20, (title,)), body], gap=4)


def _no_elements() -> Scene:
    box = Box(0, 0, 110, CELL_HEIGHT, "no elements", edge=RULE, ink=MUTED, dashed=True)
    return Scene(110, CELL_HEIGHT, (box,))


def _slabs(subject: Subject) -> list[Scene]:
    cell = cell_width([subject.text_at(c.position) for c in cells_of(subject)])
    outer = subject.picks[:-2]
    scenes: list[Scene] = []
    for prefix in product(*outer):
        if None in prefix:
            if not scenes or scenes[-1] is not _GAP:
                scenes.append(_GAP)
            continue
        if len(scenes) == 1 and prefix[-1] == 1:
            scenes.append(_step_between(subject, cell))
        scenes.append(_slab(subject, tuple(i for i in prefix if i is not None), cell, not scenes))
    return scenes


_GAP = Scene(20, CELL_HEIGHT, (Label(10, CELL_HEIGHT / 2, "…", "center", size=TEXT),))


def _step_between(subject: Subject, cell: float) -> Scene:
    """The arrow from the first slab to the second, with the stride that leads there."""
    text = f"+{subject.facts.stride[-3]}"
    width = max(30.0, text_width(text) + 4)
    rows = len(subject.picks[-2])
    middle = rows * CELL_HEIGHT / 2
    items = (Label(width / 2, middle - 11, text, "center"), Arrow(((0, middle), (width, middle))))
    return Scene(width, rows * CELL_HEIGHT, items)


def _slab(subject: Subject, prefix: Index, cell: float, first: bool) -> Scene:
    """One 2-d slab with its indices; the first one also says what a step costs."""
    rank = len(subject.facts.shape)
    rows = subject.picks[-2] if rank > 1 else (0,)
    columns = subject.picks[-1] if rank else (0,)
    cells = _cells(subject, prefix, rows, columns, cell)
    parts = [cells]
    if rank:
        parts.insert(0, _column_indices(columns, cell))
    if first and rank and subject.facts.shape[-1] > 1:
        parts.insert(0, _step_right(subject, cell))
    if prefix:
        name = f"[{', '.join(map(str, prefix))}, :, :]"
        parts.insert(0, Scene(text_width(name), 18, (Label(0, 9, name, ink=INK),)))
    body = stack(parts)
    if rank < 2:
        return body
    left = [_row_indices(rows)]
    if first and subject.facts.shape[-2] > 1:
        left.insert(0, _step_down(subject, len(rows)))
    return beside([*left, body])


def _cells(
    subject: Subject,
    prefix: Index,
    rows: tuple[int | None, ...],
    columns: tuple[int | None, ...],
    cell: float,
) -> Scene:
    rank = len(subject.facts.shape)
    items: list[Item] = []
    for (r, row), (c, column) in product(enumerate(rows), enumerate(columns)):
        x, y = c * cell, r * CELL_HEIGHT
        if row is None or column is None:
            items.append(Label(x + cell / 2, y + CELL_HEIGHT / 2, "…", "center", size=TEXT))
            continue
        index = (*prefix, row, column)[-rank:] if rank else ()
        text = subject.text_at(position_of(subject.facts, index))
        items.append(Box(x, y, cell, CELL_HEIGHT, text, (subject.fill_of(index),)))
    return Scene(len(columns) * cell, len(rows) * CELL_HEIGHT, tuple(items))


def _column_indices(columns: tuple[int | None, ...], cell: float) -> Scene:
    labels = tuple(
        Label((c + 0.5) * cell, _INDEX / 2, str(column), "center", MUTED)
        for c, column in enumerate(columns)
        if column is not None
    )
    return Scene(len(columns) * cell, _INDEX, labels)


def _row_indices(rows: tuple[int | None, ...]) -> Scene:
    width = 4 + max(text_width(str(row)) for row in rows if row is not None)
    labels = tuple(
        Label(width - 5, (r + 0.5) * CELL_HEIGHT, str(row), "right", MUTED)
        for r, row in enumerate(rows)
        if row is not None
    )
    return Scene(width, len(rows) * CELL_HEIGHT, labels)


def _step_right(subject: Subject, cell: float) -> Scene:
    text = f"+{subject.facts.stride[-1]}"
    start, end, y = cell * 0.5, cell * 1.5, _ARROW / 2
    items = (Arrow(((start, y), (end, y))), Label(end + 5, y, text))
    return Scene(end + 5 + text_width(text), _ARROW + 2, items)


def _step_down(subject: Subject, rows: int) -> Scene:
    text = f"+{subject.facts.stride[-2]}"
    width = text_width(text) + _ARROW
    top, bottom = CELL_HEIGHT * 0.5, CELL_HEIGHT * 1.5
    x = width - _ARROW / 2
    items = (Arrow(((x, top), (x, bottom))), Label(x - 6, CELL_HEIGHT, text, "right"))
    return Scene(width, rows * CELL_HEIGHT, items)
