"""How samples become batches: the way of an index, and what padding costs, to scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import torch

from course.figures.palette import INK, MUTED, REST, RULE, fill
from course.figures.picture import Picture
from course.figures.scene import Arrow, Box, Item, Label, Scene, beside, paint, text_width

__all__ = ["padding_of", "show_batches", "show_padding"]

_WIDTH = 850.0  # px of a whole figure
_LEFT = 110.0  # px for the names of the stages
_BOX = 26.0  # px, the height of a box
_STAGE = 52.0  # px from one stage to the next
_LINE, _BETWEEN = 11.0, 10.0  # px of a sequence, px between two batches
_PANEL_GAP = 36.0


def show_batches(loader: Any) -> Picture:
    """One epoch of a map-style loader: the sampler's indices, the samples, and the batches.

    The figure asks the loader's own batch sampler, dataset and `collate_fn`.

    Args:
        loader: A `DataLoader` over a map-style dataset, with automatic batching; an epoch of its
            sampler is drawn.
    """
    batches = [list(indices) for indices in loader.batch_sampler]
    samples = [[loader.dataset[i] for i in indices] for indices in batches]
    made = [_in_words(loader.collate_fn(batch)) for batch in samples]
    columns = [
        [(str(i), _in_words(sample)) for i, sample in zip(indices, batch, strict=True)]
        for indices, batch in zip(batches, samples, strict=True)
    ]
    alt = " ".join(
        f"Batch {n}: the sampler gives {indices}, the dataset {', '.join(map(_in_words, batch))}, "
        f"collate_fn makes {one}."
        for n, (indices, batch, one) in enumerate(zip(batches, samples, made, strict=True))
    )
    caption = "From top to bottom: indices from the sampler, samples from the dataset, batches."
    return Picture(partial(paint, _path(columns, made)), alt=alt, caption=caption)


def _path(columns: list[list[tuple[str, str]]], made: list[str]) -> Scene:
    every = [word for batch in columns for pair in batch for word in pair]
    wide = max(map(text_width, every), default=0)
    step = max(34.0, wide + 14)
    items: list[Item] = [
        Label(0, stage * _STAGE + _BOX / 2, name, ink=MUTED)
        for stage, name in enumerate(("sampler", "dataset[i]", "collate_fn"))
    ]
    x = _LEFT
    for number, (batch, words) in enumerate(zip(columns, made, strict=True)):
        width = max(len(batch) * step, text_width(words) + 14)
        items += _batch(batch, words, x, (step, width), fill(number))
        x += width + 18
    return Scene(x, 2 * _STAGE + _BOX, tuple(items))


def _batch(
    batch: list[tuple[str, str]], words: str, x: float, extent: tuple[float, float], colour: str
) -> list[Item]:
    step, width = extent
    items: list[Item] = []
    for column, (index, sample) in enumerate(batch):
        left, middle = x + column * step, x + column * step + (step - 4) / 2
        items.append(Box(left, 0, step - 4, _BOX, index, (REST,), RULE))
        items.append(Arrow(((middle, _BOX + 3), (middle, _STAGE - 3))))
        items.append(Box(left, _STAGE, step - 4, _BOX, sample, (colour,)))
        items.append(Arrow(((middle, _STAGE + _BOX + 3), (middle, 2 * _STAGE - 3))))
    items.append(Box(x, 2 * _STAGE, width - 4, _BOX, words, (colour,), INK))
    return items


def _in_words(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"tensor({value.tolist() if value.numel() <= 8 else f'shape {tuple(value.shape)}'})"
    return str(value)


def padding_of(batches: Sequence[Sequence[int]]) -> tuple[int, int]:
    """The elements of padding, and all elements, of batches of sequences of these lengths.

    >>> padding_of([[5, 2], [1]])
    (3, 11)
    """
    everything = sum(max(batch) * len(batch) for batch in batches if batch)
    return everything - sum(map(sum, batches)), everything


def show_padding(plans: Mapping[str, Sequence[Sequence[int]]]) -> Picture:
    """Batches of sequences of these lengths: what is data and what is padding, to scale.

    Args:
        plans: For each name a list of batches, and each batch a list of lengths of 0 or more.

    Raises:
        ValueError: A length is negative.
    """
    if any(length < 0 for batches in plans.values() for batch in batches for length in batch):
        raise ValueError("lengths are 0 or more")
    longest = max((n for batches in plans.values() for batch in batches for n in batch), default=1)
    room = (_WIDTH - _PANEL_GAP * (len(plans) - 1)) / max(len(plans), 1)
    scale = min(room - 10, 400) / max(longest, 1)
    panels = [_panel(name, batches, scale, room) for name, batches in plans.items()]
    alt = " ".join(_padding_words(name, batches) for name, batches in plans.items())
    caption = "A bar for each sequence, as long as it is. Dashed: padding. A gap ends a batch."
    scene = beside(panels, _PANEL_GAP, align=0)
    return Picture(partial(paint, scene), alt=alt, caption=caption)


def _panel(name: str, batches: Sequence[Sequence[int]], scale: float, width: float) -> Scene:
    wasted, everything = padding_of(batches)
    words = f"{wasted} of {everything} elements are padding"
    items: list[Item] = [Label(0, 8, name, bold=True), Label(0, 26, words, ink=MUTED)]
    y = 40.0
    for number, batch in enumerate(batches):
        widest = max(batch, default=0) * scale
        for length in batch:
            data = length * scale
            if data < widest:
                items.append(Box(data, y, widest - data, _LINE, "", (REST,), RULE, dashed=True))
            if data:
                items.append(Box(0, y, data, _LINE, "", (fill(number),)))
            y += _LINE + 2
        y += _BETWEEN
    return Scene(max(width, text_width(words)), y - _BETWEEN, tuple(items))


def _padding_words(name: str, batches: Sequence[Sequence[int]]) -> str:
    wasted, everything = padding_of(batches)
    return f"{name}: {len(batches)} batches, {wasted} of {everything} elements are padding."
