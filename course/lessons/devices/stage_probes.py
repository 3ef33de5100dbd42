"""What the tests of a model on two devices need: stages of several kinds, and where they are.

What `staged` returns; places are the numbers of the two devices, -1 for any other one:

    places        of the parameters and buffers of each stage
    names         in the state_dict
    same          whether `first` and `second` are the stages that were given; None for neither
    said          for each batch, and "said on" which devices
    grads         of all parameters and of the batches, and "grads on" which devices
    plain grads   of all parameters by a batch that needs none
    modes         of all modules
    moves         how often a stage was moved once the model was built
    held          bytes on each device by the model
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from course import gpu
from course.inspection.class_names import class_name
from course.probes.decorator import probe

__all__ = ["staged"]


class _Masked(nn.Module):
    """A layer with a buffer that no file ever holds, one that a file does, and one in float64."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(8, 2)
        self.mask: torch.Tensor
        self.shift: torch.Tensor
        self.exact: torch.Tensor
        self.register_buffer("mask", torch.linspace(0.0, 1.0, 8), persistent=False)
        self.register_buffer("shift", torch.tensor([1.0, 2.0]))
        self.register_buffer("exact", torch.tensor([1 / 3], dtype=torch.float64))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.layer(x * self.mask) + self.shift
        return found


def _stages(kind: str) -> tuple[nn.Module, nn.Module]:
    first = nn.Sequential(nn.Linear(4, 8), nn.Tanh())
    second: nn.Module = nn.Linear(8, 2)
    if kind == "norm":
        first.append(nn.BatchNorm1d(8))
    elif kind == "masked":
        second = _Masked()
    elif kind == "bare":
        second = nn.Tanh()
    elif kind == "twice":
        layer = nn.Linear(8, 8)
        first, second = nn.Sequential(nn.Linear(4, 8), layer, layer), nn.Sequential(second)
    elif kind == "frozen":
        first.requires_grad_(False)
    return first, second


@contextmanager
def _two() -> Iterator[Sequence[torch.device]]:
    """Two devices; the CPU and the GPU where there is one real GPU alone."""
    if not gpu.is_simulated() and torch.cuda.device_count() < 2:
        yield torch.device("cpu"), gpu.device(0)
        return
    with gpu.devices(2) as both:
        yield both


def _held(both: Sequence[torch.device]) -> list[int]:
    return [0 if one.type == "cpu" else gpu.memory_allocated(one) for one in both]


def _tensors(stage: nn.Module) -> list[torch.Tensor]:
    return [*stage.parameters(), *stage.buffers()]


@probe
def staged(
    make: Callable[..., Any],
    kind: str = "plain",
    where: Sequence[int] = (0, 1),
    *,
    rows: Sequence[int] = (3,),
    start: int | None = None,
    training: bool = True,
) -> dict[str, Any]:
    """What `make(first, second, devices)` builds, and what a batch of each number of rows finds.

    Args:
        make: The answer; returns a module, with `first` and `second` if it's right.
        kind: What is special about the stages, such as "norm" or "masked".
        where: The numbers of the devices of both stages, each 0 or 1.
        rows: The rows of each batch, of four features.
        start: The number of the device where a batch is at first; None for the CPU.
        training: The model's mode.

    Returns:
        A dict with the keys that stand at the head of this module.
    """
    with _two() as both, torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(0)  # torch.manual_seed notes its callers for CUDA
        # equal to those in `both`, but not the same objects
        devices = tuple(torch.device(both[n].type, both[n].index) for n in where)
        first, second = _stages(kind)
        before = _held(both)
        model = make(first, second, devices).train(training)
        with _moves_noted((first, second)) as moves:
            seen = _looked_at(model, (first, second), both, before, (rows, start))
            last = _asked_last(model, (first, second), both, start)
        return {**seen, **last, "moves": len(moves)}


@contextmanager
def _moves_noted(stages: Sequence[nn.Module]) -> Iterator[list[str]]:
    """A block in which the list gets a stage's class whenever `to` and its like go through it."""
    moved = list[str]()
    for stage in stages:
        usual = stage._apply

        def noted(*given: Any, usual: Any = usual, **options: Any) -> Any:
            moved.append(class_name(usual.__self__))
            return usual(*given, **options)

        stage._apply = noted  # type: ignore[method-assign]
    try:
        yield moved
    finally:  # a method of its own holds a module, and its memory, until the next collection
        for stage in stages:
            del stage._apply


def _asked_last(
    model: Any, stages: Sequence[nn.Module], both: Sequence[torch.device], start: int | None
) -> dict[str, Any]:
    """What becomes of a batch that needs no gradient."""
    weights = _without_gradients(stages)
    said = model(_batch(3, torch.device("cpu") if start is None else both[start]))
    if said.requires_grad:
        _backward(said)
    grads = [None if one.grad is None else one.grad.cpu() for one in weights]
    return {"plain grads": grads}


def _without_gradients(stages: Sequence[nn.Module]) -> list[nn.Parameter]:
    weights = [weight for stage in stages for weight in stage.parameters()]
    for weight in weights:
        weight.grad = None
    return weights


def _looked_at(
    model: Any,
    stages: tuple[nn.Module, nn.Module],
    both: Sequence[torch.device],
    before: list[int],
    batches: tuple[Sequence[int], int | None],
) -> dict[str, Any]:
    number = {one: index for index, one in enumerate(both)}
    rows, start = batches
    home = torch.device("cpu") if start is None else both[start]
    seen: dict[str, Any] = {
        "places": [[number.get(t.device, -1) for t in _tensors(stage)] for stage in stages],
        "names": list(model.state_dict()),
        "same": [
            getattr(model, name) is stage if hasattr(model, name) else None
            for name, stage in zip(("first", "second"), stages, strict=True)
        ],
        "held": [now - then for now, then in zip(_held(both), before, strict=True)],
    }
    inputs = [_batch(size, home).requires_grad_() for size in rows]
    said = [model(x) for x in inputs]
    for one in said:
        _backward(one)
    grads = [t.grad for t in (*stages[0].parameters(), *stages[1].parameters(), *inputs)]
    grads = [None if one is None else one.clone() for one in grads]
    return {
        **seen,
        "said": [one.detach().cpu() for one in said],
        "said on": [number.get(one.device, -1) for one in said],
        "grads": [None if one is None else one.cpu() for one in grads],
        "grads on": [None if one is None else number.get(one.device, -1) for one in grads],
        "modes": [module.training for module in model.modules()],
    }


def _backward(said: torch.Tensor) -> None:
    """Run backward from a result, with a gradient that differs for each element of it."""
    weights = torch.linspace(1.0, 2.0, said.numel(), dtype=said.dtype).reshape(said.shape)
    said.backward(weights.to(said.device))


def _batch(rows: int, home: torch.device) -> torch.Tensor:
    return torch.linspace(-1.0, 1.0, rows * 4).reshape(rows, 4).to(home)
