"""What the tests of autograd lessons need: how much a call keeps for backward at any moment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.autograd.graph import saved_tensors_hooks
from torch.overrides import TorchFunctionMode

__all__ = ["kept_for_backward"]


class _Count:
    """How much there is of something now, and how much there was at most."""

    def __init__(self) -> None:
        self.now = self.most = 0

    def add(self, amount: int) -> None:
        self.now += amount
        self.most = max(self.most, self.now)


class _Counted:
    """Counts for as long as it is alive; it may hold a tensor that was saved."""

    def __init__(self, count: _Count, amount: int, tensor: torch.Tensor | None = None) -> None:
        self.count, self.amount, self.tensor = count, amount, tensor
        count.add(amount)

    def __del__(self) -> None:
        self.count.add(-self.amount)


class _Nodes(TorchFunctionMode):
    """Puts a counted object into the metadata of every node, which live as long as the node."""

    def __init__(self, count: _Count) -> None:
        super().__init__()
        self._count = count

    def __torch_function__(
        self, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        made = function(*args, **(kwargs or {}))
        node = made.grad_fn if isinstance(made, torch.Tensor) else None
        metadata: Any = {} if node is None else node.metadata
        if node is not None and _Nodes not in metadata:
            metadata[_Nodes] = _Counted(self._count, 1)
        return made


def kept_for_backward(function: Callable[..., Any], *args: Any) -> dict[str, int]:
    """The most that graphs kept at any moment of a call: bytes of saved tensors, and nodes.

    Nodes are those that made a tensor which the call saw. A tensor that was saved twice counts
    twice.

    >>> w = torch.ones(4, requires_grad=True)
    >>> kept_for_backward(lambda: w.exp().sum())
    {'bytes': 16, 'nodes': 2}
    """
    saved, nodes = _Count(), _Count()

    def pack(tensor: torch.Tensor) -> _Counted:
        return _Counted(saved, tensor.nbytes, tensor)

    with saved_tensors_hooks(pack, lambda one: one.tensor), _Nodes(nodes):
        function(*args)
    return {"bytes": saved.most, "nodes": nodes.most}
