"""What is in a file of `torch.save`, read without running anything that the file asks for.

The pickle inside is followed by an unpickler that imports nothing: a name in the file becomes a
stand-in, so a function that the file wants to call is never even looked up.
"""

from __future__ import annotations

import io
import pickle
import zipfile
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["Contents", "Entry", "Stored", "read_file"]

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
