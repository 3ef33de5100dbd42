"""Gradients over the calls of a training loop: `show_gradients`.

A training loop, run on one weight while every zero_grad, backward and step is noted down.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import nn

from course.figures.palette import CARD, MUTED, RULE, fill
from course.figures.picture import Picture, drawing
from course.figures.scene import (
    SMALL,
    WIDTH,
    Arrow,
    Box,
    Item,
    Label,
    Scene,
    flow,
    heading,
    line,
    paint,
    stack,
    text_width,
)
from course.figures.storage.descriptions import listed

__all__ = [
    "BY_HAND",
    "START",
    "Batch",
    "Event",
    "Loop",
    "MakeOptimizer",
    "record",
    "show_gradients",
    "usual_batches",
]

BY_HAND = "by hand"  # the loop wrote to `.grad` itself: clipping, `w.grad = None`, dividing
START = 3.0  # the weight before training; the usual batches want it to become 1

Batch = tuple[torch.Tensor, torch.Tensor]
Loop = Callable[[nn.Module, torch.optim.Optimizer, list[Batch]], object]
MakeOptimizer = Callable[[Iterable[nn.Parameter]], torch.optim.Optimizer]


@dataclass(frozen=True)
class Event:
    """A call of the loop, and what holds after it.

    `parts` are the numbers of the batches that `.grad` is made of, each with what it added.
    """

    kind: str  # "backward" | "step" | "zero_grad" | BY_HAND
    weight: float
    grad: float | None
    parts: tuple[tuple[str, float], ...] = ()


def usual_batches() -> list[Batch]:
    """Four batches of two samples, for which the best weight is 1."""
    rows = ((0.5, 1.0), (1.0, 1.0), (0.8, 1.2), (1.0, 0.5))
    inputs = [torch.tensor(row).view(-1, 1) for row in rows]
    return [(x, x.clone()) for x in inputs]


def record(loop: Loop, batches: Sequence[Batch], make_optimizer: MakeOptimizer) -> list[Event]:
    """What the loop did to one weight and its gradient, call by call."""
    with torch.random.fork_rng(devices=[]):  # the layer draws a weight that is not used
        model = nn.Linear(1, 1, bias=False)
    nn.init.constant_(model.weight, START)
    optimizer = make_optimizer(model.parameters())
    recorder = _Recorder(model, optimizer, batches)
    loop(model, optimizer, list(batches))
    return recorder.events


class _Recorder:
    """Sees the calls through torch's own hooks; `zero_grad` has none, so it is wrapped."""

    def __init__(
        self, model: nn.Linear, optimizer: torch.optim.Optimizer, batches: Sequence[Batch]
    ) -> None:
        self.events: list[Event] = []
        self._weight = model.weight
        self._inputs = [x for x, _ in batches]
        self._forwards: list[str] = []  # batches whose loss has not gone backward yet
        self._arriving = 0.0
        model.register_forward_hook(self._forward)
        model.weight.register_hook(self._arrives)
        model.weight.register_post_accumulate_grad_hook(self._backward)
        optimizer.register_step_pre_hook(lambda *_: self._catch_up())
        optimizer.register_step_post_hook(lambda *_: self._note("step", self._parts()))
        for owner in (model, optimizer):
            self._wrap(owner)

    def _wrap(self, owner: Any) -> None:
        clear = owner.zero_grad

        def zero_grad(*args: Any, **named: Any) -> None:
            self._catch_up()
            clear(*args, **named)
            self._note("zero_grad", ())

        owner.zero_grad = zero_grad

    def _forward(self, _: nn.Module, args: tuple[Any, ...], result: torch.Tensor) -> None:
        if result.requires_grad:
            found = [n for n, x in enumerate(self._inputs, 1) if x is args[0]]
            self._forwards.append(str(found[0]) if found else "?")

    def _arrives(self, gradient: torch.Tensor) -> None:
        self._catch_up()
        self._arriving = gradient.item()

    def _backward(self, _: torch.Tensor) -> None:
        name = "+".join(dict.fromkeys(self._forwards)) or "?"
        self._forwards.clear()
        self._note("backward", (*self._parts(), (name, self._arriving)))

    def _catch_up(self) -> None:
        """Note what the loop did to the gradient itself, without any of the three calls."""
        now, was = self._grad(), self._grad_was()
        if now == was:
            return
        if now and was:
            self._note(BY_HAND, tuple((name, part * now / was) for name, part in self._parts()))
        else:
            self._note(BY_HAND, (("?", now),) if now else ())

    def _grad(self) -> float | None:
        return None if self._weight.grad is None else self._weight.grad.item()

    def _grad_was(self) -> float | None:
        return self.events[-1].grad if self.events else None

    def _parts(self) -> tuple[tuple[str, float], ...]:
        return self.events[-1].parts if self.events else ()

    def _note(self, kind: str, parts: tuple[tuple[str, float], ...]) -> None:
        self.events.append(Event(kind, self._weight.item(), self._grad(), parts))


_LEFT = 44.0  # px for the names of the rows
_COLUMN = 66.0  # px for one call: as wide as the word zero_grad
_BAR = 50.0
_ROOM = 92.0  # px for the bars of the largest gradient
_IN_ROW = int((WIDTH - _LEFT) // _COLUMN)
_CAPTION = (
    "A column for each call, from left to right. Cells show what each batch has added to .grad, "
    "to scale, with the batch's number; the number below them is what step() reads. Dashed: no "
    f"gradient at all. The weight starts at {START:g}."
)


def show_gradients(
    loops: Mapping[str, Loop],
    batches: Sequence[Batch] | None = None,
    lr: float = 0.1,
    optimizer: MakeOptimizer | None = None,
) -> Picture:
    """A picture of what stands in `.grad` after each zero_grad, backward and step of each loop.

    The loops run, each with a model of one weight, which starts at 3.

    Args:
        loops: By name what is called with the model, an optimizer and a list of batches `(x, y)`.
        batches: The batches; None for four, for which a weight of 1 is best.
        lr: The learning rate of SGD.
        optimizer: Makes another optimizer from the parameters; `lr` is not used then.

    Raises:
        ValueError: No loop is given.
    """
    if not drawing():
        return Picture(lambda: paint(Scene(1, 1)), alt="Figures are not drawn in this process.")
    if not loops:
        raise ValueError("show_gradients() runs training loops: give it at least one by name.")
    make = optimizer or (lambda parameters: torch.optim.SGD(parameters, lr=lr))
    given = usual_batches() if batches is None else list(batches)
    runs = {name: record(loop, given, make) for name, loop in loops.items()}
    scale = _Scale.of([event for events in runs.values() for event in events])
    scenes = [_run_scene(name, events, scale) for name, events in runs.items()]
    alt = " ".join(_words(name, events) for name, events in runs.items())
    return Picture(partial(paint, flow(scenes, WIDTH, gap=18)), alt=alt, caption=_CAPTION)


class _Scale:
    """How gradients become pixels, upwards from a line at `zero`."""

    def __init__(self, highest: float, lowest: float) -> None:
        self._unit = _ROOM / ((highest - lowest) or 1.0)
        self.zero = highest * self._unit

    @classmethod
    def of(cls, events: Sequence[Event]) -> _Scale:
        """The scale on which every gradient of these events has room."""
        above = [sum(max(part, 0) for _, part in event.parts) for event in events]
        below = [sum(min(part, 0) for _, part in event.parts) for event in events]
        return cls(max(above, default=0), min(below, default=0))

    def height(self, value: float) -> float:
        """The height of a cell."""
        return abs(value) * self._unit


def _run_scene(name: str, events: Sequence[Event], scale: _Scale) -> Scene:
    """One loop under its name, in as many rows as its calls need."""
    each = math.ceil(len(events) / max(1, math.ceil(len(events) / _IN_ROW)))  # rows of one length
    rows = [events[i : i + each] for i in range(0, len(events), max(1, each))]
    if not rows:
        return stack([heading(name), line("no call", ink=MUTED)])
    return stack([heading(name), *(_row_scene(row, scale) for row in rows)], gap=4)


def _row_scene(events: Sequence[Event], scale: _Scale) -> Scene:
    top, low = 22.0, 22.0 + _ROOM
    names = [Label(0, low + 14, ".grad", ink=MUTED), Label(0, low + 34, "weight", ink=MUTED)]
    items: list[Item] = [*names, Box(_LEFT, top + scale.zero, _COLUMN * len(events), 0, edge=RULE)]
    for number, event in enumerate(events):
        middle = _LEFT + (number + 0.5) * _COLUMN
        items += _column(event, middle, top, scale)
        items += _numbers(event, middle, low)
    return Scene(_LEFT + _COLUMN * len(events), low + 44, tuple(items))


def _column(event: Event, middle: float, top: float, scale: _Scale) -> Iterator[Item]:
    yield Label(middle, 9, event.kind, "center", bold=event.kind == "step")
    left, zero = middle - _BAR / 2, top + scale.zero
    if event.grad is None:
        height = min(20.0, _ROOM)
        yield Box(left, top + _ROOM - height, _BAR, height, "None", (CARD,), RULE, MUTED, True)
    up = down = zero
    for name, part in event.parts:
        height = scale.height(part)
        up, down = (up - height, down) if part > 0 else (up, down + height)
        y = up if part > 0 else down - height
        text = name if height > SMALL and text_width(name) < _BAR else ""
        yield Box(left, y, _BAR, height, text, (_colour(name),), size=SMALL)


def _colour(name: str) -> str:
    return fill(int(name) - 1) if name.isdigit() else CARD


def _numbers(event: Event, middle: float, low: float) -> Iterator[Item]:
    """The gradient below its cells and, after a step, the weight that it led to."""
    if event.grad is not None:
        yield Label(middle, low + 14, _number(event.grad), "center", bold=event.kind == "step")
    if event.kind == "step":
        yield Label(middle, low + 34, _number(event.weight), "center", bold=True)
        yield Arrow(((middle, low + 20), (middle, low + 27)))


def _number(value: float) -> str:
    return f"{value + 0.0:.{3 if abs(value) >= 0.01 else 2}g}"


def _words(name: str, events: Sequence[Event]) -> str:
    told = "; ".join(_event_words(event) for event in events) or "no call"
    return f"{name}, the weight starts at {_number(START)}: {told}."


def _event_words(event: Event) -> str:
    grad = "None" if event.grad is None else _number(event.grad)
    if event.kind == "step":
        return f"step reads {grad}, weight {_number(event.weight)}"
    what = "written by hand" if event.kind == BY_HAND else event.kind
    names = listed([name for name, _ in event.parts])
    batches = "batch" if len(event.parts) == 1 else "batches"
    return f"{what}, .grad {grad}" + (f" ({batches} {names})" if names else "")
