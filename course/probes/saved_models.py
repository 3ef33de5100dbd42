"""The small models of the runs that are saved, and where the numbers come from that they draw."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn

__all__ = ["DRAWN", "made"]

DRAWN: dict[str, Callable[[], float]] = {
    "torch": lambda: float(torch.rand(())),
    "python": random.random,
    "python normal": lambda: random.gauss(0, 1),
    "numpy": np.random.rand,
    "numpy normal": np.random.randn,
}


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
