"""What tests of partly frozen models look through: one call without learning, stages that open.

Layers and stages are named by their kind and built beside the answer, since a module has no plain
form. The same kind has the same weights each time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from course.inspection.class_names import class_name
from course.lessons.transfer.freezing_probes import BODIES, around, modes, noting, packed, seeded
from course.probes.decorator import probe

__all__ = ["passed_through", "thawed"]


@probe
def passed_through(
    through: Callable[..., Any],
    kind: str,
    x: torch.Tensor,
    *,
    training: bool = True,
    frozen: Sequence[str] = (),
    also: str = "",
    stale: bool = False,
) -> dict[str, Any]:
    """The result of `through(layer, x)`, what learns from it, and what is left of the layer.

    "learnt" has which results have a graph. "calls" has the grad mode of each call of the layer if
    there is to be a graph, else None.

    Args:
        through: The answer.
        kind: The layer, a key of `BODIES`.
        x: The input; whether it requires grad is kept.
        training: The layer's mode.
        frozen: The names of parameters that are frozen before.
        also: When the layer runs as it is, too, with another input: "before" or "after"; "" for
            never.
        stale: Whether there are gradients of ones from before.
    """
    with seeded():
        layer = _prepared(kind, training, frozen, stale)
        calls = _watched(layer, x.requires_grad)
        leaf, other = x.detach().clone().requires_grad_(x.requires_grad), x.detach() + 1
        left, before = list[Any](), dict(layer.named_parameters())
        own = layer(other) if also == "before" else None
        with noting(left, quiet=False):
            out = through(layer, leaf)
        own = layer(other) if also == "after" else own
        learnt = _learnt([out, own])
        seen = {"calls": calls, "graph": learnt[0], "learnt": learnt}
    after = dict(layer.named_parameters())
    return {
        **seen,
        "out": out.detach().clone(),
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
    layer = BODIES[kind]().train(training)
    for name in frozen:
        layer.get_parameter(name).requires_grad_(False)
    for one in layer.parameters():
        one.grad = torch.ones_like(one) if stale else None
    return layer


def _learnt(results: Sequence[torch.Tensor | None]) -> list[bool]:
    """Go backward from all results that have a graph; says of each result whether it has one."""
    both = [one.square().sum() for one in results if one is not None and one.requires_grad]
    if both:
        torch.stack(both).sum().backward()
    return [one is not None and one.requires_grad for one in results]


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
        kind: The stages: "layers", "nested stages" or "empty stages" (every second); those of any
            other kind have a linear layer, a norm and Dropout.
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
            "class": class_name(told),
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
