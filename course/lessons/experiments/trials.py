"""Trials to be compared: small real trainings, each with a rate of its own."""

from __future__ import annotations

from functools import cache

import torch

__all__ = ["EPOCHS", "MOST", "rates", "trial_losses"]

EPOCHS, MOST = 27, 27  # of each trial, and trials
_STEPS, _SEEDS, _FEATURES = 8, 32, 4  # steps an epoch; seeds that a loss is the mean of
_NOISE = 1.0  # so large that a high rate soon gets no further


def rates() -> tuple[float, ...]:
    """The learning rate of each trial, log-uniform from 0.002 to 0.06."""
    generator = torch.Generator().manual_seed(0)
    exponents = torch.rand(MOST, generator=generator, dtype=torch.float64)
    return tuple((0.002 * 30**exponents).tolist())


@cache
def trial_losses() -> tuple[tuple[float, ...], ...]:
    """For each trial its loss after each epoch: a linear regression by SGD, one sample a step.

    The loss is that over all possible samples, the mean of 32 seeds. All trials start from zeros
    and see the same samples.
    """
    generator = torch.Generator().manual_seed(0)
    lr = torch.tensor(rates(), dtype=torch.float64)
    weights = torch.zeros(_SEEDS, _FEATURES, MOST, dtype=torch.float64)
    epochs = []
    for _ in range(EPOCHS):
        for _ in range(_STEPS):
            drawn = torch.randn(_SEEDS, _FEATURES + 1, generator=generator, dtype=torch.float64)
            x, noise = drawn[:, :-1].unsqueeze(2), _NOISE * drawn[:, -1:]
            errors = (x * (weights - 1)).sum(1) - noise  # the right weights are ones
            weights -= 2 * lr * errors.unsqueeze(1) * x
        excess = (weights - 1).square().sum(1).mean(0)
        epochs.append((_NOISE**2 + excess).tolist())
    return tuple(zip(*epochs, strict=True))
