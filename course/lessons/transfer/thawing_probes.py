"""What tests of partly frozen models look through: one call without learning, stages that open.

Layers and stages are named by their kind and built beside the answer, since a module has no plain
form. The same kind has the same weights each time.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import nn

from course.lessons.transfer.freezing_probes import BODIES, around, modes, noting, packed, seeded
from course.probes.decorator import probe

__all__ = ["passed_through", "thawed"]


class _Fails(nn.Module):
    """A layer that cannot be run."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        raise ArithmeticError("this layer fails")


def _twice() -> nn.Module:
    """One module in two places."""
    block = nn.Linear(3, 3)
    return nn.Sequential(block, nn.Tanh(), block)


def _shared() -> nn.Module:
    """Two modules that share a weight."""
    first, last = nn.Linear(3, 3), nn.Linear(3, 3)
    last.weight = first.weight
    return nn.Sequential(first, nn.Tanh(), last)


_LAYERS: dict[str, Callable[[], nn.Module]] = {
    **BODIES,
    "fails": _Fails,
    "twice": _twice,
    "shared": _shared,
}


def _run(
    through: Callable[[], Any],
    other: Callable[[], Any],
    also: str,
    around_it: contextlib.AbstractContextManager[Any],
) -> tuple[Any, Any, str | None]:
    """What the layer gives as it is, what comes through it, and the error that ended it."""
    own, out = None, None
    try:
        own = other() if also.startswith("before") else None
        with around_it:
            out = through()
        own = other() if also.startswith("after") else own
    except ArithmeticError as raised:
        return own, out, str(raised)
    return own, out, None


@probe
def passed_through(
    through: Callable[..., Any],
    kind: str,
    x: torch.Tensor,
    *,
    training: bool = True,
    frozen: Sequence[str] = (),
    also: str = "",
    quiet: bool = False,
    stale: bool = False,
    again: bool = False,
) -> dict[str, Any]:
    """The result of `through(layer, x)`, what learns from it, and what is left of the layer.

    "learnt" has which results have a graph, and the error in which going backward ended. "calls"
    has the grad mode of each call of the layer if there is to be a graph, else None.

    Args:
        through: The answer.
        kind: The layer, a key of `_LAYERS`.
        x: The input; whether it requires grad is kept.
        training: The layer's mode.
        frozen: The names of parameters that are frozen before.
        also: When the layer runs as it is, too, with another input: "before" or "after"; "" for
            never.
        quiet: Whether it is called under no_grad.
        stale: Whether there are gradients of ones from before.
        again: Whether one goes backward twice.
    """
    with seeded():
        layer = _prepared(kind, training, frozen, stale)
        calls = _watched(layer, x.requires_grad and not quiet)
        leaf, other = x.detach().clone().requires_grad_(x.requires_grad), x.detach() + 1
        left, before = list[Any](), dict(layer.named_parameters())
        run = partial(through, layer, leaf), partial(layer, other), also
        own, out, error = _run(*run, noting(left, quiet))
        learnt = _learnt([out, own], again)
        seen = {"error": error, "calls": calls, "graph": learnt[0], "learnt": learnt}
    after = dict(layer.named_parameters())
    return {
        **seen,
        "out": None if out is None else out.detach().clone(),
        "behind": leaf.grad,
        "around": left,
        "same": [after.get(name) is one for name, one in before.items()],
        **_left(layer),
    }


def _watched(layer: nn.Module, graph: bool) -> list[bool | None]:
    """The list in which each call of the layer is noted, with its grad mode if that matters."""
    calls: list[bool | None] = []
    layer.register_forward_hook(lambda *_: calls.append(torch.is_grad_enabled() if graph else None))
    return calls


def _prepared(kind: str, training: bool, frozen: Sequence[str], stale: bool) -> nn.Module:
    """A layer in this mode, of which these parameters are frozen."""
    layer = _LAYERS[kind]().train(training)
    for name in frozen:
        layer.get_parameter(name).requires_grad_(False)
    for one in layer.parameters():
        one.grad = torch.ones_like(one) if stale else None
    return layer


def _learnt(results: Sequence[torch.Tensor | None], again: bool) -> list[Any]:
    """Go backward from all results that have a graph; says of each result whether it has one."""
    graphs = [one is not None and one.requires_grad for one in results]
    both = [one.square().sum() for one in results if one is not None and one.requires_grad]
    if not both:
        return [*graphs, ""]
    total = torch.stack(both).sum()
    try:
        total.backward(retain_graph=again)
        if again:
            total.backward()
    except RuntimeError as raised:
        return [*graphs, type(raised).__name__]
    return [*graphs, ""]


def _left(layer: nn.Module) -> dict[str, Any]:
    """What is to be seen of a layer afterwards."""
    named = dict(layer.named_parameters())
    return {
        "gradients": {
            name: None if one.grad is None else one.grad.tolist() for name, one in named.items()
        },
        "flags": {name: one.requires_grad for name, one in named.items()},
        "values": packed(named.values()),
        "buffers": packed(layer.buffers()),
        "modes": list(modes(layer).values()),
    }


def _stages(kind: str, count: int) -> list[nn.Module]:
    """So many stages, from the input to the output."""
    made = [
        nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2), nn.Dropout(0.5)) for _ in range(count)
    ]
    if kind == "layers":
        return [nn.Linear(2, 2) for _ in range(count)]
    if kind == "nested stages":
        return [nn.Sequential(one, nn.LayerNorm(2), nn.PReLU()) for one in made]
    if kind == "empty stages":
        return [nn.Tanh() if number % 2 else one for number, one in enumerate(made)]
    if kind == "tied":
        made[-1][0].weight = made[0][0].weight
    return list(made)


def _upset(model: nn.Module, what: str) -> None:
    """Turn every third mode or flag into the other one."""
    for module in list(model.modules())[::3] if what == "modes" else ():
        module.training = not module.training
    for parameter in list(model.parameters())[::3] if what == "flags" else ():
        parameter.requires_grad_(not parameter.requires_grad)


@probe
def thawed(
    thaw: Callable[..., Any],
    kind: str,
    count: int,
    every: int,
    epochs: Sequence[int],
    *,
    frozen: bool = True,
    stale: bool = False,
    upset: str = "",
) -> list[dict[str, Any]]:
    """Flags, modes and what is returned, after each of these epochs: a row for each.

    Returned parameters are told by their numbers.

    Args:
        thaw: Called with `(stages, epoch, every)`; returns parameters.
        kind: The stages: "layers", "nested stages", "empty stages" (every second) or "tied"; those
            of any other kind have a linear layer, a norm and Dropout.
        count: The number of stages.
        every: Passed on: epochs from one stage to the next.
        epochs: The numbers of the epochs, one for each call.
        frozen: Whether all is frozen and in eval mode before.
        stale: Whether there are gradients of ones before each call.
        upset: What is the other way round for every third module or parameter before each call: its
            mode ("modes") or its flag ("flags"); "" for nothing.
    """
    with seeded():
        stages = _stages(kind, count)
    rows, model = [], nn.ModuleList(stages).train(not frozen).requires_grad_(not frozen)
    numbers = {id(one): number for number, one in enumerate(model.parameters())}
    for epoch in epochs:
        for one in model.parameters() if stale else ():
            one.grad = torch.ones_like(one)
        _upset(model, upset)
        with seeded():
            told, left = thaw(stages, epoch, every), around()
        named = list(model.named_parameters())
        row = {
            "class": type(told).__name__,
            "told": [numbers.get(id(one), -1) for one in told],
            "flags": {name: one.requires_grad for name, one in named},
            "left": {name: one.grad is not None for name, one in named},
            "modes": {name: one.training for name, one in model.named_modules() if name},
            "around": left,
            "stages": len(stages),
            "values": float(sum(one.detach().sum() for _, one in named)),
        }
        rows.append(row)
    return rows
