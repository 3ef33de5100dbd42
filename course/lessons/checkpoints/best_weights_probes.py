"""What the tests of keeping need: a model whose weights are known before each epoch's loss.

Before loss number n is seen, all that the model holds becomes n: elements of floats behind the
first a third more, and integers 2**54 + 1 more. Afterwards the model is restored, trained on, and
restored once more. "restored" is what it holds after each of the two.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from course.probes.decorator import probe
from course.probes.saved_models import made

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
) -> dict[str, Any]:
    """What a `keeper(patience)` says of these losses, and what it puts back.

    Args:
        keeper: Called with `patience`; the result has `see`, `stop`, `best` and `restore`.
        losses: One an epoch.
        patience: Passed on: epochs without a better loss.
        kind: The model, as `saving.models.made` knows it.
    """
    model, kept = made(kind), keeper(patience)
    seen: dict[str, Any] = {"new": [], "stop": [], "best": []}
    for number, loss in enumerate(losses):
        _filled(model, number + 1)
        seen["new"].append(kept.see(model, loss))
        seen["stop"].append(kept.stop)
        seen["best"].append(kept.best)
    _filled(model, 100)
    return seen | _restored(kept, model)


def _restored(kept: Any, model: nn.Module) -> dict[str, Any]:
    """What a keeper makes of a model, that's trained and restored again."""
    held = {name: one.detach() for name, one in model.state_dict(keep_vars=True).items()}
    weights = list(model.parameters())
    restored = []
    for number in (200, 300):
        kept.restore(model)
        state = nn.Module.state_dict(model)  # not one that an answer may hang on it
        restored.append({name: one.clone() for name, one in state.items()})
        _filled(model, number)
    return {
        "restored": restored,
        "views": held,
        "same": [a is b for a, b in zip(weights, model.parameters(), strict=True)],
    }


def _filled(model: nn.Module, number: int) -> None:
    """Let all that the model holds be this number in place, but for digits that tell dtypes."""
    with torch.no_grad():
        for one in [*model.parameters(), *model.buffers()]:
            one.fill_(number if one.is_floating_point() else number + _LARGE)
            if one.is_floating_point():
                one.view(-1)[1:].add_(_THIRD)
