"""Batch norm's running mean and variance after each batch: `show_running`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import torch

from course.figures.palette import CARD, FAULT, FILLS, INK, MUTED, RULE
from course.figures.picture import Picture
from course.figures.scene import SMALL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["History", "histories_of", "show_running"]

_WIDTH, _HEIGHT = 836 / 96, 3.4  # inches
_STYLES: tuple[Any, ...] = ("-", "--", ":", "-.")
_COLOURS = (INK, FAULT, FILLS[2], FILLS[4])
_CAPTION = (
    "To the right: the number of batches so far. A dot is what one batch has, a line what the "
    "layer remembers; it starts with mean 0 and variance 1."
)
Momenta = float | Sequence[float | None] | None


@dataclass(frozen=True)
class History:
    """The running mean and variance of one layer, before the first batch and after each."""

    name: str
    means: tuple[float, ...]
    variances: tuple[float, ...]


def show_running(
    batches: torch.Tensor | Sequence[torch.Tensor],
    momentum: Momenta = (0.1, 0.01, None),
    marks: Mapping[str, int] | None = None,
) -> Picture:
    """A picture of what an `nn.BatchNorm1d` remembers after each batch, for each momentum.

    Args:
        batches: For each batch the numbers of one channel, at least two.
        momentum: One or several; None among them is the plain mean over all batches.
        marks: Names for places among the batches, such as {"the demo": 20}.

    Raises:
        ValueError: There is no batch, or one of fewer than two numbers.
    """
    rows = [batch.detach().float().reshape(-1) for batch in batches]
    if not rows or min(map(len, rows)) < 2:
        raise ValueError(
            f"show_running() takes batches of at least two numbers; got {list(map(len, rows))}."
        )
    several = momentum if isinstance(momentum, Sequence) else (momentum,)
    histories = histories_of(rows, several)
    own = [(row.mean().item(), row.var().item()) for row in rows]
    alt = f"After {len(rows)} batches: " + " ".join(
        f"{one.name}: running mean {one.means[-1]:.3g}, running variance {one.variances[-1]:.3g}."
        for one in histories
    )
    return Picture(
        partial(_draw, histories, own, dict(marks or {})),
        alt=f"{alt} The last batch itself: mean {own[-1][0]:.3g}, variance {own[-1][1]:.3g}.",
        caption=_CAPTION,
    )


def histories_of(batches: Sequence[torch.Tensor], momenta: Sequence[float | None]) -> list[History]:
    """What a fresh layer of each momentum remembers, asked after every batch."""
    found = []
    for momentum in momenta:
        norm = torch.nn.BatchNorm1d(1, momentum=momentum, affine=False)
        seen = [(0.0, 1.0)]
        with torch.no_grad():
            for batch in batches:
                norm(batch.reshape(-1, 1))
                seen.append((_number(norm.running_mean), _number(norm.running_var)))
        name = "None, the plain mean" if momentum is None else f"{momentum:g}"
        means, variances = zip(*seen, strict=True)
        found.append(History(f"momentum={name}", means, variances))
    return found


def _number(statistic: torch.Tensor | None) -> float:
    return float(statistic.item()) if statistic is not None else 0.0


def _draw(
    histories: Sequence[History],
    own: Sequence[tuple[float, float]],
    marks: Mapping[str, int],
) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_WIDTH, _HEIGHT), facecolor=CARD, layout="constrained")
    panels = figure.subplots(1, 2)
    _panel(panels[0], "mean", [one.means for one in histories], [m for m, _ in own], marks)
    _panel(panels[1], "variance", [one.variances for one in histories], [v for _, v in own], marks)
    for line, one in zip(panels[0].lines[1:], histories, strict=False):
        line.set_label(one.name)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=len(labels),
        frameon=False,
        fontsize=SMALL * 0.75,
    )
    return figure


def _panel(
    axes: Axes,
    name: str,
    lines: Sequence[Sequence[float]],
    own: Sequence[float],
    marks: Mapping[str, int],
) -> None:
    """One statistic: a dot for each batch, a line for each layer, a rule at each mark."""
    size = SMALL * 0.75
    batches = range(1, len(own) + 1)
    axes.plot(batches, own, ".", color=RULE, markersize=5, label="one batch")
    for number, values in enumerate(lines):
        look: dict[str, Any] = {
            "color": _COLOURS[number % len(_COLOURS)],
            "linestyle": _STYLES[number % len(_STYLES)],
        }
        axes.plot(range(len(values)), values, linewidth=2.2, **look)
    for words, place in marks.items():
        axes.axvline(place + 0.5, color=MUTED, linewidth=1)
        axes.annotate(
            f" {words}", (place + 0.5, 1), xycoords=("data", "axes fraction"), fontsize=size,
            va="top", color=MUTED,
        )  # fmt: skip
    axes.set_title(f"running {name}", fontsize=size * 1.1)
    axes.set_xlabel("batches", fontsize=size)
    axes.tick_params(labelsize=size)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
