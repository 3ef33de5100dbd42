"""What the tests of sharded batches need: small models that note down each call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn

from course.probes.decorator import probe

__all__ = ["LOSSES", "accumulated", "replica", "shards_run"]

Pair = tuple[torch.Tensor, torch.Tensor]


class _Heads(nn.Module):
    """Three heads: a batch uses one of the first two, and nothing uses the third."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.other = nn.Linear(2, 1), nn.Linear(2, 1)
        self.idle = nn.Linear(2, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        used = self.one if float(x.detach().sum()) > 0 else self.other
        found: torch.Tensor = used(x)
        return found


class _Scaled(nn.Module):
    """A layer behind two buffers, one of them of whole numbers; a state_dict may hold them."""

    def __init__(self, persistent: bool = True) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 1)
        self.scale: torch.Tensor
        self.steps: torch.Tensor
        self.register_buffer("scale", torch.rand(2) + 0.5, persistent)
        self.register_buffer("steps", torch.randint(1, 9, ()), persistent)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.layer(x * self.scale) + self.steps
        return found


def _tied() -> nn.Module:
    layer = nn.Linear(2, 2)
    return nn.Sequential(layer, nn.Tanh(), layer, nn.Linear(2, 1))


def _twins() -> nn.Module:
    """Two layers with one weight between them, but a bias each."""
    layer, twin = nn.Linear(2, 2), nn.Linear(2, 2)
    twin.weight = layer.weight
    return nn.Sequential(layer, nn.Tanh(), twin, nn.Linear(2, 1))


def _fixed() -> nn.Module:
    model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    model[0].requires_grad_(False)
    return model


_MODELS: dict[str, Callable[[], nn.Module]] = {
    "linear": lambda: nn.Linear(2, 1),
    "deep": lambda: nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1)),
    "fixed": _fixed,
    "tied": _tied,
    "twins": _twins,
    "heads": _Heads,
    "scaled": _Scaled,
    "unsaved": lambda: _Scaled(persistent=False),
}


def _lopsided(said: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
    """A mean loss that isn't the same with its arguments the other way round."""
    return ((said - label).square() + said).mean()


LOSSES: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "square": nn.functional.mse_loss,
    "lopsided": _lopsided,
}


def replica(kind: str, seed: int = 0) -> nn.Module:
    """A small model of a kind in float64, always the same for the same seed.

    Args:
        kind: A key of `_MODELS`.
        seed: What torch is seeded with for it; its generator is put back.
    """
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)  # torch.manual_seed notes its callers for CUDA
        return _MODELS[kind]().double()


def _calls_of(model: nn.Module) -> list[int]:
    """The samples of each call of the model from now on."""
    calls: list[int] = []
    model.register_forward_pre_hook(lambda module, args: calls.append(len(args[0])))
    return calls


def _fill_gradients(weights: Iterable[torch.Tensor], stale: float | None) -> None:
    """Let this number stand in each `.grad`, or nothing."""
    for weight in weights:
        weight.grad = None if stale is None else torch.full_like(weight, stale)


@probe
def shards_run(
    procedure: Callable[..., Any],
    kind: str,
    batch: Pair,
    sizes: Sequence[int],
    *,
    stale: float | None = None,
    loss: str = "square",
) -> dict[str, Any]:
    """What `procedure(model, loss_fn, x, y, sizes)` returns and leaves behind.

    Once the answer has returned, its gradients and weights are overwritten: what it returned should
    be its own. "calls" are the samples of each call of the model; "in grad" says of each result
    whether it is a `.grad` itself.

    Args:
        procedure: The answer.
        kind: The model, a key of `_MODELS`.
        batch: Inputs and labels.
        sizes: The samples of each shard.
        stale: What stands in each `.grad` before; None for no gradient.
        loss: A name in LOSSES.
    """
    model, given = replica(kind), list(sizes)
    calls, weights = _calls_of(model), list(model.parameters())
    _fill_gradients(weights, stale)
    held = [weight.grad for weight in weights]
    result = procedure(model, LOSSES[loss], *batch, given)
    grads = [None if w.grad is None else w.grad.clone() for w in weights]
    same = [w.grad is g for w, g in zip(weights, held, strict=True)]
    listed = result if isinstance(result, list | tuple) else []
    in_grad = [one is not None and any(one is w.grad for w in weights) for one in listed]
    _overwrite([*weights, *held, *(weight.grad for weight in weights)])
    return {
        "result": result,
        "calls": calls,
        "grads": grads,
        "same": same,
        "in grad": in_grad,
        "sizes": given,
        "recorded": [getattr(one, "requires_grad", False) for one in listed],
        "modes": [module.training for module in model.modules()],
    }


def _overwrite(tensors: Sequence[torch.Tensor | None]) -> None:
    with torch.no_grad():
        for tensor in tensors:
            if tensor is not None:
                tensor.fill_(77.0)


class _Wrapped(nn.Module):
    """What DistributedDataParallel does about `no_sync`, in a group of ranks that are all alike.

    The flag is read when the forward pass runs; the gradients are averaged at the end of the
    backward pass that belongs to it. Where nothing is said of another rank, all have the same
    samples, so the mean is what each has; else there's one, and this is each of its gradients.
    """

    def __init__(self, module: nn.Module, events: list[Any], other: float | None = None) -> None:
        super().__init__()
        self.module = module
        self.require_backward_grad_sync = True
        self._events, self._other = events, other

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Leave the gradients alone after what runs in the block."""
        before = self.require_backward_grad_sync
        self.require_backward_grad_sync = False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        said: torch.Tensor = self.module(x)
        synced = self.require_backward_grad_sync and torch.is_grad_enabled()
        self._events.append(["forward", len(x)])
        if said.requires_grad:
            said.register_hook(lambda gradient: self._at_backward(len(gradient), synced))
        return said

    def _at_backward(self, samples: int, synced: bool) -> None:
        self._events.append(["backward", samples])
        if synced:
            engine: Any = torch.autograd.Variable._execution_engine
            engine.queue_callback(self._all_reduce)

    def _all_reduce(self) -> None:
        self._events.append(["all-reduce"])
        for weight in self.module.parameters():
            if weight.grad is not None and self._other is not None:
                weight.grad.add_(self._other).div_(2)


class _Steps:
    """A plain SGD that notes down its steps; torch's own imports the compiler at its first use."""

    def __init__(self, model: nn.Module, lr: float, events: list[Any]) -> None:
        group: dict[str, Any] = {"params": list(model.parameters()), "lr": lr}
        self.param_groups = [group]
        self._events = events

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clear the gradients of all parameters."""
        for weight in self.param_groups[0]["params"]:
            if set_to_none or weight.grad is None:
                weight.grad = None
            else:
                weight.grad.zero_()

    def step(self) -> None:
        """Move each parameter that has a gradient."""
        with torch.no_grad():
            for weight in self.param_groups[0]["params"]:
                if weight.grad is not None:
                    weight.sub_(self.param_groups[0]["lr"] * weight.grad)
        self._events.append(["step"])


@probe
def accumulated(
    procedure: Callable[..., Any],
    kind: str,
    parts: Sequence[Pair],
    lr: float = 0.1,
    *,
    stale: float | None = None,
    runs: int = 1,
    loss: str = "square",
    other: float | None = None,
    order: Sequence[int] | None = None,
) -> dict[str, Any]:
    """What `procedure(model, loss_fn, parts, optimizer)` does with a wrapped model, in order.

    "syncs again" says whether gradients are averaged afterwards.

    Args:
        procedure: The answer.
        kind: The model, a key of `_MODELS`.
        parts: Pairs of inputs and labels.
        lr: The learning rate.
        stale: What stands in each `.grad` before; None for no gradient.
        runs: How often it is called.
        loss: A name in LOSSES.
        other: The gradient that another rank brings into each mean; None if all ranks are alike.
        order: The places of the parts in the list, where one may come twice; None for once each.
    """
    listed = list(parts) if order is None else [parts[place] for place in order]
    inner, events = replica(kind), list[Any]()
    model = _Wrapped(inner, events, other)
    _fill_gradients(inner.parameters(), stale)
    optimizer, result = _Steps(inner, lr, events), None
    for _ in range(runs):
        result = procedure(model, LOSSES[loss], list(listed), optimizer)
    return {
        "result": result,
        "events": events,
        "parameters": [weight.detach().clone() for weight in inner.parameters()],
        "syncs again": model.require_backward_grad_sync,
    }
