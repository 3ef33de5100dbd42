"""What the tests of training loops need: models of many kinds that note down each call.

Each probe builds a model, an optimizer or gradients beside the answer, hands them over, and
returns what it saw of them afterwards. The same seed gives the same model, for the reference too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any
from weakref import WeakSet

import torch
from torch import nn

from course.probes.decorator import probe
from course.probes.whole_module import WholeModule

__all__ = ["loop_run"]

Pair = tuple[torch.Tensor, torch.Tensor]


class _Failed(RuntimeError):
    """What a model raises that was asked to fail."""


class _FailedElse(Exception):
    """What it raises where a RuntimeError would be the usual thing."""


class _Interrupted(KeyboardInterrupt):
    """What it raises as if somebody had stopped the kernel."""


_FAILURES = {"error": _Failed, "other": _FailedElse, "interrupt": _Interrupted}


class _Heads(nn.Module):
    """Two heads, of which a batch uses one: the other gets no gradient."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.other = nn.Linear(2, 1), nn.Linear(2, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        used = self.one if float(x.detach().sum()) > 0 else self.other
        found: torch.Tensor = used(x)
        return found


class _ScaledLoss(nn.Module):
    """A loss with a parameter of its own, in which too much costs more than too little."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(1.5))

    def forward(self, said: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        error = said - wanted
        return self.scale * (error.square() + error).mean()


def _tied() -> nn.Module:
    layer = nn.Linear(2, 2)
    return nn.Sequential(layer, nn.Tanh(), layer, nn.Linear(2, 1))


def _normed(frozen: bool = False) -> nn.Module:
    model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Tanh(), nn.Linear(3, 1))
    if frozen:
        model[1].eval()
    return model


def _nested() -> nn.Module:
    """A model of which one block trains, and the norm within it doesn't."""
    block = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), nn.Sequential(nn.Tanh()))
    block[1].eval()
    return nn.Sequential(block, nn.Linear(3, 1))


def _fixed() -> nn.Module:
    model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
    model[0].requires_grad_(False)
    return model


_MODELS: dict[str, Callable[[], nn.Module]] = {
    "linear": lambda: nn.Linear(2, 1),
    "own loss": lambda: nn.Linear(2, 1),
    "wide": lambda: nn.Linear(2, 3),
    "dropout": lambda: nn.Sequential(nn.Linear(2, 6), nn.Dropout(0.5), nn.Linear(6, 1)),
    "norm": _normed,
    "frozen norm": lambda: _normed(frozen=True),
    "nested": _nested,
    "fixed": _fixed,
    "tied": _tied,
    "heads": _Heads,
}


@probe
def loop_run(
    procedure: Callable[..., Any],
    parts: Sequence[Pair],
    kind: str = "linear",
    optimizer: dict[str, Any] | None = None,
    *,
    stale: float | None = None,
    training: bool | None = True,
    once: bool = False,
    fails_at: int | None = None,
    failure: str = "error",
    runs: int = 1,
    draws: bool = False,
    recording: bool = True,
    seed: int = 0,
    facts: Sequence[str] = (),
) -> dict[str, Any]:
    """What `procedure(model, parts, loss_fn, optimizer)` makes of a small model in float64.

    "loss recorded" says of each call of `loss_fn` whether a graph was recorded, "given" how long
    each pair of the list that was handed over is afterwards, "whole" all of the model then but what
    its tensors hold, which "parameters", "buffers" and "grads" say.

    Args:
        procedure: The answer.
        parts: Inputs and labels of each batch.
        kind: The model, a key of `_MODELS`.
        optimizer: The options of an SGD; None calls the answer without one.
        stale: What stands in each `.grad` before; None for no gradient.
        training: The mode of the model; None leaves it as it was made.
        once: Whether the parts come as a generator.
        fails_at: The call of the model that raises an error; None for none.
        failure: Which one: "error" (a RuntimeError), "other" or "interrupt".
        runs: How often the answer is called.
        draws: Whether that generator draws a random number for each part and one more when it's
            asked for an iterator, as a loader does.
        recording: The grad mode.
        seed: What torch is seeded with before.
        facts: The keys asked for; none for all.
    """
    with torch.random.fork_rng(devices=[]), torch.set_grad_enabled(recording):
        torch.default_generator.manual_seed(seed)
        model, loss_fn, weights = _prepared(kind, stale, training)
        seen: dict[str, Any] = {"kept": _graphs_kept(model), "loss recorded": _modes_noted(loss_fn)}
        events = _noted(model, fails_at, _FAILURES[failure])
        whole = WholeModule(model)
        more = () if optimizer is None else (_Scripted([model, loss_fn], optimizer, events),)

        def call() -> tuple[Any, Any]:
            given = list(parts) if not once else _Drawing(parts) if draws else _one_by_one(parts)
            return partial(procedure, model, given, loss_fn, *more), given

        result, error, given = _called(call, runs)
        seen |= {"result": result, "events": events, "error": error, **_left_behind(model, weights)}
        if not facts or "whole" in facts:
            seen["whole"] = whole.now(values=False)
        seen["given"] = _sizes(given)
    return {name: seen[name] for name in facts or seen}


def _called(calls: Callable[[], tuple[Any, Any]], runs: int) -> tuple[Any, str | None, Any]:
    """The last result and the last error of so many calls, and what the last one was given."""
    result, error, given = None, None, None
    for _ in range(runs):
        call, given = calls()
        try:
            result = call()
        except (_Failed, _FailedElse, _Interrupted) as raised:
            error = str(raised)
    return result, error, given


def _prepared(
    kind: str, stale: float | None, training: bool | None
) -> tuple[nn.Module, nn.Module, list[nn.Parameter]]:
    """A model, its loss, and the parameters of both."""
    model = _MODELS[kind]().double()
    loss_fn = _ScaledLoss().double() if kind == "own loss" else nn.MSELoss()
    weights = [*model.parameters(), *loss_fn.parameters()]
    if training is not None:
        model.train(training)
    for weight in weights:
        weight.grad = None if stale is None else torch.full_like(weight, stale)
    return model, loss_fn, weights


def _modes_noted(module: nn.Module) -> list[bool]:
    """The list in which the grad mode of each call of the module is noted down from now on."""
    modes = list[bool]()
    module.register_forward_pre_hook(lambda *_: modes.append(torch.is_grad_enabled()))
    return modes


def _left_behind(model: nn.Module, weights: list[nn.Parameter]) -> dict[str, Any]:
    """What is to be seen after a procedure, the next random numbers among it."""
    return {
        "parameters": [weight.detach().clone() for weight in weights],
        "buffers": [buffer.clone() for buffer in model.buffers()],
        "grads": [None if w.grad is None else w.grad.clone() for w in weights],
        "modes": [module.training for module in model.modules()],
        "draws": torch.rand(2),
        "grad mode": torch.is_grad_enabled(),
        "hooks": [*map(_hooks, model.modules()), *(len(w._backward_hooks or ()) for w in weights)],
    }


def _hooks(module: nn.Module) -> int:
    """How many hooks stand on a module, ours and those that a procedure left."""
    kinds = [f"_{kind}_{when}hooks" for kind in ("forward", "backward") for when in ("", "pre_")]
    return sum(len(getattr(module, kind)) for kind in kinds)


def _one_by_one(parts: Sequence[Pair]) -> Iterator[Pair]:
    """The parts, each of which can be had once."""
    yield from parts


def _sizes(given: Any) -> list[int]:
    """How long each part of a list is; whatever else was handed over is used up."""
    return [len(x) for x, _ in given] if isinstance(given, list) else []


class _Drawing:
    """The parts, each of which can be had once; going through them draws random numbers."""

    def __init__(self, parts: Sequence[Pair]) -> None:
        self._left = _one_by_one(parts)

    def __iter__(self) -> Iterator[Pair]:
        torch.rand(1)
        return map(self._drawn, self._left)

    @staticmethod
    def _drawn(pair: Pair) -> Pair:
        torch.rand(1)
        return pair


class _Scripted(torch.optim.Optimizer):
    """An SGD with momentum and weight decay that notes its steps, with a group a module.

    torch.optim.SGD's first use imports torch._dynamo: over a second of processor time.
    """

    def __init__(
        self, owners: list[nn.Module], options: dict[str, Any], events: list[list[Any]]
    ) -> None:
        groups = [[*owner.parameters()] for owner in owners]
        self.defaults = {"lr": 1e-3, "momentum": 0.0, "weight_decay": 0.0, **options}
        self.param_groups = [{"params": weights, **self.defaults} for weights in groups if weights]
        self.state = defaultdict(dict)
        self._events = events

    def zero_grad(self, set_to_none: bool = True) -> None:
        for weight in (weight for group in self.param_groups for weight in group["params"]):
            if set_to_none:
                weight.grad = None
            elif weight.grad is not None:
                weight.grad.detach_().zero_()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One step; returns what `closure` returns, which is called before it."""
        found = None if closure is None else torch.enable_grad()(closure)()
        with torch.no_grad():
            for group in self.param_groups:
                for weight in group["params"]:
                    if weight.grad is not None:
                        self._move(weight, group)
        self._events.append(["step"])
        return found

    def _move(self, weight: nn.Parameter, group: dict[str, Any]) -> None:
        assert weight.grad is not None
        change = weight.grad + group["weight_decay"] * weight
        if group["momentum"]:
            kept = self.state[weight]
            change = change + group["momentum"] * kept["change"] if kept else change
            kept["change"] = change
        weight.sub_(group["lr"] * change)


def _noted(model: nn.Module, fails_at: int | None, failure: type[BaseException]) -> list[list[Any]]:
    """The list in which each forward and backward of the model is noted down from now on."""
    events: list[list[Any]] = []

    def before(module: nn.Module, args: tuple[Any, ...]) -> None:
        modes = [one.training for one in module.modules()]
        events.append(["forward", len(args[0]), modes, torch.is_grad_enabled()])
        if sum(event[0] == "forward" for event in events) == fails_at:
            raise failure("this batch is broken")

    def after(module: nn.Module, args: tuple[Any, ...], said: torch.Tensor) -> None:
        if said.requires_grad:
            said.register_hook(lambda gradient: events.append(["backward", len(gradient)]))

    model.register_forward_pre_hook(before)
    model.register_forward_hook(after)
    return events


class _Saved:
    """A tensor that a graph has saved for its backward pass."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor


def _graphs_kept(model: nn.Module) -> list[bool]:
    """For each call of the model to come, whether an earlier graph still holds what it saved."""
    kept: list[bool] = []
    saved: WeakSet[_Saved] = WeakSet()

    def noted(tensor: torch.Tensor) -> _Saved:
        box = _Saved(tensor)
        saved.add(box)
        return box

    hooks = torch.autograd.graph.saved_tensors_hooks(noted, lambda box: box.tensor)

    def before(module: nn.Module, args: tuple[Any, ...]) -> None:
        kept.append(bool(saved))
        hooks.__enter__()

    model.register_forward_pre_hook(before)
    model.register_forward_hook(lambda *_: hooks.__exit__(), always_call=True)
    return kept
