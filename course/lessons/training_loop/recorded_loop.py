"""A training loop, run on one weight while every zero_grad, backward and step is noted down."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

__all__ = [
    "BY_HAND",
    "START",
    "Batch",
    "Event",
    "Loop",
    "MakeOptimizer",
    "record",
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
    """Four batches of two examples, for which the best weight is 1."""
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
