"""The entries of a file of `torch.save`, to scale, with the tensors in them: `show_file`.

What is in a file of `torch.save`, read without running anything that the file asks for.

The pickle inside is followed by an unpickler that imports nothing: a name in the file becomes a
stand-in, so a function that the file wants to call is never even looked up.
"""

from __future__ import annotations

import io
import pickle
import zipfile
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

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

__all__ = ["Contents", "Entry", "Stored", "read_file", "show_file"]

_TENSOR = {("torch._utils", "_rebuild_tensor_v2"), ("torch._utils", "_rebuild_tensor")}
_PARAMETER = {("torch._utils", "_rebuild_parameter")}


@dataclass(frozen=True)
class Entry:
    """An entry of the zip.

    Attributes:
        name: Without the archive's folder, such as "data/0".
        nbytes: Its size, uncompressed.
    """

    name: str
    nbytes: int


@dataclass(frozen=True)
class Stored:
    """A tensor of the file: its name, and which elements of which storage it is.

    Attributes:
        name: Its key in the state dict; keys of nested dicts are joined.
        storage: The entry that holds the storage, such as "data/0".
        numel: That storage's elements.
        offset: Where the tensor begins in it, in elements.
        shape: Its shape.
        stride: Its strides, in elements.
    """

    name: str
    storage: str
    numel: int
    offset: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]

    @property
    def span(self) -> tuple[int, int]:
        """The first element of the storage that the tensor reaches, and the one after its last."""
        if 0 in self.shape:
            return self.offset, self.offset
        steps = zip(self.shape, self.stride, strict=True)
        return self.offset, self.offset + sum((n - 1) * step for n, step in steps) + 1


@dataclass(frozen=True)
class Contents:
    """A file of `torch.save`, read without running what it names.

    Attributes:
        name: The file's own, without folders.
        nbytes: The size of the file.
        entries: The entries of the zip, in their order.
        tensors: The tensors that its pickle names.
    """

    name: str
    nbytes: int
    entries: tuple[Entry, ...]
    tensors: tuple[Stored, ...]


def read_file(path: str | Path) -> Contents:
    """What the file at `path` holds.

    Args:
        path: A file that `torch.save` wrote, as a zip.

    Raises:
        ValueError: it is no zip, or no entry of it is a `data.pkl`.
    """
    path = Path(path)
    if not zipfile.is_zipfile(path):
        raise ValueError(f"{path.name} is no zip; torch.save() has written one since 1.6.")
    with zipfile.ZipFile(path) as archive:
        infos = archive.infolist()
        found = [info.filename for info in infos if info.filename.endswith("data.pkl")]
        if not found:
            raise ValueError(f"{path.name} has no data.pkl, so torch.save() didn't write it.")
        folder = found[0].removesuffix("data.pkl")
        told = _Reader(io.BytesIO(archive.read(found[0]))).load()
    entries = tuple(Entry(info.filename.removeprefix(folder), info.file_size) for info in infos)
    return Contents(path.name, path.stat().st_size, entries, tuple(_named(told)))


class _Unknown(dict[Any, Any]):
    """What stands for an object whose class nobody imported; it keeps its state to be searched."""

    __hash__ = object.__hash__  # type: ignore[assignment]  # it may be a key, or in a set

    def __init__(self, *_: object, **__: object) -> None:
        super().__init__()

    def __call__(self, *_: object, **__: object) -> _Unknown:
        return _Unknown()

    def __setstate__(self, state: object) -> None:
        self["state"] = state

    def append(self, item: object) -> None:
        """Take one more item, as a list would."""
        self[len(self)] = item

    def extend(self, items: Any) -> None:
        """Take more items, as a list would."""
        for item in items:
            self.append(item)


class _Reader(pickle.Unpickler):
    """An unpickler that imports nothing."""

    def find_class(self, module: str, name: str) -> Any:
        """A stand-in for what the file names."""
        if (module, name) in _TENSOR:
            return _tensor
        if (module, name) in _PARAMETER:
            return _parameter
        return OrderedDict if (module, name) == ("collections", "OrderedDict") else _Unknown

    def persistent_load(self, pid: Any) -> Any:
        """A storage: its entry and its elements; the bytes are not read."""
        return f"data/{pid[2]}", int(pid[4])


def _tensor(storage: Any, offset: int, shape: Any, stride: Any, *_: object) -> Stored:
    return Stored("", storage[0], storage[1], offset, tuple(shape), tuple(stride))


def _parameter(data: Stored, *_: object) -> Stored:
    return data


def _named(told: object, name: str = "") -> Iterator[Stored]:
    """The tensors within, each under the path of keys that leads to it."""
    if isinstance(told, Stored):
        yield Stored(name or "(the object)", *list(vars(told).values())[1:])
    elif isinstance(told, Mapping):
        for key, value in told.items():
            inside = isinstance(told, _Unknown) or str(key) in ("_parameters", "_buffers")
            yield from _named(value, name if inside else _joined(name, str(key)))
    elif isinstance(told, list | tuple):
        for number, value in enumerate(told):
            yield from _named(value, _joined(name, str(number)))


def _joined(name: str, key: str) -> str:
    key = "" if key in ("_modules",) else key
    return f"{name}.{key}" if name and key else name or key


_LEFT, _BARS, _NUMBER = 160.0, 270.0, 66.0  # px: the entry's name, its bar, its bytes
_ROW, _BAR = 21.0, 15.0
_MOST = 12  # rows of a file; what is beyond is counted
_CAPTION = "A row for each entry of the zip, its bar to scale in bytes."
# Where a storage is larger than what its tensors reach.
_BALLAST = (
    " The coloured part of a storage is what its tensors reach; the grey part travels with them "
    "all the same."
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
    caption = _CAPTION + _BALLAST * any(map(_has_ballast, files))
    return Picture(partial(paint, scene), alt=" ".join(map(_words, files)), caption=caption)


def _has_ballast(file: Contents) -> bool:
    """Whether a storage of this file has elements that none of its tensors reaches."""
    ends: dict[str, int] = {}
    for one in sorted(file.tensors, key=lambda one: one.span):
        start, stop = one.span
        if start > ends.get(one.storage, 0):
            return True
        ends[one.storage] = max(stop, ends.get(one.storage, 0))
    return any(ends[one.storage] < one.numel for one in file.tensors)


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
