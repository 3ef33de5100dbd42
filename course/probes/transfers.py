"""What the tests of copies to a device look through: what arrived, from where, and when."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.data import DataLoader

from course import gpu
from course.inspection.class_names import class_name
from course.probes.decorator import probe
from course.probes.sealing import sealed

__all__ = ["copies_asked", "delivered", "fetched", "pinned_batches"]

_BUSY = 200_000_000  # cycles that a real device is kept busy, or copies would be there by luck
Pair = namedtuple("Pair", "x y")


class _Movable:
    """No tensor, though it has a method `to`, as modules have."""

    def to(self, *args: Any, **options: Any) -> str:
        return "moved"


def _described(part: Any, device: str) -> Any:
    """Where each tensor is, with its values; the containers around it, and the rest."""
    if isinstance(part, torch.Tensor):
        place = "device" if part.device.type == device else part.device.type
        return f"{place} {part.tolist()}"
    if isinstance(part, dict):
        return {key: _described(value, device) for key, value in part.items()}
    if isinstance(part, list | tuple):
        return [class_name(part), *(_described(one, device) for one in part)]
    return "left alone" if isinstance(part, _Movable) else part


@probe
def delivered(
    move: Callable[..., Any],
    batch: Any,
    loader: bool = False,
    named: bool = False,
    busy: bool = False,
    movable: bool = False,
) -> dict[str, Any]:
    """What arrives of a batch, or of all batches of a pinning loader over its rows.

    For each tensor where it is, with its values, and the containers around it. The same for what
    was passed, and whether the tensors of a loader's batches are pinned afterwards.

    Args:
        move: Called with `(batch, device)`; returns the batch there.
        batch: The batch, or the rows of the loader.
        loader: Whether a loader makes batches of two from it.
        named: Whether the batch comes as a named tuple.
        busy: Whether a real device has work to do before, so that a copy may be late.
        movable: Whether something stands beside the batch that has a method `to` and is no tensor.
    """
    device = gpu.device()
    batch = [batch, _Movable()] if movable else batch
    passed: list[Any] = [Pair(*batch) if named else batch]
    if loader:
        passed = list(DataLoader(batch, batch_size=2, pin_memory=True))
    if busy and not gpu.is_simulated():
        torch.cuda._sleep(_BUSY)
    moved = [move(one, device) for one in passed]
    gpu.synchronize()
    pinned = [one.is_pinned() for batch in passed for one in batch.values()] if loader else []
    told = [_described(found, device.type)[1:] for found in (moved, passed)]
    return {"moved": told[0], "passed": told[1], "pinned": pinned}


class _Log(TorchDispatchMode):
    """Notes each copy between two tensors: its source, its result, whether it may go on."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[torch.Tensor, torch.Tensor, bool]] = []

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # Else the first copy in a process imports torch._dynamo and sympy for it (torch 2.13).
        return False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        if func is torch.ops.aten.copy_.default:
            self.asked.append((args[1], result, (*args, False)[2]))
        elif func is torch.ops.aten._to_copy.default:
            self.asked.append((args[0], result, kwargs.get("non_blocking", False)))
        return result


@probe
def copies_asked(move: Callable[..., Any], count: int, pinned: bool = True) -> dict[str, Any]:
    """Each copy of a batch: from pinned memory, of a tensor given, without waiting; the last one.

    Its source is overwritten when `move` returns. A copy that is still under way reads that.

    Args:
        move: Called with `(batch, device)`; returns the batch there.
        count: The tensors of the batch.
        pinned: Whether they are pinned before.
    """
    device = gpu.device()
    batch = [torch.full((3,), n + 1.0) for n in range(count)]
    batch = [one.pin_memory() for one in batch] if pinned else batch
    if not gpu.is_simulated():
        torch.cuda._sleep(_BUSY)
    number = {one.data_ptr(): n for n, one in enumerate(batch, 1)}
    with _Log() as log:
        found = move(batch, device)
    batch[-1].fill_(-1)
    gpu.synchronize()
    there = [one for one in log.asked if one[0].is_cpu and not one[1].is_cpu]
    return {
        "pinned": [source.is_pinned() for source, _, _ in there],
        "given": [bool(number.get(source.data_ptr())) for source, _, _ in there],
        "without waiting": [go_on for _, _, go_on in there],
        "last": found[-1].tolist(),
    }


@probe
def fetched(fetch: Callable[..., Any], values: Sequence[torch.Tensor]) -> dict[str, Any]:
    """What has arrived when `fetch(tensors, synchronize)` returns, and how each copy was asked.

    Args:
        fetch: Returns the tensors on the CPU; calling `synchronize` waits for the device.
        values: What the tensors on the device hold.
    """
    tensors = [one.to(gpu.device()) for one in values]
    waits: list[int] = []

    def synchronize() -> None:
        waits.append(1)
        gpu.synchronize()

    if not gpu.is_simulated():
        torch.cuda._sleep(_BUSY)
    with _Log() as log:
        found = fetch(tensors, sealed(synchronize))
    arrived = [one.clone() for one in found]
    gpu.synchronize()
    home = [one for one in log.asked if one[1].is_cpu and not one[0].is_cpu]
    return {
        "class": class_name(found),
        "arrived": arrived,
        "kinds": [[one.device.type, one.is_pinned()] for one in found],
        "waits": len(waits),
        "without waiting": [one[2] for one in home],
    }


def _pinned_both(batches: Sequence[Any]) -> list[list[bool]]:
    return [[one.tokens.is_pinned(), one.lengths.is_pinned()] for one in batches]


@probe
def pinned_batches(make: Callable[..., Any], count: int) -> dict[str, Any]:
    """What a pinning loader makes of padded batches, and what is left of the first ones.

    Args:
        make: Called with tokens and lengths; returns a batch with `tokens`, `lengths` and
            `pin_memory`.
        count: The samples of the epoch, two a batch.
    """
    gpu.device()
    made: list[Any] = []

    def collate(rows: list[int]) -> Any:
        made.append(make(torch.tensor(rows)[:, None].expand(-1, 3) * 1, torch.tensor(rows)))
        return made[-1]

    numbers: Any = range(count)
    batches = list(DataLoader(numbers, 2, pin_memory=True, collate_fn=collate))
    if any(batch is None for batch in batches):
        return {"pinned": "nothing"}
    return {
        "pinned": _pinned_both(batches),
        "own": _pinned_both(made),
        "values": [[one.tokens.tolist(), one.lengths.tolist()] for one in batches],
        "classes": [[class_name(one) for one in pair] for pair in (batches, made)],
    }
