"""What the tests of resuming and keeping need: small runs that draw numbers from everywhere."""

from __future__ import annotations

import contextlib
import copy
import os
import random
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import nn

from course.probes.decorator import probe

__all__ = ["carried_on", "resumed", "weights_kept"]

_DATA = torch.linspace(-1, 1, 12, dtype=torch.float64).reshape(6, 2)


class _Moving(torch.optim.Optimizer):
    """A gradient step with a running mean of squares, whose state has a tensor and a number.

    The first use of an optimizer of torch in a process imports torch._dynamo: more than a second of
    processor time for each submission.
    """

    def __init__(self, weights: list[nn.Parameter]) -> None:
        self.defaults = {"lr": 0.1}
        self.param_groups = [{"params": weights, **self.defaults}]
        self.squares = [torch.zeros_like(weight) for weight in weights]
        self.steps = 0

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Clear the gradients."""
        for weight in self.param_groups[0]["params"]:
            weight.grad = None if set_to_none else torch.zeros_like(weight)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One step."""
        group, self.steps = self.param_groups[0], self.steps + 1
        with torch.no_grad():
            for weight, square in zip(group["params"], self.squares, strict=True):
                gradient = torch.zeros_like(weight) if weight.grad is None else weight.grad
                square.mul_(0.5).addcmul_(gradient, gradient)
                weight.sub_(group["lr"] * gradient / (1 + self.steps + square.sqrt()))
                weight.grad = None

    def state_dict(self) -> dict[str, Any]:
        """The state, with its live tensors."""
        group = {name: value for name, value in self.param_groups[0].items() if name != "params"}
        state = {"steps": self.steps, "squares": list(self.squares)}
        return {"state": state, "param_groups": [{**group, "params": [0]}]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Put a state back."""
        held = state_dict["state"]
        self.steps = held["steps"]
        self.squares = [square.clone() for square in held["squares"]]
        (group,) = state_dict["param_groups"]
        self.param_groups[0] |= {k: v for k, v in group.items() if k != "params"}


class _Sharing(_Moving):
    """One that goes on with the tensors that it's given, as those of torch do."""

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Put a state back."""
        super().load_state_dict(state_dict)
        self.squares = list(state_dict["state"]["squares"])


def _made(kind: str) -> nn.Module:
    if kind == "norm":
        return nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2), nn.Linear(2, 1)).double()
    if kind == "dropout":
        return nn.Sequential(nn.Linear(2, 4), nn.Dropout(0.5), nn.Linear(4, 1)).double()
    if kind == "tied":
        layer = nn.Linear(2, 2)
        return nn.Sequential(layer, nn.Tanh(), layer).double()
    return nn.Linear(2, 1).double()


_DRAWN: dict[str, Callable[[], float]] = {
    "torch": lambda: float(torch.rand(())),
    "python": random.random,
    "python normal": lambda: random.gauss(0, 1),
    "numpy": np.random.rand,
    "numpy normal": np.random.randn,
}


def _rate(step: int) -> float:
    """The factor of the learning rate after this many steps."""
    return 1 / (1 + step)


class _Run:
    """A small run: a model, an optimizer, a scheduler, and generators of its own."""

    def __init__(self, kind: str, draws: Sequence[str], seed: int, generators: int) -> None:
        torch.default_generator.manual_seed(seed)  # torch.manual_seed notes its callers for CUDA
        random.seed(seed)
        np.random.seed(seed)
        self.model, self.draws = _made(kind), draws
        self.optimizer = _Moving(list(self.model.parameters()))
        self.scheduler = torch.optim.lr_scheduler.LambdaLR(self.optimizer, _rate)
        self.generators = [torch.Generator().manual_seed(seed + k) for k in range(generators)]

    def parts(self, names: Sequence[str]) -> dict[str, Any]:
        """Those of the parts."""
        return {name: getattr(self, name) for name in names}

    def step(self) -> float:
        """One step; returns its loss, which depends on all numbers that are drawn."""
        order = torch.arange(6)
        for generator in self.generators:
            order = order[torch.randperm(6, generator=generator)]
        noise = sum(_DRAWN[name]() for name in self.draws)
        batch = _DATA[order[:3]]
        weights = torch.linspace(0.5, 1.5, 3, dtype=torch.float64)[:, None]
        loss = (weights * (self.model(batch) - noise).square()).mean()
        loss.backward()
        self.optimizer.step()
        self.scheduler.step()
        return loss.item()


@probe
def resumed(
    run_file: Callable[..., Any],
    kind: str = "linear",
    draws: Sequence[str] = (),
    stops: Sequence[int] = (2,),
    steps: int = 4,
    *,
    generators: int = 0,
    parts: Sequence[str] = ("model", "optimizer", "scheduler"),
    missing: bool = False,
    twice: bool = False,
    facts: Sequence[str] = (),
) -> dict[str, Any]:
    """The losses of a run that's saved at `stops` and goes on, and of one that resumes it.

    `run_file(path, parts, generators)` makes what has `save(step)` and `resume()`. The second run
    starts from other weights and seeds, and resumes from a copy of the file at another place, or
    none if it's `missing`; `twice` resumes a third one. "asked" is what `torch.load` was called
    with as weights_only. `facts` are those asked for, or all.
    """
    with _random_states_kept(), tempfile.TemporaryDirectory() as folder, _loads_noted() as asked:
        first = _Run(kind, draws, 1, generators)
        path, copied, losses = Path(folder, "run.pt"), Path(folder, "copied.pt"), list[float]()
        file = run_file(str(path), first.parts(parts), first.generators)
        for number in range(steps):
            if number in stops:
                file.save(number)
            losses.append(first.step())
        files = os.listdir(folder)
        if not missing:
            shutil.copy(path, copied)
        seen: dict[str, Any] = {"losses": losses, "later": [], "said": [], "weights": []}
        for seed in (2, 3)[: 1 + twice]:
            second = _Run(kind, draws, seed, generators)
            again = run_file(str(copied), second.parts(parts), second.generators)
            seen["said"].append(again.resume())
            seen["later"].append([second.step() for _ in range(max(stops, default=0), steps)])
            seen["weights"].append([one.detach() for one in second.model.state_dict().values()])
        seen |= {"asked": list(asked), "files": files, "opens": None if facts else _opens(path)}
        return {what: seen[what] for what in facts or seen}


def _opens(path: Path) -> str:
    """Whether `torch.load` takes the file with weights_only=True: "yes", or why not."""
    if not path.exists():
        return "there is no file"
    try:
        torch.load(path, weights_only=True)
    except Exception as error:
        return type(error).__name__
    return "yes"


@probe
def carried_on(
    snapshot: Callable[..., Any],
    restore: Callable[..., Any],
    uses: Sequence[str] = ("own", "torch"),
    stop: int = 2,
    *,
    kind: str = "linear",
    steps: int = 4,
    filed: bool = True,
    twice: bool = False,
) -> dict[str, Any]:
    """The losses of a run of which a snapshot is taken at `stop`, and of those that carry it on.

    `uses` says what a loss depends on beside weights and optimizer: a number of the run's "own"
    generator, one of "torch", and the number of the "epoch". The second run starts from other
    weights and seeds, and from a snapshot that went through a file if it's `filed`; `twice` carries
    on a third one. The learning rate falls with each step, and of the first run another snapshot is
    taken at its end. "kept" is the best of the first run at `stop`; "drawn" says how far taking the
    snapshot moved the states of torch's generator and of the run's own, "modes" and "grads" are the
    model's behind it; "weights" are the last run's at the end, "reference" the first one's.
    """
    with _random_states_kept():
        first = _begun(kind, 1)
        losses = [_moved(first, uses) for _ in range(stop)]
        kept = copy.deepcopy(first.best)
        saved, after = _watched(snapshot, first)
        losses += [_moved(first, uses) for _ in range(stop, steps)]
        snapshot(first)
        again, opens = _reopened(saved) if filed else (saved, "not asked")
        seen: dict[str, list[Any]] = {"later": [], "epoch": [], "best": [], "weights": []}
        for seed in (2, 3)[: 1 + twice]:
            other = _begun(kind, seed)
            restore(other, again)
            seen["epoch"].append(other.epoch)
            seen["best"].append(other.best)
            seen["later"].append([_moved(other, uses) for _ in range(stop, steps)])
            seen["weights"] = _held(other.model)
    ended = {"losses": losses, "opens": opens, "kept": kept, "reference": _held(first.model)}
    return seen | after | ended


def _watched(
    snapshot: Callable[..., Any], run: SimpleNamespace
) -> tuple[Any, dict[str, list[Any]]]:
    """A snapshot of the run, and what taking it did to streams, modes and gradients."""
    for weight in run.model.parameters():
        weight.grad = torch.ones_like(weight)
    before = torch.get_rng_state(), run.rng.get_state()
    saved = snapshot(run)
    pairs = zip(before, (torch.get_rng_state(), run.rng.get_state()), strict=True)
    seen = {
        "drawn": [int((a.int() - b.int()).abs().sum()) for a, b in pairs],
        "modes": [module.training for module in run.model.modules()],
        "grads": [weight.grad for weight in run.model.parameters()],
    }
    for weight in run.model.parameters():
        weight.grad = None
    return saved, seen


def _held(model: nn.Module) -> list[torch.Tensor]:
    """All that a model's state dict holds."""
    return [one.detach() for one in model.state_dict().values()]


def _begun(kind: str, seed: int) -> SimpleNamespace:
    """A run before its first step, with all that a snapshot is to hold."""
    torch.default_generator.manual_seed(seed)
    model = _made(kind)
    rng, optimizer = torch.Generator().manual_seed(seed), _Sharing(list(model.parameters()))
    return SimpleNamespace(model=model, optimizer=optimizer, rng=rng, epoch=0, best=None)


def _moved(run: SimpleNamespace, uses: Sequence[str]) -> float:
    """One step of a run; returns its loss."""
    noise = torch.rand(1, generator=run.rng).item() if "own" in uses else 0.0
    noise += torch.rand(1).item() if "torch" in uses else 0.0
    noise += run.epoch if "epoch" in uses else 0.0
    loss = (run.model(_DATA) - noise).square().mean()
    loss.backward()
    run.optimizer.step()
    run.optimizer.param_groups[0]["lr"] *= 0.75
    run.epoch += 1
    if run.best is None or loss.item() < run.best["score"]:
        weights = {name: one.clone() for name, one in run.model.state_dict().items()}
        run.best = {"score": loss.item(), "weights": weights}
    return loss.item()


def _reopened(saved: Any) -> tuple[Any, str]:
    """What was saved, from a file that's read with weights_only=True if that is allowed."""
    with tempfile.TemporaryDirectory() as folder:
        torch.save(saved, path := Path(folder, "run.pt"))
        opens = _opens(path)
        return torch.load(path, weights_only=False), opens


@contextlib.contextmanager
def _random_states_kept() -> Iterator[None]:
    python, numpy = random.getstate(), np.random.get_state()
    try:
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)


@contextlib.contextmanager
def _loads_noted() -> Iterator[list[Any]]:
    """A block in which the list holds what `torch.load` is called with as weights_only."""
    asked, load = list[Any](), torch.load

    def noted(*args: Any, **options: Any) -> Any:
        asked.append(options.get("weights_only"))
        return load(*args, **options)

    torch.load = noted
    try:
        yield asked
    finally:
        torch.load = load


@probe
def weights_kept(
    keeper: Callable[..., Any],
    losses: Sequence[float],
    patience: int = 3,
    kind: str = "norm",
    *,
    fresh: bool = False,
    frozen: bool = False,
    training: bool = True,
) -> dict[str, Any]:
    """What a `keeper(patience)` says of these losses, and what it puts back.

    Before loss number n is seen, all that the model holds becomes n. Afterwards it's restored, into
    the model or a `fresh` one; that is trained on, and restored once more. "restored" is what the
    model holds after each of the two. Another keeper sees other weights after the first loss and
    the last.
    """
    model, kept, other = _made(kind), keeper(patience), keeper(patience)
    if frozen:
        next(model.parameters()).requires_grad_(False)
    model.train(training)
    seen: dict[str, Any] = {"new": [], "stop": [], "best": []}
    for number, loss in enumerate(losses):
        _filled(model, number + 1)
        seen["new"].append(kept.see(model, loss))
        seen["stop"].append(kept.stop)
        seen["best"].append(kept.best)
        if number in (0, len(losses) - 1):
            _filled(model, 50)
            other.see(model, -1.0 - number)
    _filled(model, 100)
    return seen | _restored(kept, _made(kind).train(training) if fresh else model)


def _restored(kept: Any, target: nn.Module) -> dict[str, Any]:
    """What a keeper makes of a model, that's trained and restored again."""
    held = {name: one.detach() for name, one in target.state_dict(keep_vars=True).items()}
    weights = list(target.parameters())
    restored = []
    for number in (200, 300):
        kept.restore(target)
        restored.append({name: one.clone() for name, one in target.state_dict().items()})
        _filled(target, number)
    return {
        "restored": restored,
        "views": held,
        "same": [a is b for a, b in zip(weights, target.parameters(), strict=True)],
        "modes": [module.training for module in target.modules()],
        "trains": [one.requires_grad for one in target.parameters()],
    }


def _filled(model: nn.Module, number: int) -> None:
    """Let all that the model holds be this number, in place."""
    with torch.no_grad():
        for one in [*model.parameters(), *model.buffers()]:
            one.fill_(number)
