"""What the tests of resuming need: small runs that draw numbers from everywhere."""

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

from course.inspection.global_state import GlobalState
from course.probes.decorator import probe

__all__ = ["carried_on", "resumed", "small_model"]

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
        for weight, _ in self._grouped():
            weight.grad = None if set_to_none else torch.zeros_like(weight)

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One step."""
        self.steps += 1
        with torch.no_grad():
            for (weight, group), square in zip(self._grouped(), self.squares, strict=True):
                gradient = torch.zeros_like(weight) if weight.grad is None else weight.grad
                square.mul_(0.5).addcmul_(gradient, gradient)
                weight.mul_(1 - group.get("decay", 0.0))
                weight.sub_(group["lr"] * gradient / (1 + self.steps + square.sqrt()))
                weight.grad = None

    def state_dict(self) -> dict[str, Any]:
        """The state, with its live tensors."""
        state = {"steps": self.steps, "squares": list(self.squares)}
        groups = [{**group, "params": [n]} for n, group in enumerate(self.param_groups)]
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Put a state back."""
        held = state_dict["state"]
        self.steps = held["steps"]
        self.squares = [square.clone() for square in held["squares"]]
        for group, told in zip(self.param_groups, state_dict["param_groups"], strict=True):
            group |= {name: value for name, value in told.items() if name != "params"}

    def _grouped(self) -> list[tuple[nn.Parameter, dict[str, Any]]]:
        """Each weight with its group."""
        return [(weight, group) for group in self.param_groups for weight in group["params"]]


class _Sharing(_Moving):
    """One of two groups that goes on with the tensors that it's given, as those of torch do."""

    def __init__(self, weights: list[nn.Parameter]) -> None:
        super().__init__(weights)
        parts = weights[:1], weights[1:]
        self.param_groups = [{"params": part, **self.defaults, "decay": 0.0} for part in parts]

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Put a state back."""
        super().load_state_dict(state_dict)
        self.squares = list(state_dict["state"]["squares"])


def small_model(kind: str) -> nn.Module:
    """A model of this kind in float64."""
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
        self.model, self.draws = small_model(kind), draws
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

    `uses` says what a loss depends on beside weights and optimizer: numbers of the run's "own"
    generator and of "torch", and the "epoch". The second run starts from other weights and seeds,
    and from a snapshot that went through a file if it's `filed`; `twice` carries on a third one. A
    "tied" model is in eval mode but for a layer. Of the first run another snapshot is taken at its
    end. "kept" is its best at `stop`; "drawn" says how far taking the snapshot moved torch's stream
    and the run's own; "left" has of taking it, and of each restoring, what was there before and
    after (see `_around`); "weights" are the last run's at the end, "reference" the first one's.
    """
    with _random_states_kept():
        first = _begun(kind, 1)
        losses = [_moved(first, uses) for _ in range(stop)]
        kept = copy.deepcopy(first.best)
        with tempfile.TemporaryDirectory() as folder:
            saved, after = _watched(snapshot, first, folder)
            losses += [_moved(first, uses) for _ in range(stop, steps)]
            snapshot(first)
            again, opens = _reopened(saved, folder) if filed else (saved, "not asked")
        seen: dict[str, list[Any]] = {"later": [], "epoch": [], "best": [], "weights": []}
        for seed in (2, 3)[: 1 + twice]:
            other = _begun(kind, seed)
            after["left"].append(_put_back(restore, other, again))
            seen["epoch"].append(other.epoch)
            seen["best"].append(other.best)
            seen["later"].append([_moved(other, uses) for _ in range(stop, steps)])
            seen["weights"] = _held(other.model)
    ended = {"losses": losses, "opens": opens, "kept": kept, "reference": _held(first.model)}
    return seen | after | ended


def _watched(
    snapshot: Callable[..., Any], run: SimpleNamespace, folder: str
) -> tuple[Any, dict[str, list[Any]]]:
    """A snapshot of the run, and what taking it did to streams and to all else.

    Files that it writes by `tempfile` come into the folder, which is gone when it's restored.
    """
    for weight in run.model.parameters():
        weight.grad = torch.ones_like(weight)
    own, states = _own(run), (torch.get_rng_state(), run.rng.get_state())
    before, usual = _around(run, own), tempfile.tempdir
    tempfile.tempdir = folder
    try:
        saved = snapshot(run)
    finally:
        tempfile.tempdir = usual
    pairs = zip(states, (torch.get_rng_state(), run.rng.get_state()), strict=True)
    drawn = [int((a.int() - b.int()).abs().sum()) for a, b in pairs]
    seen: dict[str, list[Any]] = {"drawn": drawn, "left": [[before, _around(run, own)]]}
    for weight in run.model.parameters():
        weight.grad = None
    return saved, seen


def _put_back(restore: Callable[..., Any], run: SimpleNamespace, saved: Any) -> list[Any]:
    """Restore a snapshot, and tell what was there before and after."""
    own = _own(run)
    before = _around(run, own)
    restore(run, saved)
    return [before, _around(run, own)]


def _own(run: SimpleNamespace) -> list[Any]:
    return [run.model, run.optimizer, run.rng]


def _around(run: SimpleNamespace, own: list[Any]) -> dict[str, Any]:
    """What neither a snapshot nor restoring one changes; "own" says whether these are its parts."""
    weights = list(run.model.parameters())
    return {
        "settings": {name: str(value) for name, value in GlobalState().modes.items()},
        "modes": [module.training for module in run.model.modules()],
        "trains": [weight.requires_grad for weight in weights],
        "grads": [None if weight.grad is None else weight.grad.tolist() for weight in weights],
        "own": [a is b for a, b in zip(own, _own(run), strict=True)],
    }


def _held(model: nn.Module) -> list[torch.Tensor]:
    """All that a model's state dict holds."""
    return [one.detach() for one in model.state_dict().values()]


def _begun(kind: str, seed: int) -> SimpleNamespace:
    """A run before its first step, with all that a snapshot is to hold."""
    torch.default_generator.manual_seed(seed)
    model = small_model(kind)
    if kind == "tied":
        for module in model.modules():
            module.training = isinstance(module, nn.Linear)
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
    for number, group in enumerate(run.optimizer.param_groups):
        group["lr"] *= 0.75 - 0.25 * number
        group["decay"] += 0.01 * (1 + number)
    run.epoch += 1
    if run.epoch % 2:  # the last epoch isn't always the best
        weights = {name: one.clone() for name, one in run.model.state_dict().items()}
        run.best = {"score": loss.item(), "weights": weights}
    return loss.item()


def _reopened(saved: Any, folder: str) -> tuple[Any, str]:
    """What was saved, from a file that's read with weights_only=True if that is allowed."""
    torch.save(saved, path := Path(folder, "run.pt"))
    try:
        return torch.load(path, weights_only=True), "yes"
    except Exception as error:
        return torch.load(path, weights_only=False), type(error).__name__


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
