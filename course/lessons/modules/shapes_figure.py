"""Shapes on their way through a network, layer by layer: `show_shapes`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from math import prod

from torch import nn

from course.figures.palette import FAULT, INK, MUTED, REST, RULE, fill
from course.figures.picture import Picture, drawing
from course.figures.scene import SMALL, WIDTH, Box, Item, Label, Scene, paint, text_width
from course.figures.storage.descriptions import listed
from course.lessons.modules.layer_calls import Call, Run, Shape, run_of

__all__ = ["shortened", "show_shapes"]

_ROW = 25.0  # px
_NUMBERS = 160.0  # px at the right, for the elements and the parameters
_GAP = 14.0  # px between columns
_NAME, _TITLE, _SHAPES = 120.0, 212.0, 244.0  # px at most, of the columns with words
_HEAD = "takes → gives"
_MOST = 40  # calls that are drawn
_MOST_TOLD = 20  # calls in an alt text


def show_shapes(model: nn.Module, *inputs: object) -> Picture:
    """A picture of a model's layers in the order of their calls, and of the shapes between them.

    The data run through a copy without hooks, so weights, running statistics and the random state
    stay as they are. Where a layer raises, its row says what torch said, and the layers behind it
    are listed; a layer that `forward` never calls is listed too.

    Args:
        model: The module to run; of it a copy runs.
        inputs: What the model is called with.

    Raises:
        TypeError: `model` is no module.

    >>> import torch
    >>> print(show_shapes(nn.Sequential(nn.Linear(4, 3), nn.ReLU()), torch.ones(2, 4)).alt)
    The input has shape (2, 4). 0, Linear(4, 3), gives (2, 3). 1, ReLU(), gives (2, 3).
    """
    if not isinstance(model, nn.Module):
        raise TypeError(
            f"show_shapes() runs a module, not {type(model).__name__}. Give it a model and its "
            "inputs: show_shapes(model, x)."
        )
    if not drawing():
        return Picture(lambda: paint(Scene(1, 1)), alt="Figures are not drawn in this process.")
    run = run_of(model, inputs)
    return Picture(partial(paint, _scene(run)), alt=_alt(run), caption=_caption(run))


def shortened(text: str, wide: float, size: float = SMALL, bold: bool = False) -> str:
    """The text, or as much of it as fits into the width with an ellipsis."""
    if text_width(text, size, bold) <= wide:
        return text
    while text and text_width(text + "…", size, bold) > wide:
        text = text[:-1]
    return text + "…"


def _name(call: Call) -> str:
    return call.name or "the model"


def _words(shapes: Sequence[Shape]) -> str:
    """The first shape, and how many there are beside it."""
    if not shapes:
        return "no tensor"
    return str(shapes[0]) + (f" + {len(shapes) - 1} more" if len(shapes) > 1 else "")


def _path(call: Call) -> str:
    return f"{_words(call.taken)} → {'✗' if call.error else _words(call.given)}"


# --- the scene ----------------------------------------------------------------------------------


def _scene(run: Run) -> Scene:
    calls = run.calls[-_MOST:] if run.failed else run.calls[:_MOST]
    columns = _Columns(run, calls)
    items: list[Item] = list(columns.headings())
    y = _ROW
    items += columns.row(y, "input", "", _words(run.inputs), run.inputs)
    y += _ROW
    for call in calls:
        items += columns.call(y, call)
        y += _ROW
        if call.error:
            items.append(Label(0, y + _ROW / 2 - 3, shortened(f"✗ {call.error}", WIDTH), ink=FAULT))
            y += _ROW
    for text, ink in _notes(run, len(calls)):
        items.append(Label(0, y + _ROW / 2, shortened(text, WIDTH), ink=ink))
        y += _ROW
    return Scene(WIDTH, y, tuple(items))


class _Columns:
    """Where each column of the picture begins, and the rows in them."""

    def __init__(self, run: Run, calls: Sequence[Call]) -> None:
        names = ["input", *(_name(call) for call in calls)]
        titles = ["layer", *(call.title for call in calls)]
        paths = [_HEAD, _words(run.inputs), *map(_path, calls)]
        self._wide = tuple(
            min(most, max(text_width(one, SMALL, bold) for one in column))
            for column, most, bold in (
                (names, _NAME, True),
                (titles, _TITLE, False),
                (paths, _SHAPES, False),
            )
        )
        first, second, third = self._wide
        self._title = first + _GAP
        self._shapes = self._title + second + _GAP
        self._bar = self._shapes + third + _GAP
        self._longest = WIDTH - _NUMBERS - self._bar
        given = [run.inputs, *(call.given for call in calls)]
        self._most = max((_elements(shapes) for shapes in given), default=0) or 1

    def headings(self) -> Iterator[Item]:
        """The first line."""
        heads = (
            (0.0, "call"),
            (self._title, "layer"),
            (self._shapes, _HEAD),
            (self._bar, "elements it gives"),
        )
        for x, words in heads:
            yield Label(x, _ROW / 2, words, ink=MUTED)
        yield Label(WIDTH, _ROW / 2, "parameters", "right", MUTED)

    def call(self, y: float, call: Call) -> Iterator[Item]:
        """The row of a call, with the number of its parameters at the end."""
        yield from self.row(y, _name(call), call.title, _path(call), call.given, bool(call.error))
        if call.parameters:
            yield Label(WIDTH, y + _ROW / 2, f"{call.parameters:,}", "right")

    def row(
        self, y: float, name: str, title: str, path: str, given: Sequence[Shape], bad: bool = False
    ) -> Iterator[Item]:
        """Name, layer, shapes, and a bar to scale."""
        ink, middle = FAULT if bad else INK, y + _ROW / 2
        first, second, third = self._wide
        yield Label(0, middle, shortened(name, first, bold=True), ink=ink, bold=True)
        if title:
            yield Label(self._title, middle, shortened(title, second), ink=ink)
        yield Label(self._shapes, middle, shortened(path, third), ink=ink)
        if not bad:
            wide = max(1.0, self._longest * _elements(given) / self._most)
            colour = REST if not title else fill(0)
            yield Box(self._bar, y + 4, wide, _ROW - 8, fills=(colour,), edge=RULE)
            yield Label(self._bar + wide + 6, middle, f"{_elements(given):,}")


def _elements(shapes: Sequence[Shape]) -> int:
    return sum(prod(shape) for shape in shapes)


def _notes(run: Run, drawn: int) -> Iterator[tuple[str, str]]:
    """What stands below the rows."""
    left_out = len(run.calls) - drawn
    if left_out:
        where = "before these" if run.failed else "after these"
        yield f"{left_out} further calls {where} are not drawn.", MUTED
    if run.unused:
        words = ", ".join(f"{name or 'the model'}: {title}" for name, title in run.unused)
        head = "Not reached" if run.failed else "✗ Never called in this run"
        yield f"{head}: {words}", MUTED if run.failed else FAULT


def _alt(run: Run) -> str:
    words = [f"The input has shape {_words(run.inputs)}."]
    told = run.calls[-_MOST_TOLD:] if run.failed else run.calls[:_MOST_TOLD]
    for call in told:
        title = f"{_name(call)}, {call.title},"
        if call.error:
            words.append(f"{title} takes {_words(call.taken)} and raises {call.error}.")
        else:
            words.append(f"{title} gives {_words(call.given)}.")
    if len(run.calls) > len(told):
        words.append(f"{len(run.calls) - len(told)} further calls are not told.")
    if run.unused:
        names = listed([f"{name or 'the model'}" for name, _ in run.unused])
        words.append(f"{'Not reached' if run.failed else 'Never called'}: {names}.")
    return " ".join(words)


def _caption(run: Run) -> str:
    size = f"The model registers {run.parameters:,} parameters."
    if run.failed:
        return f"It ends in an error, in the line with the ✗. {size}"
    words = "From top to bottom in the order of the calls; bars are to scale."
    return f"{words} It gives {_words(run.outputs)}. {size}"
