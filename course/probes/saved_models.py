"""The small models of the runs that are saved, and where the numbers come from that they draw."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn

from course.probes.whole_module import places_of_modules

__all__ = ["DRAWN", "computed", "made"]

DRAWN: dict[str, Callable[[], float]] = {
    "torch": lambda: float(torch.rand(())),
    "python": random.random,
    "python normal": lambda: random.gauss(0, 1),
    "numpy": np.random.rand,
    "numpy normal": np.random.randn,
}

_STATE = ("_parameters", "_buffers", "training")


class _Drawing(nn.Linear):
    """A layer that draws a number from everywhere while it's loaded, as one that grows may do."""

    def load_state_dict(self, *given: Any, **more: Any) -> Any:
        """Load it."""
        for draw in DRAWN.values():
            draw()
        return super().load_state_dict(*given, **more)


def made(kind: str) -> nn.Module:
    """A small model in float64, of a kind that tells one thing that a run may forget.

    Args:
        kind: "norm", "dropout", "resting", "drawing" or "tied"; anything else is a linear layer.
    """
    if kind == "norm":
        return nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2), nn.Linear(2, 1)).double()
    if kind == "dropout":
        return nn.Sequential(nn.Linear(2, 4), nn.Dropout(0.5), nn.Linear(4, 1)).double()
    if kind == "resting":
        idle = nn.Sequential(nn.BatchNorm1d(2), nn.Dropout(0.5)).eval()
        return nn.Sequential(nn.Linear(2, 2), *idle, nn.Linear(2, 1)).double()
    if kind == "drawing":
        return _Drawing(2, 1).double()
    if kind == "tied":
        layer = nn.Linear(2, 2)
        return nn.Sequential(layer, nn.Tanh(), layer).double()
    return nn.Linear(2, 1).double()


def computed(layers: nn.Module, model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    """What a model makes of x by layers that no answer has had in its hands.

    An answer may hang a `forward` or a hook on the model that it is given. What a run computes
    comes from the model's parameters, buffers and modes all the same.

    Args:
        layers: Another model of this kind, whose parameters, buffers and modes are replaced.
        model: The model.
        x: The input.
    """
    pairs = (places_of_modules(one).values() for one in (layers, model))
    for mine, its in zip(*pairs, strict=True):
        vars(mine).update({name: vars(its)[name] for name in _STATE})
    result: torch.Tensor = layers(x)
    return result
