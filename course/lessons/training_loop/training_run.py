"""The training that the explorer shows: one weight, 22 examples, real gradients and steps."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch

__all__ = ["SCALINGS", "UPDATES", "Part", "Settings", "Update", "best", "loss_at", "train"]

UPDATES = 16
AS_IT_IS, DIVIDED, WEIGHED = "as it is", "divide by accumulation", "weigh by examples"
SCALINGS = (AS_IT_IS, DIVIDED, WEIGHED)
_EXAMPLES = 22  # no multiple of 4: the last batch of an epoch is smaller
_START = 3.0


@dataclass(frozen=True)
class Settings:
    """What the controls say: rate, batch size, batches for one step, and what losses are scaled by.

    `scaling` is one of `SCALINGS`: each batch's mean loss goes backward as it is, divided by the
    number of batches that are asked for, or weighed by its share of the step's examples.
    """

    lr: float = 0.1
    batch: int = 4
    accumulate: int = 1
    scaling: str = AS_IT_IS

    def __post_init__(self) -> None:
        if not (self.lr > 0 and math.isfinite(self.lr)):
            raise ValueError(f"lr is a number above 0, not {self.lr}.")
        if not 1 <= self.batch <= _EXAMPLES or self.accumulate < 1:
            raise ValueError(
                f"batch is from 1 to {_EXAMPLES} and accumulate from 1 on; "
                f"got {self.batch} and {self.accumulate}."
            )
        if self.scaling not in SCALINGS:
            raise ValueError(f"scaling is one of {', '.join(SCALINGS)}; not {self.scaling!r}.")


@dataclass(frozen=True)
class Part:
    """What one batch added to `.grad`."""

    examples: int
    added: float


@dataclass(frozen=True)
class Update:
    """One step: the weight before and after it, and what its gradient was made of.

    `wanted` is the gradient of the mean over this step's examples, computed in one piece.
    """

    before: float
    after: float
    parts: tuple[Part, ...]
    wanted: float

    @property
    def grad(self) -> float:
        """What `step()` read."""
        return sum(part.added for part in self.parts)

    @property
    def examples(self) -> int:
        """How many examples the step has seen."""
        return sum(part.examples for part in self.parts)


def _data() -> tuple[torch.Tensor, torch.Tensor]:
    """Inputs with a mean square of 1, so that rates above 1 diverge, and noisy targets."""
    generator = torch.Generator().manual_seed(11)
    x = torch.randn(_EXAMPLES, generator=generator, dtype=torch.float64)
    x = x / x.square().mean().sqrt()
    return x, x + 0.5 * torch.randn(_EXAMPLES, generator=generator, dtype=torch.float64)


def loss_at(weight: float) -> float:
    """The mean loss over all examples."""
    x, y = _data()
    return float((x * weight - y).square().mean())


def best() -> float:
    """The weight at which that loss is least."""
    x, y = _data()
    return float((x * y).sum() / x.square().sum())


def train(settings: Settings) -> list[Update]:
    """The first updates of a training with these settings."""
    x, y = _data()
    weight = torch.tensor(_START, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=settings.lr)
    updates: list[Update] = []
    for group in _groups(settings):
        optimizer.zero_grad()
        parts = [_backward(weight, x[part], y[part], group, settings) for part in group]
        together = torch.cat([torch.arange(part.start, part.stop) for part in group])
        wanted = torch.autograd.grad(_loss(weight, x[together], y[together]), weight)[0]
        before = weight.item()
        optimizer.step()
        updates.append(Update(before, weight.item(), tuple(parts), wanted.item()))
    return updates


def _groups(settings: Settings) -> Iterator[list[slice]]:
    """The batches of each update, as many updates as are shown; an epoch's last may have fewer."""
    batches = [
        slice(i, min(i + settings.batch, _EXAMPLES)) for i in range(0, _EXAMPLES, settings.batch)
    ]
    size = settings.accumulate
    epoch = [batches[i : i + size] for i in range(0, len(batches), size)]
    for number in range(UPDATES):
        yield epoch[number % len(epoch)]


def _loss(weight: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return (x * weight - y).square().mean()


def _backward(
    weight: torch.Tensor, x: torch.Tensor, y: torch.Tensor, group: list[slice], how: Settings
) -> Part:
    """Add the gradient of one batch to the weight's, scaled as the settings say."""
    examples = sum(part.stop - part.start for part in group)
    factor = {AS_IT_IS: 1.0, DIVIDED: 1 / how.accumulate, WEIGHED: len(x) / examples}[how.scaling]
    had = 0.0 if weight.grad is None else weight.grad.item()
    (_loss(weight, x, y) * factor).backward()
    assert weight.grad is not None
    return Part(len(x), weight.grad.item() - had)
