"""When a run stops early: `stopped_at`."""

from __future__ import annotations

import math
from collections.abc import Iterable

__all__ = ["stopped_at"]


def stopped_at(losses: Iterable[float], patience: int) -> int | None:
    """The epoch, counted from 0, in which early stopping ends this run; None if it never does.

    Args:
        losses: The validation loss of each epoch.
        patience: How many epochs in a row may pass without a lower loss than all before.
    """
    best, since = math.inf, 0
    for epoch, loss in enumerate(losses):
        best, since = (loss, 0) if loss < best else (best, since + 1)
        if since > patience:
            return epoch
    return None
