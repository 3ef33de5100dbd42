"""What an epoch of a weighted sampler holds on average: draws, distinct samples, what is not seen.

Nothing is drawn here. With replacement the formulas are short; without, the chance of each sample
follows from counting: samples of equal weight are interchangeable, so it is enough to know how
many of each weight have been drawn.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import torch

__all__ = [
    "ClassPlan",
    "EpochPlan",
    "epoch_plan",
    "expected_draws",
    "seen_chances",
]

_MOST_STEPS = 50_000_000  # half a second; beyond it, counting without replacement takes too long

Weights = torch.Tensor | Sequence[float]


@dataclass(frozen=True)
class ClassPlan:
    """One class in an epoch; `draws` and `distinct` are averages over all epochs."""

    label: Hashable
    size: int
    draws: float
    distinct: float

    @property
    def unseen(self) -> float:
        """The samples of the class that such an epoch leaves out, on average."""
        return self.size - self.distinct

    @property
    def repeats(self) -> float:
        """How often a sample of this class is drawn, on average over the class."""
        return self.draws / self.size


@dataclass(frozen=True)
class EpochPlan:
    """The classes of an epoch, and how it is drawn."""

    classes: tuple[ClassPlan, ...]
    num_samples: int
    replacement: bool

    @property
    def size(self) -> int:
        """The samples of the dataset."""
        return sum(one.size for one in self.classes)

    @property
    def distinct(self) -> float:
        """The different samples that an epoch holds, on average."""
        return sum(one.distinct for one in self.classes)


def epoch_plan(
    weights: Weights,
    labels: Sequence[Hashable] | torch.Tensor,
    num_samples: int | None = None,
    replacement: bool = True,
) -> EpochPlan:
    """What each class gets; the classes in the order of their labels.

    >>> plan = epoch_plan([1 / 6] * 6 + [1], ["dog"] * 6 + ["cat"], num_samples=7)
    >>> [(one.label, round(one.draws, 9)) for one in plan.classes]
    [('cat', 3.5), ('dog', 3.5)]
    """
    every = _checked(weights, 1, True)
    names = labels.tolist() if isinstance(labels, torch.Tensor) else list(labels)
    if len(names) != len(every):
        raise ValueError(f"{len(every)} weights, {len(names)} labels: each sample needs one each")
    count = len(every) if num_samples is None else num_samples
    draws = expected_draws(every, count, replacement)
    seen = seen_chances(every, count, replacement) if replacement else draws
    classes = []
    for label in sorted(set(names)):
        mine = torch.tensor([name == label for name in names])
        size = int(mine.sum())
        classes.append(ClassPlan(label, size, draws[mine].sum().item(), seen[mine].sum().item()))
    return EpochPlan(tuple(classes), count, replacement)


def expected_draws(weights: Weights, num_samples: int, replacement: bool = True) -> torch.Tensor:
    """How often each sample is drawn, on average: with replacement, num_samples times its share.

    >>> expected_draws([1, 3], 8).tolist()
    [2.0, 6.0]
    """
    every = _checked(weights, num_samples, replacement)
    if not replacement:
        return _inclusion(every, num_samples)
    return num_samples * every / every.sum()


def seen_chances(weights: Weights, num_samples: int, replacement: bool = True) -> torch.Tensor:
    """The chance of each sample to be drawn at least once: 1 - (1 - share) ** num_samples.

    >>> seen_chances([1, 1], 2).tolist()
    [0.75, 0.75]
    """
    every = _checked(weights, num_samples, replacement)
    if not replacement:
        return _inclusion(every, num_samples)
    share = every / every.sum()
    return -torch.expm1(num_samples * torch.log1p(-share))  # exact for tiny shares, too


def _checked(weights: Weights, num_samples: int, replacement: bool) -> torch.Tensor:
    every = torch.as_tensor(weights, dtype=torch.float64)
    if every.dim() != 1 or not bool((every >= 0).all()) or not 0 < every.sum() < float("inf"):
        raise ValueError(
            "weights: give one number for each sample, none below 0 and at least one above"
        )
    if num_samples < 1:
        raise ValueError(f"num_samples={num_samples}: draw at least one sample")
    positive = int((every > 0).sum())
    if not replacement and num_samples > positive:
        # torch raises only when there are more samples than weights; up to there it draws
        # samples of weight 0, which no weight asked for.
        raise ValueError(
            f"num_samples={num_samples} without replacement: only {positive} weights are above 0"
        )
    return every


def _inclusion(weights: torch.Tensor, num_samples: int) -> torch.Tensor:
    """The chance of each sample to be among num_samples draws without replacement."""
    values, which, counts = weights.unique(return_inverse=True, return_counts=True)
    order = counts.argsort(descending=True).tolist()
    sizes, each = [int(counts[g]) for g in order], [values[g].item() for g in order]
    drawn = _drawn_by_group(sizes, each, num_samples)
    chances = torch.empty(len(order), dtype=torch.float64)
    for group, mean, size in zip(order, drawn, sizes, strict=True):
        chances[group] = mean / size
    return chances[which]


def _drawn_by_group(sizes: list[int], weights: list[float], num_samples: int) -> list[float]:
    """How many of each group are drawn, on average; the first group should be the largest.

    The state is how many of every other group are drawn; the first group has the rest.
    """
    shape = [size + 1 for size in sizes[1:]]
    if prod(shape) * num_samples * len(sizes) > _MOST_STEPS:
        raise ValueError(
            f"{len(sizes)} different weights without replacement: too many ways to count. "
            "Give the samples of a class one weight, or fewer samples"
        )
    counts = np.indices(shape) if shape else np.zeros((0,))
    left = [np.maximum(s - c, 0) for s, c in zip(sizes[1:], counts, strict=True)]
    others = sum(w * rest for w, rest in zip(weights[1:], left, strict=True))
    chance = np.zeros(shape)
    chance[(0,) * len(shape)] = 1.0
    for step in range(num_samples):
        first = weights[0] * np.clip(sizes[0] - step + sum(counts), 0, sizes[0])
        total = first + others
        per_weight = np.divide(chance, total, out=np.zeros_like(chance), where=chance > 0)
        chance = per_weight * first
        for axis, (weight, rest) in enumerate(zip(weights[1:], left, strict=True)):
            # The last slice has none left, so what rolls around to the front is 0.
            chance += np.roll(per_weight * weight * rest, 1, axis)
    means = [float((chance * count).sum()) for count in counts]
    return [num_samples - sum(means), *means]
