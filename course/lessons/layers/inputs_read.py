"""Which inputs each output of a layer reads, and with which weight: measured by calling it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import torch

__all__ = ["Layer", "Reading", "number_words", "reading_of", "weight_words"]

Layer = Callable[[torch.Tensor], torch.Tensor]

_MOST = 16  # inputs and outputs; more make cells that nobody reads
_LARGEST_DENOMINATOR = 20  # of a weight that is written as a fraction


@dataclass(frozen=True)
class Reading:
    """What a layer makes of a row of numbers, and what each output is made of.

    Attributes:
        inputs: The row.
        outputs: What the layer makes of it.
        weights: `weights[i][j]` is the factor of input j in output i, 0 where it is not read.
        weighted: Whether outputs are weighted sums; if not, as in max pooling, a weight of 1 stands
            for what is read.
    """

    inputs: tuple[float, ...]
    outputs: tuple[float, ...]
    weights: tuple[tuple[float, ...], ...]
    weighted: bool

    def read_by(self, output: int) -> list[int]:
        """The inputs that this output reads."""
        return [j for j, weight in enumerate(self.weights[output]) if weight]


def reading_of(layer: Layer, x: int | torch.Tensor) -> Reading:
    """What the layer, called with a batch of rows of one channel, does to a row of numbers.

    Args:
        layer: Turns (batch, 1, n) into (batch, 1, m), with m up to 16.
        x: A row of 1 to 16 numbers, or how many.

    Raises:
        ValueError: The row is longer, or the layer gives another shape.

    >>> found = reading_of(torch.nn.AvgPool1d(2), torch.tensor([1.0, 3.0, 5.0, 5.0]))
    >>> found.outputs, found.weights[0]
    ((2.0, 5.0), (0.5, 0.5, 0.0, 0.0))
    """
    row = _row(x)
    size = len(row)
    with torch.no_grad():
        outputs = _called(layer, row.expand(1, 1, size))[0]
        weights = _called(layer, torch.eye(size).unsqueeze(1)).T
        # Not straight, so that the largest of a window is never the sum or the mean of it.
        probe = torch.arange(1.0, size + 1).square() % 7 + 0.5
        summed = torch.allclose(
            _called(layer, probe.expand(1, 1, size))[0], weights @ probe, atol=1e-4
        )
        if not summed:
            marked = torch.ones(size, size).fill_diagonal_(math.nan)
            weights = _called(layer, marked.unsqueeze(1)).T.isnan().float()
    weights = weights.where(weights.abs() > 1e-6, torch.zeros(()))
    rows = tuple(tuple(map(float, one)) for one in weights.tolist())
    return Reading(tuple(row.tolist()), tuple(outputs.tolist()), rows, summed)


def _row(x: int | torch.Tensor) -> torch.Tensor:
    row = torch.arange(float(x)) if isinstance(x, int) else x.detach().float()
    if row.dim() != 1 or not 1 <= len(row) <= _MOST:
        got = f"{x}" if isinstance(x, int) else f"shape {tuple(x.shape)}"
        raise ValueError(f"a row has one dimension and 1 to {_MOST} numbers; got {got}.")
    return row


def _called(layer: Layer, rows: torch.Tensor) -> torch.Tensor:
    """The layer's results for rows of one channel, without the dimension of channels."""
    results = layer(rows)
    fits = results.dim() == 3 and results.shape[:2] == rows.shape[:2]
    if not fits or not 1 <= results.shape[2] <= _MOST:
        raise ValueError(
            f"the layer must turn {tuple(rows.shape)} into a tensor of the same batch and channel "
            f"with 1 to {_MOST} outputs; it gave {tuple(results.shape)}."
        )
    return results[:, 0]


def weight_words(weight: float) -> str:
    """The weight as a small fraction where it is one, else with two decimals.

    >>> weight_words(0.33333334), weight_words(1.0), weight_words(0.123)
    ('1/3', '1', '0.12')
    """
    near = Fraction(weight).limit_denominator(_LARGEST_DENOMINATOR)
    return str(near) if abs(near - weight) < 1e-5 else f"{weight:.2f}"


def number_words(value: float) -> str:
    """The number in at most four digits."""
    return f"{value:.4g}"
