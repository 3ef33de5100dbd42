"""What all test cells of a lesson find: names, the set-up cell's objects, modes, threads."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from course.inspection.global_state import RANDOM_STATE, GlobalState

# What a test cell may change without binding a name.
_MUTABLE = list | dict | set | bytearray | torch.Tensor | np.ndarray | torch.nn.Module
_OF_IPYTHON = frozenset({"In", "Out", "exit", "quit"})


class CommonState:
    """What test cells find at one moment, to be held against what one of them leaves."""

    def __init__(self, names: Mapping[str, Any]) -> None:
        """Look at it; `names` are the shell's."""
        self._names = _own(names)
        self._values = {
            name: _written(one) for name, one in self._names.items() if isinstance(one, _MUTABLE)
        }
        self._state, self._threads = GlobalState(), threading.active_count()

    def has_changed(self, names: Mapping[str, Any]) -> bool:
        """Whether another cell would find something else now; random generators may go on."""
        now = _own(names)
        if now.keys() != self._names.keys() or any(now[n] is not self._names[n] for n in now):
            return True
        if threading.active_count() != self._threads:
            return True
        if any(_written(now[name]) != before for name, before in self._values.items()):
            return True
        return bool(set(GlobalState().changed_since(self._state)) - {RANDOM_STATE})


def _own(names: Mapping[str, Any]) -> dict[str, Any]:
    """The names that cells bind, without those that IPython does."""
    return {n: one for n, one in names.items() if n[:1] != "_" and n not in _OF_IPYTHON}


def _written(value: Any) -> bytes | None:
    try:
        return pickle.dumps(value)
    except Exception:  # it cannot be: a list with a function of the cell's, for example
        return None
