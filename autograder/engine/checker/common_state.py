"""What all test cells of a lesson find: names, the set-up cell's objects, modes, threads, files."""

from __future__ import annotations

import io
import os
import pickle
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import torch

from course.inspection.global_state import RANDOM_STATE, GlobalState

Files = Mapping[str, tuple[int, ...]]

_IMMUTABLE = frozenset(
    {type(None), bool, int, float, complex, str, bytes, torch.dtype, torch.device}
)
_OF_IPYTHON = frozenset({"In", "Out", "exit", "quit", "get_ipython"})
_NOT_ITS_STATE = frozenset({"__dict__", "__weakref__", "__doc__", "__module__"})


class CommonState:
    """What test cells find at one moment, to be held against what one of them leaves."""

    def __init__(self, names: Mapping[str, Any]) -> None:
        """Look at it; `names` are the shell's."""
        self._names = _own(names)
        self._values = {name: _written(one) for name, one in self._names.items() if not _stays(one)}
        self._state, self._threads = GlobalState(), threading.active_count()
        self._files = _files_here()

    def has_changed(self, names: Mapping[str, Any]) -> bool:
        """Whether another cell might find something else now; random generators may go on."""
        now = _own(names)
        if now.keys() != self._names.keys() or any(now[n] is not self._names[n] for n in now):
            return True
        if threading.active_count() != self._threads or _files_here() != self._files:
            return True
        if any(before is None or _written(now[n]) != before for n, before in self._values.items()):
            return True
        return bool(set(GlobalState().changed_since(self._state)) - {RANDOM_STATE})


def files_in(folder: Path) -> Files:
    """What lies in a folder, without what Python keeps of modules: name to size, times, number."""
    found = {}
    for top, folders, names in os.walk(folder):
        folders[:] = [one for one in folders if one != "__pycache__"]
        for name in (*names, *folders):
            path = os.path.join(top, name)
            with suppress(OSError):
                about = os.lstat(path)
                whole = about.st_size, about.st_mtime_ns, about.st_ino, about.st_mode
                found[os.path.relpath(path, folder)] = whole if name in names else (about.st_mode,)
    return found


def _files_here() -> Files:
    try:
        return files_in(Path.cwd())
    except FileNotFoundError:  # a cell has removed the directory
        return {}


def _own(names: Mapping[str, Any]) -> dict[str, Any]:
    """The names that cells bind, without those that IPython does."""
    return {n: one for n, one in names.items() if n[:1] != "_" and n not in _OF_IPYTHON}


def _stays(value: Any) -> bool:
    """Whether nothing of it is looked at: what cannot change, and other people's code."""
    if isinstance(value, ModuleType):
        return _state_of_module(value) is None
    is_code = isinstance(value, FunctionType | BuiltinFunctionType | type)
    return type(value) in _IMMUTABLE or (is_code and value.__module__ != "__main__")


def _written(value: Any) -> bytes | None:
    """The value with all that it holds, as bytes; None where Python cannot write it."""
    written = io.BytesIO()
    try:
        _Writer(written, pickle.HIGHEST_PROTOCOL).dump(value)
    except Exception:
        return None
    return written.getvalue()


class _Writer(pickle.Pickler):
    """Writes of modules and other people's code the name, of a cell's own code its state, too."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, ModuleType):
            return str, (value.__name__,), _state_of_module(value)
        if isinstance(value, torch.Generator):
            return str, ("a generator",), value.get_state()
        if type(value) is FunctionType and value.__module__ != "__main__":
            return str, (f"{value.__module__}.{value.__qualname__}",)
        if type(value) is FunctionType:
            cells = [_held(one) for one in value.__closure__ or ()]
            state = value.__dict__, value.__defaults__, value.__kwdefaults__, cells
            return str, (value.__qualname__,), state
        if type(value) is type and value.__module__ == "__main__":
            own = {k: v for k, v in vars(value).items() if k not in _NOT_ITS_STATE}
            return str, (value.__qualname__,), own
        if type(value).__module__ == "itertools":
            raise TypeError("Python warns of it")
        return NotImplemented


def _held(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # nothing yet
        return None


def _state_of_module(module: ModuleType) -> Any:
    """What a module that lies beside the notebook holds; of others nothing is looked at."""
    place = getattr(module, "__file__", None)
    if not isinstance(place, str) or not Path(place).is_relative_to(Path.cwd()):
        return None
    return {
        name: one
        for name, one in vars(module).items()
        if name[:2] != "__" and not isinstance(one, ModuleType | FunctionType | type)
    }
