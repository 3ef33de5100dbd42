"""The window that each output of a layer looks at, and its weights: `show_windows`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import torch

from course.figures.palette import CARD, INK, MUTED, REST, RULE, fill
from course.figures.picture import Picture, drawing
from course.figures.scene import (
    TEXT,
    WIDTH,
    Box,
    Item,
    Label,
    Scene,
    heading,
    paint,
    stack,
)
from course.lessons.layers.inputs_read import Layer, Reading, number_words, reading_of, weight_words

__all__ = ["picture_of", "show_windows", "sum_words"]

_ROW, _LEFT, _RIGHT = 26.0, 70.0, 96.0  # px: height of a row, room for names and for results
_WIDEST = 56.0  # px of a cell
_TOLD = 8  # outputs in the alt text; nobody listens to more
_READ, _LARGEST, _CHOSEN = 0, 1, 3  # the numbers of the fills
_CAPTION = (
    "A column is an input, a row an output. Blue: the inputs that it reads, each with its weight."
)
_LARGEST_CAPTION = (
    "A column is an input, a row an output. Blue: the inputs that it reads. Orange: the largest."
)
_ASKED = "A column is an input. The outputs aren't shown yet."


def show_windows(layers: Layer | Mapping[str, Layer], x: int | torch.Tensor) -> Picture:
    """A picture of what each output is made of, for one layer or several under their names.

    Weights are measured by calling the layer.

    Args:
        layers: One or several by name. Each turns (batch, 1, n) into (batch, 1, m): a pool, an
            `nn.Upsample`, a function.
        x: A row of 1 to 16 numbers, or how many.

    Raises:
        ValueError: There is no layer, the row is longer, or a layer gives another shape or more
            than 16 outputs.
    """
    named = dict(layers) if isinstance(layers, Mapping) else {_name(layers): layers}
    if not named:
        raise ValueError("show_windows() takes a layer, or at least one in the mapping.")
    found = {name: reading_of(layer, x) for name, layer in named.items()}
    return picture_of(found)


def _name(layer: Layer) -> str:
    """A module as it is printed; a function by its name."""
    return repr(layer) if isinstance(layer, torch.nn.Module) else getattr(layer, "__name__", "")


def picture_of(
    readings: Mapping[str, Reading], chosen: int | None = None, *, asked: bool = False
) -> Picture:
    """The picture of what was measured.

    Args:
        readings: By name what a layer makes of a row.
        chosen: The number of an output to point at, from 0; None for none.
        asked: The number of outputs is being asked for: only the inputs are shown.
    """
    alt = " ".join(_words(name, one, asked=asked) for name, one in readings.items())
    if not drawing():
        return Picture(lambda: paint(Scene(1, 1)), alt=alt)
    scenes = [_scene(name, one, chosen, asked=asked) for name, one in readings.items()]
    weighted = any(one.weighted for one in readings.values())
    caption = _ASKED if asked else _CAPTION if weighted else _LARGEST_CAPTION
    return Picture(partial(paint, stack(scenes, gap=16)), alt=alt, caption=caption)


# --- in words -----------------------------------------------------------------------------------


def sum_words(found: Reading, output: int) -> str:
    """What one output is made of, with the numbers put in.

    Args:
        found: What a layer makes of a row.
        output: The number of the output, from 0.

    >>> sum_words(reading_of(torch.nn.AvgPool1d(2), torch.tensor([1.0, 3.0])), 0)
    'out[0] = 1/2 · x[0] + 1/2 · x[1] = 2'
    """
    read, result = found.read_by(output), number_words(found.outputs[output])
    if not found.weighted:
        names = ", ".join(f"x[{j}]" for j in read)
        return f"out[{output}] reads {names or 'nothing'} and is {result}"
    terms = [
        f"x[{j}]" if words == "1" else f"{words} · x[{j}]"
        for j in read
        for words in [weight_words(found.weights[output][j])]
    ]
    return f"out[{output}] = {' + '.join(terms) or '0'} = {result}"


def _words(name: str, found: Reading, *, asked: bool) -> str:
    head = f"{name}: " if name else ""
    if asked:
        return f"{head}{len(found.inputs)} inputs. The outputs aren't shown yet."
    told = range(min(len(found.outputs), _TOLD))
    sums = "; ".join(sum_words(found, output) for output in told)
    more = "; and so on" if len(found.outputs) > _TOLD else ""
    return f"{head}{len(found.inputs)} inputs, {len(found.outputs)} outputs. {sums}{more}."


# --- the scene ----------------------------------------------------------------------------------


def _scene(name: str, found: Reading, chosen: int | None, *, asked: bool) -> Scene:
    """A heading, the inputs, and one row for each output."""
    width = min(_WIDEST, (WIDTH - _LEFT - _RIGHT) / len(found.inputs))
    parts = [_inputs(found, width)]
    if not asked:
        parts += [_output(found, one, width, one == chosen) for one in range(len(found.outputs))]
    many = "?" if asked else str(len(found.outputs))
    sizes = f"{len(found.inputs)} → {many}"
    return stack([heading(f"{name}:  {sizes}" if name else sizes), stack(parts, gap=3)], gap=4)


def _inputs(found: Reading, width: float) -> Scene:
    """The row of inputs under their numbers."""
    items: list[Item] = [Label(_LEFT - 10, 20 + _ROW / 2, "x", "right", size=TEXT)]
    for j, value in enumerate(found.inputs):
        x = _LEFT + j * width
        items.append(Label(x + width / 2, 9, f"x[{j}]", "center", MUTED))
        items.append(Box(x, 20, width, _ROW, number_words(value), (CARD,)))
    return Scene(_LEFT + len(found.inputs) * width, 20 + _ROW + 5, tuple(items))


def _output(found: Reading, output: int, width: float, chosen: bool) -> Scene:
    """The row of one output: a cell for each input, and the result."""
    middle = _ROW / 2
    items: list[Item] = [Label(_LEFT - 10, middle, f"out[{output}]", "right", bold=chosen)]
    for j, weight in enumerate(found.weights[output]):
        text = _cell(found, j, weight)
        colour = _colour(found, output, j)
        edge = RULE if colour == REST else INK
        items.append(Box(_LEFT + j * width, 0, width, _ROW, text, (colour,), edge))
    end = _LEFT + len(found.inputs) * width
    result = f"= {number_words(found.outputs[output])}"
    items.append(Label(end + 10, middle, result, size=TEXT, bold=chosen))
    if chosen:
        items.append(Box(_LEFT - 66, 2, 8, _ROW - 4, fills=(fill(_CHOSEN),)))
    return Scene(end + _RIGHT, _ROW, tuple(items))


def _cell(found: Reading, j: int, weight: float) -> str:
    if not weight:
        return ""
    return weight_words(weight) if found.weighted else number_words(found.inputs[j])


def _colour(found: Reading, output: int, j: int) -> str:
    if not found.weights[output][j]:
        return REST
    largest = not found.weighted and found.inputs[j] == found.outputs[output]
    return fill(_LARGEST if largest else _READ)
