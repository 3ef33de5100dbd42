"""What the tests of keeping need: a model whose weights are known before each epoch's loss.

Before loss number n is seen, all that the model holds becomes n: elements of floats behind the
first a third more, and integers 2**54 + 1 more. Afterwards it's restored, into the model or a new
one; that is trained on, and restored once more. "restored" is what the model holds after each of
the two. Another keeper sees other weights after the first loss and the last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from course.probes.decorator import probe
from course.probes.saved_models import made
from course.probes.whole_module import WholeModule

__all__ = ["weights_kept"]

# What a float beyond the first of a tensor holds in addition: no float32 has it, nor has a whole.
_THIRD = 1 / 3
# What a buffer of integers holds in addition: more digits than a float has.
_LARGE = 2**54 + 1


@probe
def weights_kept(
    keeper: Callable[..., Any],
    losses: Sequence[float],
    patience: int = 3,
    kind: str = "norm",
    *,
    fresh: bool = False,
    frozen: bool = False,
    training: bool = True,
) -> dict[str, Any]:
    """What a `keeper(patience)` says of these losses, and what it puts back.

    Args:
        keeper: Called with `patience`; the result has `see`, `stop`, `best` and `restore`.
        losses: One an epoch.
        patience: Passed on: epochs without a better loss.
        kind: The model, as `saving.models.made` knows it.
        fresh: Whether it's restored into a new model.
        frozen: Whether the first parameter is frozen.
        training: The model's mode; it and every `requires_grad` are turned before restoring.
    """
    model, kept, other = made(kind), keeper(patience), keeper(patience)
    if frozen:
        next(model.parameters()).requires_grad_(False)
    model.train(training)
    seen: dict[str, Any] = {"new": [], "stop": [], "best": []}
    for number, loss in enumerate(losses):
        _filled(model, number + 1)
        seen["new"].append(kept.see(model, loss))
        seen["stop"].append(kept.stop)
        seen["best"].append(kept.best)
        if number in (0, len(losses) - 1):
            _filled(model, 50)
            other.see(model, -1.0 - number)
    _filled(model, 100)
    return seen | _restored(kept, _turned(made(kind).train(training) if fresh else model))


def _turned(model: nn.Module) -> nn.Module:
    """The model in another mode than before, with other parameters frozen: nobody restores that."""
    for one in model.parameters():
        one.requires_grad_(not one.requires_grad)
    return model.train(not model.training)


def _restored(kept: Any, target: nn.Module) -> dict[str, Any]:
    """What a keeper makes of a model, that's trained and restored again."""
    held = {name: one.detach() for name, one in target.state_dict(keep_vars=True).items()}
    weights, whole = list(target.parameters()), WholeModule(target)
    restored = []
    for number in (200, 300):
        kept.restore(target)
        restored.append({name: one.clone() for name, one in target.state_dict().items()})
        _filled(target, number)
    return {
        "restored": restored,
        "views": held,
        "same": [a is b for a, b in zip(weights, target.parameters(), strict=True)],
        "modes": [module.training for module in target.modules()],
        "trains": [one.requires_grad for one in target.parameters()],
        "whole": whole.now(),
    }


def _filled(model: nn.Module, number: int) -> None:
    """Let all that the model holds be this number in place, but for digits that tell dtypes."""
    with torch.no_grad():
        for one in [*model.parameters(), *model.buffers()]:
            one.fill_(number if one.is_floating_point() else number + _LARGE)
            if one.is_floating_point():
                one.view(-1)[1:].add_(_THIRD)
