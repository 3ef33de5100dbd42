"""Running sums over the number of terms, to see one stop or drift: `show_sums`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import torch

from course.figures.curves import draw_lines
from course.figures.picture import Picture

__all__ = ["show_sums"]

_CAPTION = "To the right: the number of terms. Upwards: the sum so far."


def show_sums(sums: Mapping[str, torch.Tensor], at: Sequence[float] | None = None) -> Picture:
    """A line for each running sum, all over the same numbers of terms (`at`, or 1, 2, 3, …).

    Args:
        sums: By name the sums so far, all of one length.
        at: The number of terms at each of them.

    Raises:
        ValueError: The lengths differ, or there is nothing to draw.
    """
    lines = {name: [float(x) for x in values.tolist()] for name, values in sums.items()}
    lengths = {name: len(values) for name, values in lines.items()}
    counts = [float(n) for n in at] if at is not None else _counted(lengths)
    if not lines or set(lengths.values()) != {len(counts)} or not counts:
        raise ValueError(f"show_sums() takes sums of one length, with `at` as long; got {lengths}.")
    alt = " ".join(
        f"{name}: {values[-1]:,.10g} after {counts[-1]:,.0f} terms."
        for name, values in lines.items()
    )
    drawn = {name: (counts, values) for name, values in lines.items()}
    draw = partial(draw_lines, drawn, "terms added", "sum so far")
    return Picture(draw, alt=alt, caption=_CAPTION)


def _counted(lengths: Mapping[str, int]) -> list[float]:
    return [float(n) for n in range(1, max(lengths.values(), default=0) + 1)]
