"""The step that the explorer of ranks shows: one weight, real gradients, phase by phase."""

from __future__ import annotations

from dataclasses import dataclass

import torch

__all__ = ["PHASES", "WAYS", "Rank", "Settings", "alone", "run"]

PHASES = ("start", "scatter", "backward", "all_reduce", "step")
WEIGHED, PLAIN, SUM, NOTHING = "weighed by samples", "plain mean", "sum", "nothing"
WAYS = (WEIGHED, PLAIN, SUM, NOTHING)
MOST_RANKS, MOST_SAMPLES = 4, 12
_LR, _APART = 0.01, 0.25  # the rate, and how far the starts of two ranks lie apart


@dataclass(frozen=True)
class Settings:
    """What the controls say.

    `way` is one of `WAYS`: what the all_reduce makes of the ranks' gradients. With `alike` all
    ranks start with the same weight, as after a broadcast.
    """

    ranks: int = 2
    samples: int = 5
    way: str = PLAIN
    alike: bool = True

    def __post_init__(self) -> None:
        if not (1 <= self.ranks <= MOST_RANKS and 1 <= self.samples <= MOST_SAMPLES):
            raise ValueError(
                f"ranks is from 1 to {MOST_RANKS} and samples from 1 to {MOST_SAMPLES}; "
                f"got {self.ranks} and {self.samples}."
            )
        if self.way not in WAYS:
            raise ValueError(f"way is one of {', '.join(WAYS)}; not {self.way!r}.")


@dataclass(frozen=True)
class Rank:
    """One rank in one step: its samples, its weights, and its gradient before and afterwards."""

    samples: tuple[int, ...]
    before: float
    own: float
    shared: float
    after: float


def run(settings: Settings) -> list[Rank]:
    """One step of all ranks.

    Args:
        settings: How many ranks and samples there are, and what is averaged.

    Returns:
        What each rank has, in their order. A rank without samples has a gradient of 0.
    """
    shards = torch.arange(1, settings.samples + 1).tensor_split(settings.ranks)
    starts = [0.0 if settings.alike else _APART * rank for rank in range(settings.ranks)]
    own = [_gradient(shard, start) for shard, start in zip(shards, starts, strict=True)]
    shared = _shared(own, [len(shard) for shard in shards], settings.way)
    return [
        Rank(tuple(shard.tolist()), start, mine, ours, start - _LR * ours)
        for shard, start, mine, ours in zip(shards, starts, own, shared, strict=True)
    ]


def alone(settings: Settings) -> float:
    """The weight after the same step in a single process, with all samples.

    Args:
        settings: How many samples there are.
    """
    return run(Settings(1, settings.samples))[0].after


def _gradient(shard: torch.Tensor, start: float) -> float:
    """That of the mean of (weight * x - x)², which is least for a weight of 1."""
    if not len(shard):
        return 0.0
    weight = torch.tensor(start, dtype=torch.float64, requires_grad=True)
    (weight * shard - shard).square().mean().backward()
    assert weight.grad is not None
    return weight.grad.item()


def _shared(own: list[float], sizes: list[int], way: str) -> list[float]:
    if way == NOTHING:
        return own
    weights = {
        WEIGHED: [size / sum(sizes) for size in sizes],
        PLAIN: [1 / len(own)] * len(own),
        SUM: [1.0] * len(own),
    }[way]
    return [sum(w * g for w, g in zip(weights, own, strict=True))] * len(own)
