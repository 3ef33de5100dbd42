"""Successive halving over losses that are known: which trial trains how far, and what it costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Rung", "halving_plan", "rung_epochs"]


@dataclass(frozen=True)
class Rung:
    """One comparison: the trials that reached it, best first, and those of them that go on.

    `epochs` is how far each of them has trained by then, `losses` are theirs in the same order as
    `ranking`, and `spent` counts the epochs of all trials so far.
    """

    epochs: int
    ranking: tuple[int, ...]
    losses: tuple[float, ...]
    kept: tuple[int, ...]
    spent: int


def rung_epochs(low: int, high: int, eta: int) -> list[int]:
    """The epochs after which trials are compared: `low`, `low * eta`, … and at last `high`.

    Raises:
        ValueError: Not 1 <= low <= high, or an eta below 2.
    """
    if not 1 <= low <= high or eta < 2:
        raise ValueError(f"rungs need 1 <= low <= high and eta >= 2, not {low}, {high} and {eta}.")
    rungs = [low]
    while rungs[-1] < high:
        rungs.append(min(rungs[-1] * eta, high))
    return rungs


def halving_plan(
    losses: Sequence[Sequence[float]], low: int, high: int, eta: int
) -> tuple[Rung, ...]:
    """The rungs of successive halving.

    Args:
        losses: for each trial its loss after epoch 1, 2, …, at least `high` of them.
        low: epochs before the first comparison.
        high: most epochs of any trial.
        eta: one of so many trials goes on, rounded down, but always one.

    Returns:
        A rung after `low`, `low * eta`, … epochs, the last one after `high`. Equal losses rank by
        the number of their trial; nan ranks last and never goes on. From the last rung nobody
        does.

    Raises:
        ValueError: no trials, too few losses, or numbers that make no rungs.
    """
    if not losses:
        raise ValueError("halving_plan() takes one trial or more.")
    compared = rung_epochs(low, high, eta)
    if min(len(one) for one in losses) < high:
        raise ValueError(f"each trial needs {high} losses, one an epoch.")
    rungs: list[Rung] = []
    trials, before, spent = list(range(len(losses))), 0, 0
    for epochs in compared:
        spent += len(trials) * (epochs - before)
        ranking = sorted(trials, key=lambda trial: _rank(losses[trial][epochs - 1], trial))
        told = tuple(losses[trial][epochs - 1] for trial in ranking)
        going = 0 if epochs == high else max(1, len(ranking) // eta)
        pairs = list(zip(ranking, told, strict=True))[:going]
        kept = [trial for trial, loss in pairs if not math.isnan(loss)]
        rungs.append(Rung(epochs, tuple(ranking), told, tuple(kept), spent))
        if not kept:
            break
        trials, before = kept, epochs
    return tuple(rungs)


def _rank(loss: float, trial: int) -> tuple[bool, float, int]:
    """Nan behind everything else, then by loss, then by number."""
    return (True, 0.0, trial) if math.isnan(loss) else (False, loss, trial)
