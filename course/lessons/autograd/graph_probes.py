"""What the tests of autograd lessons need: small programs, and what calls keep for backward."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

import torch
from torch.autograd.graph import saved_tensors_hooks
from torch.overrides import TorchFunctionMode

from course.probes.decorator import probe

__all__ = [
    "kept_for_backward",
    "leaves_found",
    "lines_of_walk",
    "loss_rows",
    "snapshots_in_a_step",
    "uses_reversed",
    "with_old_grads",
]

Step = Sequence[Any]  # ("mul", 0, 2) multiplies values 0 and 2 of a program and appends the product


def _values(leaves: Sequence[torch.Tensor], steps: Sequence[Step]) -> list[torch.Tensor]:
    """The leaves of a program, and what each step made."""
    values = list(leaves)
    for name, *places in steps:
        values.append(getattr(torch, name)(*(values[place] for place in places)))
    return values


@probe
def leaves_found(
    find: Callable[..., Any],
    asks: Sequence[bool],
    steps: Sequence[Step],
    ends: Sequence[int] = (),
    shared: bool = False,
) -> list[int] | list[list[int]]:
    """The numbers of the leaves that `find` finds behind the last value of a small program.

    -1 stands for what is none of them.

    Args:
        find: Called with a value; returns leaves.
        asks: Which of the leaves, all of them 1, require grad.
        steps: The program: a step ("mul", 0, 2) multiplies values 0 and 2 and appends the product.
        ends: The numbers of the values to ask about, for each of which there's a list; none for the
            last one alone.
        shared: Whether the leaves are one memory.
    """
    leaves = [torch.ones((), requires_grad=ask) for ask in asks]
    if shared:
        leaves = [leaves[0].detach().requires_grad_(ask) for ask in asks]
    numbers = {id(leaf): number for number, leaf in enumerate(leaves)}
    values = _values(leaves, steps)
    found = [sorted(numbers.get(id(one), -1) for one in find(values[end])) for end in ends or [-1]]
    return found if ends else found[0]


@probe
def lines_of_walk(find: Callable[..., Any], steps: Sequence[Step]) -> int:
    """How many lines of Python run while `find` walks from a program of one leaf.

    Args:
        find: Called with the last value.
        steps: The program, as `leaves_found` takes it.
    """
    lines = 0

    def note(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal lines
        if event == "line":
            lines += 1
        return note

    result, before = _values([torch.ones((), requires_grad=True)], steps)[-1], sys.gettrace()
    sys.settrace(note)
    try:
        find(result)
    finally:
        sys.settrace(before)
    return lines


@probe
def loss_rows(
    loss_gradients: Callable[..., Any],
    leaves: Sequence[torch.Tensor],
    steps: Sequence[Step],
    ends: Sequence[int],
    old: float | None = None,
    asked: int | None = None,
) -> dict[str, Any]:
    """The rows for the losses numbered by `ends`, and each `.grad` after the call.

    Args:
        loss_gradients: Called with losses and parameters; returns the rows.
        leaves: The first values of the program.
        steps: The program, as `leaves_found` takes it.
        ends: The numbers of the values that are losses.
        old: What each leaf's `.grad` is filled with before; None for no gradient.
        asked: How many of the leaves, from the first on, are the parameters; None for all.

    Returns:
        "rows"; "grads"; "once more", the message of the error when the graph behind the last loss
        is walked again, empty without one.
    """
    for leaf in leaves:
        leaf.grad = None if old is None else torch.full_like(leaf, old)
    values = _values(leaves, steps)
    losses = [values[end] for end in ends]
    rows = loss_gradients(losses, leaves[:asked])
    seen = {"rows": rows, "grads": [leaf.grad for leaf in leaves], "once more": ""}
    try:
        torch.autograd.grad(losses[-1].sum(), leaves, allow_unused=True)
    except RuntimeError as error:
        seen["once more"] = str(error)
    return seen


@probe
def with_old_grads(
    function: Callable[..., Any],
    tensors: Sequence[torch.Tensor],
    *more: Any,
    old: float | None = None,
    recording: bool = True,
    times: int = 1,
) -> dict[str, Any]:
    """What `function(*tensors, *more)` gives; the tensors, each `.grad` and grad mode after it.

    Args:
        function: The answer.
        tensors: Its first arguments.
        more: Those that follow.
        old: What each `.grad` is filled with before; None for no gradient.
        recording: Whether it's called with grad mode on; else in a block under `no_grad`.
        times: How often it's called, with the same tensors; what the last call gives is told.
    """
    for one in tensors:
        one.grad = None if old is None else torch.full_like(one, old)
    with torch.set_grad_enabled(recording):
        for _ in range(times):
            result = function(*tensors, *more)
        mode = torch.is_grad_enabled()
    grads = [one.grad for one in tensors]
    return {"result": result, "tensors": list(tensors), "grads": grads, "recording": mode}


@probe
def snapshots_in_a_step(shot: Callable[..., Any], leaf: torch.Tensor) -> dict[str, Any]:
    """Snapshots of a leaf that has a gradient of ones, of its double, and of ones, after a step.

    The second and the third take part in the step, and a step is a write to the leaf.

    Args:
        shot: Called with a tensor; returns its snapshot.
        leaf: A tensor that requires grad.
    """
    leaf.grad = torch.ones_like(leaf)
    copies = [shot(leaf), shot(leaf * 2), shot(torch.ones_like(leaf))]
    (copies[1] * leaf * copies[2]).sum().backward()
    gradient = leaf.grad.clone()
    with torch.no_grad():
        leaf.add_(1)
    return {"copies": copies, "gradient": gradient}


@probe
def uses_reversed(
    reversed_gradient: Callable[..., Any],
    scales: Sequence[float],
    weights: torch.Tensor,
    plainly: float = 0,
    intermediate: bool = False,
) -> dict[str, Any]:
    """The gradients of x, used reversed for each scale and `plainly` times, and of a neighbour.

    All uses are added up. x and its neighbour are ones.

    Args:
        reversed_gradient: Called with x and a scale.
        scales: Passed on, one for each reversed use.
        weights: What the reversed uses and the neighbour are multiplied with, of the shape of x.
        plainly: The factor of x as it is.
        intermediate: Whether x is the result of an operation instead of a leaf.
    """
    leaf, other = (torch.ones_like(weights).requires_grad_() for _ in range(2))
    x, total = leaf * 1 if intermediate else leaf, other * 1
    for scale in scales:
        total = total + reversed_gradient(x, scale)
    (total * weights + plainly * x).sum().backward()
    return {"x": leaf.grad, "other": other.grad}


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


@probe
def kept_for_backward(function: Callable[..., Any], *args: Any) -> dict[str, int]:
    """The most that graphs kept at any moment of a call: bytes of saved tensors, and nodes.

    Nodes are those that made a tensor which the call saw. A tensor that was saved twice counts
    twice. What `torch.func` saves isn't counted, for its transforms refuse to be watched; it's gone
    when they return.

    Args:
        function: What is called.
        args: What it's called with.

    >>> w = torch.ones(4, requires_grad=True)
    >>> kept_for_backward.here(lambda: w.exp().sum())
    {'bytes': 16, 'nodes': 2}
    """
    saved, nodes = _Count(), _Count()

    def pack(tensor: torch.Tensor) -> _Counted:
        return _Counted(saved, tensor.nbytes, tensor)

    try:
        with saved_tensors_hooks(pack, lambda one: one.tensor), _Nodes(nodes):
            function(*args)
    except RuntimeError as error:
        if "saved tensor hooks" not in str(error):
            raise
        nodes = _Count()
        with _Nodes(nodes):
            function(*args)
    return {"bytes": saved.most, "nodes": nodes.most}
