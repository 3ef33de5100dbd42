"""The words that a proof may use: errors, warnings, operators, storages, bytes, pinning, times.

error_of(lambda: torch.ones(2).view(3))     # "RuntimeError: shape '[3]' is invalid …"
operators_of(lambda: x @ w.T)               # ["permute", "mm"]
"""

import threading
import time
import warnings
import weakref
from collections.abc import Callable
from typing import Any
from unittest import mock

import torch
from torch.utils._python_dispatch import TorchDispatchMode

__all__ = [
    "KeptByGraphs",
    "best_time",
    "error_of",
    "first_line",
    "operators_of",
    "pinnings_of",
    "same_storage",
    "saved_nbytes",
    "warnings_of",
]


def error_of(function: Callable[[], object]) -> str:
    """`"TypeOfError: first line of its message"`, or `""` when the call goes through."""
    try:
        function()
    except Exception as error:
        return f"{type(error).__name__}: {first_line(error)}"
    return ""


def warnings_of(function: Callable[[], object]) -> list[str]:
    """The warnings of the call, each as `"Category: first line"`."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function()
    return [f"{w.category.__name__}: {first_line(w.message)}" for w in caught]


def same_storage(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two tensors rest on one storage."""
    return a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()


class _Operators(TorchDispatchMode):
    """Notes the name of each operator and runs it."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(  # type: ignore[no-untyped-def]  # torch calls it with its own types
        self,
        func,
        types,
        args=(),
        kwargs=None,
    ) -> object:
        self.names.append(func.overloadpacket.__name__)
        return func(*args, **(kwargs or {}))


def operators_of(function: Callable[[], object]) -> list[str]:
    """The names of the operators that PyTorch ran for the call, in order: `["t", "mm"]`."""
    with _Operators() as operators:
        function()
    return operators.names


def saved_nbytes(function: Callable[[], object]) -> int:
    """The bytes that autograd keeps for backward because of the call, each storage once."""
    storages: dict[int, int] = {}

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        storages[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        kept = function()  # kept: while the result lives, no address is used twice
    del kept
    return sum(storages.values())


class _Kept:
    """One tensor that a graph keeps; it dies with the graph."""

    def __init__(self, tensor: torch.Tensor) -> None:
        storage = tensor.untyped_storage()
        self.tensor = tensor.detach()  # the tensor itself may hold the graph: a cycle
        self.key, self.nbytes = storage.data_ptr(), storage.nbytes()


class KeptByGraphs(torch.autograd.graph.saved_tensors_hooks):
    """While the block is open, `.nbytes` is what living graphs keep for backward at the moment.

    Each storage counts once. `with KeptByGraphs() as kept: …` sees graphs built inside.
    """

    def __init__(self) -> None:
        self._living: weakref.WeakSet[_Kept] = weakref.WeakSet()
        super().__init__(self._pack, lambda kept: kept.tensor)

    def _pack(self, tensor: torch.Tensor) -> _Kept:
        kept = _Kept(tensor)
        self._living.add(kept)
        return kept

    def __enter__(self) -> "KeptByGraphs":  # type: ignore[override]  # torch gives None
        super().__enter__()
        return self

    @property
    def nbytes(self) -> int:
        """The bytes kept now."""
        return sum({kept.key: kept.nbytes for kept in self._living}.values())


def pinnings_of(function: Callable[[], object]) -> list[tuple[str, tuple[int, ...]]]:
    """Each `Tensor.pin_memory()` during the call: in "this thread" or another, and of which shape.

    Loaders pin only where there is an accelerator; here they are told that there is one, and a
    plain copy stands for the pinned one.
    """
    here = threading.current_thread()
    pinned: list[tuple[str, tuple[int, ...]]] = []

    def pin_memory(tensor: torch.Tensor) -> torch.Tensor:
        where = "this thread" if threading.current_thread() is here else "another thread"
        pinned.append((where, tuple(tensor.shape)))
        return tensor.clone()

    accelerator: dict[str, Any] = {
        "is_available": lambda: True,
        "current_accelerator": lambda: None,  # MPS would be told apart, and does not pin
        "current_device_index": lambda: 0,
        "set_device_index": lambda index: None,
    }
    with (
        mock.patch.multiple(torch.accelerator, **accelerator),
        mock.patch.object(torch.Tensor, "pin_memory", pin_memory),
    ):
        function()
    return pinned


def best_time(function: Callable[[], object], runs: int = 7) -> float:
    """The shortest of several runs in seconds; the others were disturbed by something else."""
    function()
    times = []
    for _ in range(runs):
        started = time.perf_counter()
        function()
        times.append(time.perf_counter() - started)
    return min(times)


def first_line(message: object) -> str:
    """The first line of a message that may have many, or none."""
    return (str(message).splitlines() or [""])[0]
