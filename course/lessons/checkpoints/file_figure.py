"""The entries of a file of `torch.save`, to scale, with the tensors in them: `show_file`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from course.figures.palette import CARD, MUTED, REST, RULE, fill
from course.figures.picture import Picture, drawing
from course.figures.scene import (
    WIDTH,
    Box,
    Item,
    Label,
    Scene,
    heading,
    paint,
    stack,
    text_width,
)
from course.lessons.checkpoints.file_contents import Contents, Entry, Stored, read_file

__all__ = ["show_file"]

_LEFT, _BARS, _NUMBER = 160.0, 270.0, 66.0  # px: the entry's name, its bar, its bytes
_ROW, _BAR = 21.0, 15.0
_MOST = 12  # rows of a file; what is beyond is counted
_CAPTION = (
    "A row for each entry of the zip, its bar to scale in bytes. The coloured part of a storage is "
    "what its tensors reach; the grey part travels with them all the same."
)


def show_file(*paths: str | Path) -> Picture:
    """A picture of what lies in these files of `torch.save`, all to the same scale.

    The files are only read: no code that they name is imported or run. The five entries of a few
    bytes that every file has share a row, as do the zip's own headers and padding.

    Args:
        paths: One file or more.

    Raises:
        ValueError: no path is given, or a file wasn't written by `torch.save`.
    """
    if not drawing():
        return Picture(lambda: paint(Scene(1, 1)), alt="Figures are not drawn in this process.")
    if not paths:
        raise ValueError("show_file() draws files: give it at least one path.")
    files = [read_file(path) for path in paths]
    most = max(nbytes for file in files for _, nbytes, _ in _rows(file))
    scene = stack([_file_scene(file, most) for file in files], gap=14)
    return Picture(partial(paint, scene), alt=" ".join(map(_words, files)), caption=_CAPTION)


Row = tuple[str, int, tuple[Stored, ...]]


def _rows(file: Contents) -> list[Row]:
    """The pickle, the storages, and what is left, each with its bytes and its tensors."""
    kept = [entry for entry in file.entries if entry.name == "data.pkl" or _is_storage(entry)]
    small = [entry for entry in file.entries if entry not in kept]
    rows: list[Row] = [
        (entry.name, entry.nbytes, tuple(one for one in file.tensors if one.storage == entry.name))
        for entry in kept
    ]
    if len(rows) > _MOST:
        rest = rows[_MOST:]
        among = tuple(one for row in rest for one in row[2])
        rows = [*rows[:_MOST], (f"{len(rest)} more storages", sum(row[1] for row in rest), among)]
    rows.append((f"{len(small)} small entries", sum(entry.nbytes for entry in small), ()))
    inside = sum(entry.nbytes for entry in file.entries)
    return [*rows, ("headers and padding", file.nbytes - inside, ())]


def _is_storage(entry: Entry) -> bool:
    return entry.name.startswith("data/")


def _file_scene(file: Contents, most: int) -> Scene:
    items: list[Item] = []
    for number, (name, nbytes, tensors) in enumerate(_rows(file)):
        middle = number * _ROW + _ROW / 2
        items.append(Label(0, middle, name))
        items += _bar(middle - _BAR / 2, nbytes, tensors, _BARS * nbytes / most, number)
        right = _LEFT + _BARS + _NUMBER
        items.append(Label(right, middle, f"{nbytes:,}", "right", MUTED))
        items.append(Label(right + 14, middle, _in_words(name, tensors, WIDTH - right - 14)))
    body = Scene(WIDTH, len(_rows(file)) * _ROW, tuple(items))
    return stack([heading(f"{file.name}: {file.nbytes:,} bytes"), body], gap=2)


def _bar(y: float, nbytes: int, tensors: Sequence[Stored], width: float, n: int) -> Iterator[Box]:
    """The entry as long as it has bytes, and what its tensors reach in colour."""
    width = max(width, 1.0)
    ground = REST if tensors else CARD
    yield Box(_LEFT, y, width, _BAR, fills=(ground,), edge=RULE)
    for start, stop in sorted({one.span for one in tensors}):
        if nbytes and tensors[0].numel and stop > start:
            unit = width / tensors[0].numel
            reach = max(1.0, (stop - start) * unit)
            yield Box(_LEFT + start * unit, y, reach, _BAR, fills=(fill(n),), edge=RULE)


def _in_words(name: str, tensors: Sequence[Stored], room: float) -> str:
    """The tensors of an entry, as many as have room."""
    if not tensors:
        return {"data.pkl": "the program that puts it together"}.get(name, "")
    words = [f"{one.name} {one.shape}" for one in tensors]
    for shown in range(len(words), 0, -1):
        more = f" and {len(words) - shown} more" if shown < len(words) else ""
        if text_width(", ".join(words[:shown]) + more) <= room:
            return ", ".join(words[:shown]) + more
    return f"{len(words)} tensor{'s' * (len(words) > 1)}"


def _words(file: Contents) -> str:
    rows = []
    for name, nbytes, tensors in _rows(file):
        among = f" with {', '.join(f'{one.name} {one.shape}' for one in tensors)}" * bool(tensors)
        rows.append(f"{name} {nbytes}{among}")
    return f"{file.name}, {file.nbytes} bytes: {'; '.join(rows)}."
