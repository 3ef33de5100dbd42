"""What the tests of optimizers and of clipping need: weights with given gradients, step by step.

The "views" that `clipped` returns are of the memory that the gradients had at first; those of
`optimizer_steps`, of the memory that the weights had.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import torch

from course.probes.decorator import probe
from course.probes.modules import running

__all__ = ["clipped", "optimizer_steps"]


@probe
def clipped(
    clip: Callable[..., Any],
    gradients: Sequence[torch.Tensor | None],
    max_norm: float,
    *,
    once: bool = False,
    frozen: bool = False,
    noting: bool = False,
) -> dict[str, Any]:
    """What `clip(parameters, max_norm)` returns, and what became of these gradients.

    Args:
        clip: The answer.
        gradients: That of each parameter, None for none.
        max_norm: Passed on.
        once: The parameters come as a generator, which ends.
        frozen: The first parameter is frozen after it got its gradient.
        noting: Whether "ran" tells the functions of libraries that ran, each with its module.
    """
    weights = [torch.ones(()) if g is None else torch.ones_like(g) for g in gradients]
    for weight, gradient in zip(weights, gradients, strict=True):
        weight.requires_grad_()
        weight.grad = None if gradient is None else gradient.clone()
    if frozen:
        weights[0].requires_grad_(False)
    held = [weight.grad for weight in weights]
    views = [None if g is None else g.detach() for g in held]
    with running() if noting else nullcontext(()) as noted:
        result = clip((weight for weight in weights) if once else list(weights), max_norm)
    return {
        "result": result,
        "grads": [weight.grad for weight in weights],
        "views": [None if w.grad is None else v for w, v in zip(weights, views, strict=True)],
        "same": [w.grad is g for w, g in zip(weights, held, strict=True)],
        "weights": [weight.detach() for weight in weights],
        "recorded": [g is not None and g.requires_grad for g in (w.grad for w in weights)],
    } | ({"ran": sorted(".".join(one) for one in noted)} if noting else {})


def _leaves(groups: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The groups with weights of their own."""
    return [
        {**group, "params": [start.clone().requires_grad_() for start in group["params"]]}
        for group in groups
    ]


@probe
def optimizer_steps(
    step: Callable[..., Any],
    groups: Sequence[dict[str, Any]],
    gradients: Sequence[Sequence[torch.Tensor | None]],
    *,
    frozen: bool = False,
    rates: Sequence[float] = (),
    one_memory: bool = False,
    noting: bool = False,
) -> dict[str, Any]:
    """The weights after a `step(groups, state)` for each row of gradients.

    Args:
        step: The answer; `state` is a dict that is empty at first and handed over each time.
        groups: A group's "params" are the values that its weights start from.
        gradients: A row a step, with a gradient or None for each weight.
        frozen: Whether the first weight requires no grad.
        rates: What every "lr" of the groups is multiplied with, step by step; none leaves them.
        one_memory: Whether gradients are written into those of the step before.
        noting: Whether "ran" tells the functions of libraries that ran, each with its module.
    """
    made = _leaves(groups)
    weights = [weight for group in made for weight in group["params"]]
    views = [weight.detach() for weight in weights]
    state: dict[Any, Any] = {}
    kept, ran = list[bool](), set[str]()
    for number, row in enumerate(gradients):
        held = _given(weights, row, one_memory)
        weights[0].requires_grad_(not frozen)
        _rescale(made, groups, rates[number : number + 1])
        with running() if noting else nullcontext(()) as noted:
            step(made, state)
        ran.update(".".join(one) for one in noted)
        kept += [weight.grad is one for weight, one in zip(weights, held, strict=True)]
    now = [weight for group in made for weight in group["params"]]
    return {
        "weights": [weight.detach() for weight in weights],
        "views": views,
        "grads": [weight.grad for weight in weights],
        "grads kept": kept,
        "same": [a is b for a, b in zip(weights, now, strict=True)],
        "leaves": [weight.is_leaf and weight.requires_grad for weight in weights],
        "options": [{k: v for k, v in group.items() if k != "params"} for group in made],
    } | ({"ran": sorted(ran)} if noting else {})


def _given(
    weights: Sequence[torch.Tensor], row: Sequence[torch.Tensor | None], one_memory: bool
) -> list[torch.Tensor | None]:
    """The gradients that the weights now have, with `one_memory` in that of those before."""
    for weight, gradient in zip(weights, row, strict=True):
        if one_memory and weight.grad is not None and gradient is not None:
            weight.grad.copy_(gradient)
        else:
            weight.grad = None if gradient is None else gradient.clone()
    return [weight.grad for weight in weights]


def _rescale(
    made: Sequence[dict[str, Any]], groups: Sequence[dict[str, Any]], rates: Sequence[float]
) -> None:
    """Each group the rate of its plan, times what is given, if anything is."""
    for rate in rates:
        for group, plan in zip(made, groups, strict=True):
            group["lr"] = plan["lr"] * rate
