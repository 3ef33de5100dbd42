"""What a training did to each parameter and buffer of a model: `show_drift`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import nn

from course.figures.palette import FAULT, INK, MUTED, RULE, fill
from course.figures.picture import Picture, drawing
from course.figures.scene import SMALL, WIDTH, Box, Item, Label, Scene, paint

__all__ = ["Entry", "entries_of", "show_drift"]

_MOST = 24  # entries; more rows nobody reads
_ROW = 24.0  # px
_KIND, _GRAD, _DRIFT = 210.0, 370.0, 605.0  # px: where the columns begin
_BAR = 110.0  # px of the longest bar of a column
_CAPTION = (
    "A row for each parameter and each buffer of floats (counters are left out). Left bars: the "
    "length (norm) of its gradient after the "
    "last backward. Right bars: how far it is from where it was (norm of the difference), in red "
    "where it moved without a gradient."
)


@dataclass(frozen=True)
class Entry:
    """One parameter or buffer, before and after.

    `gradient` is the norm of `.grad`, None where there is none; `drift` the norm of the change.
    """

    name: str
    buffer: bool
    requires_grad: bool
    gradient: float | None
    drift: float

    @property
    def crept(self) -> bool:
        """Whether it moved though no gradient told it to."""
        return self.drift > 0 and self.gradient is None


def show_drift(before: nn.Module, after: nn.Module) -> Picture:
    """A picture of gradient and drift for every entry of a model.

    Args:
        before: A copy of the model, made before the training (`copy.deepcopy`).
        after: The model now, with the gradients of its last backward.

    Returns:
        The picture: a row for each parameter and each buffer that holds floats.

    Raises:
        ValueError: The two have other names or shapes, or more than 24 entries.
    """
    if not drawing():
        return Picture(lambda: paint(Scene(1, 1)), alt="Figures are not drawn in this process.")
    entries = entries_of(before, after)
    if not 1 <= len(entries) <= _MOST:
        raise ValueError(f"show_drift() draws 1 to {_MOST} entries; the model has {len(entries)}.")
    alt = " ".join(f"{entry.name}: {_words(entry)}." for entry in entries)
    return Picture(partial(paint, _scene(entries)), alt=alt, caption=_CAPTION)


def entries_of(before: nn.Module, after: nn.Module) -> list[Entry]:
    """The parameters and float buffers of both, compared.

    Args:
        before: A copy of the model from earlier.
        after: The model now.

    Returns:
        An entry for each, in the order of modules; a module's parameters before its buffers.

    Raises:
        ValueError: The two have other names or shapes.
    """
    was, now = (_tensors(module) for module in (before, after))
    if {name: one.shape for name, one in was.items()} != {n: one.shape for n, one in now.items()}:
        raise ValueError("the two models have other names or shapes: give a copy and the model.")
    found = []
    for name, tensor in now.items():
        gradient = None if tensor.grad is None else tensor.grad.double().norm().item()
        drift = (tensor.detach().double() - was[name].detach().double()).norm().item()
        buffer = not isinstance(tensor, nn.Parameter)
        found.append(Entry(name, buffer, tensor.requires_grad, gradient, drift))
    return found


def _tensors(module: nn.Module) -> dict[str, torch.Tensor]:
    """Parameters and float buffers by name, module by module."""
    found: dict[str, torch.Tensor] = {}
    for prefix, part in module.named_modules():
        own = [*part.named_parameters(recurse=False), *part.named_buffers(recurse=False)]
        for name, tensor in own:
            if tensor.is_floating_point():
                found[f"{prefix}.{name}" if prefix else name] = tensor
    return found


def _words(entry: Entry) -> str:
    moved = f"moved by {_number(entry.drift)}" if entry.drift else "stayed"
    if entry.buffer:
        return f"buffer, {moved}"
    gradient = "no gradient" if entry.gradient is None else f"gradient {_number(entry.gradient)}"
    return f"parameter{'' if entry.requires_grad else ', frozen'}, {gradient}, {moved}"


def _number(value: float) -> str:
    return f"{value:.3g}"


def _scene(entries: Sequence[Entry]) -> Scene:
    heads = ((0.0, "entry"), (_KIND, "kind"), (_GRAD, "gradient"), (_DRIFT, "drift"))
    items: list[Item] = [Label(x, 9, words, bold=True) for x, words in heads]
    items.append(Box(0, 20, WIDTH, 0, edge=RULE))
    longest = [
        max((entry.gradient or 0.0 for entry in entries), default=0.0),
        max((entry.drift for entry in entries), default=0.0),
    ]
    for number, entry in enumerate(entries):
        items += _row(entry, 26 + number * _ROW, longest)
    return Scene(WIDTH, 30 + len(entries) * _ROW, tuple(items))


def _row(entry: Entry, top: float, longest: Sequence[float]) -> list[Item]:
    middle = top + _ROW / 2
    name = entry.name if len(entry.name) <= 26 else f"…{entry.name[-25:]}"
    kind = "buffer" if entry.buffer else "parameter" + ("" if entry.requires_grad else ", frozen")
    items: list[Item] = [Label(0, middle, name), Label(_KIND, middle, kind, ink=MUTED)]
    gradient = "None" if entry.gradient is None else _number(entry.gradient)
    if entry.buffer:
        gradient = "has none"
    items += _bar(_GRAD, top, entry.gradient or 0.0, longest[0], gradient, fill(0))
    drift = _number(entry.drift) if entry.drift else "0"
    colour = fill(5) if entry.crept else fill(2)
    return items + _bar(_DRIFT, top, entry.drift, longest[1], drift, colour, entry.crept)


def _bar(
    x: float, top: float, value: float, longest: float, words: str, colour: str, bold: bool = False
) -> list[Item]:
    """A bar with its number to the right."""
    width = _BAR * value / longest if longest else 0.0
    items: list[Item] = []
    if width:
        items.append(Box(x, top + 4, max(width, 1.5), _ROW - 8, fills=(colour,)))
    ink = FAULT if bold else (INK if value else MUTED)
    place = x + max(width, 1.5) + 7 if width else x
    return [*items, Label(place, top + _ROW / 2, words, ink=ink, size=SMALL, bold=bold)]
