"""What the tests of resuming need: small runs that draw numbers from everywhere.

From `carried_on`, "kept" is the first run's best at `stop`; "drawn", how far the snapshot moved
torch's stream and the run's own; "left", what was there before and after (see `_around`).
"""

from __future__ import annotations

import contextlib
import copy
import os
import random
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import nn

from course.inspection.class_names import class_name
from course.inspection.global_state import GlobalState
from course.probes.decorator import probe
from course.probes.forks import in_a_fork
from course.probes.modules import modules_named
from course.probes.saved_models import DRAWN, computed, made

__all__ = ["carried_on", "resumed"]

_FILE = "run.pt"
_as_plain_tensors = torch._C.DisableTorchFunctionSubclass
_DATA = torch.linspace(-1, 1, 12, dtype=torch.float64).reshape(6, 2)


def _number(loss: torch.Tensor) -> float:
    """The loss itself, whatever the class says that an answer has given the weights."""
    with _as_plain_tensors():
        return loss.item()


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
        """Put a state back, and go on with its own tensors, as the optimizers of torch do."""
        held = state_dict["state"]
        self.steps = held["steps"]
        self.squares = list(held["squares"])
        for group, told in zip(self.param_groups, state_dict["param_groups"], strict=True):
            group |= {name: value for name, value in told.items() if name != "params"}

    def _grouped(self) -> list[tuple[nn.Parameter, dict[str, Any]]]:
        """Each weight with its group."""
        return [(weight, group) for group in self.param_groups for weight in group["params"]]


class _InGroups(_Moving):
    """One of two groups."""

    def __init__(self, weights: list[nn.Parameter]) -> None:
        super().__init__(weights)
        parts = weights[:1], weights[1:]
        self.param_groups = [{"params": part, **self.defaults, "decay": 0.0} for part in parts]


def _rate(step: int) -> float:
    """The factor of the learning rate after this many steps."""
    return 1 / (1 + step)


class _Run:
    """A small run: a model, an optimizer, a scheduler, and generators of its own."""

    def __init__(self, kind: str, draws: Sequence[str], seed: int, generators: int) -> None:
        self._layers = made(kind), made("linear")
        torch.default_generator.manual_seed(seed)  # torch.manual_seed notes its callers for CUDA
        random.seed(seed)
        np.random.seed(seed)
        self.model, self.teacher, self.draws = made(kind), made("linear"), draws
        self.taught = False
        self.optimizer = _Moving(list(self.model.parameters()))
        self.scheduler = torch.optim.lr_scheduler.LambdaLR(self.optimizer, _rate)
        self.generators = [torch.Generator().manual_seed(seed + k) for k in range(generators)]

    def parts(self, names: Sequence[str]) -> dict[str, Any]:
        """Those of the parts. With a "teacher" among them, the losses depend on it."""
        self.taught = "teacher" in names
        return {name: getattr(self, name) for name in names}

    def step(self) -> float:
        """One step; returns its loss, which depends on all numbers that are drawn."""
        order = torch.arange(6)
        for generator in self.generators:
            order = order[torch.randperm(6, generator=generator)]
        noise: Any = sum(DRAWN[name]() for name in self.draws)
        batch = _DATA[order[:3]]
        if self.taught:
            noise = noise + computed(self._layers[1], self.teacher, batch).detach()
        weights = torch.linspace(0.5, 1.5, 3, dtype=torch.float64)[:, None]
        result = computed(self._layers[0], self.model, batch)
        loss = (weights * (result - noise).square()).mean()
        loss.backward()
        self.optimizer.step()
        self.scheduler.step()
        return _number(loss)


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
    also: Sequence[str] = (),
    missing: bool = False,
    twice: bool = False,
    rewound: bool = False,
    elsewhere: bool = False,
    facts: Sequence[str] = (),
) -> dict[str, Any]:
    """The losses of a run that's saved at `stops` and goes on, and of one that resumes it.

    The second one starts from other weights and seeds. "made" names files that resuming made.

    Args:
        run_file: Called with `(path, parts, generators)`; the result has `save(step)` and
            `resume()`.
        kind: The model, as `made` knows it.
        draws: Where each step draws numbers from, keys of DRAWN.
        stops: The steps before which it's saved.
        steps: How many steps a run has.
        generators: How many generators of its own a run has.
        parts: The attributes of a run that are to be saved; it may have a "teacher", too, which is
            a linear layer.
        also: More names for its parts.
        missing: Whether the second run, which gets a copy of the file at another place, finds none.
        twice: Whether a third run resumes, too.
        rewound: Whether the same object resumes once more, saves at the end and resumes from that.
        elsewhere: Whether the first run has a process of its own.
        facts: Those asked for; none for all, only then with "asked" (weights_only), "opens",
            "modules".
    """
    given = SimpleNamespace(kind=kind, draws=draws, generators=generators, parts=parts, also=also)
    begun = partial(_begun_with, run_file, given)
    with _random_states_kept(), tempfile.TemporaryDirectory() as folder, _loads_noted() as asked:
        path, copied = Path(folder, "run.pt"), Path(folder, "copied.pt")
        work = partial(_saved_at, begun, path, stops, steps)
        losses = in_a_fork(work) if elsewhere else work()
        seen: dict[str, Any] = {"losses": losses, "files": os.listdir(folder)}
        if not missing:
            shutil.copy(path, copied)
        there = set(os.listdir(folder))
        seeds, last = (2, 3)[: 1 + twice], max(stops, default=0)
        seen |= _gone_on((begun(seed, copied) for seed in seeds), range(last, steps), rewound)
        seen["made"] = sorted({*os.listdir(folder)} - there)
        if not facts:
            modules = _modules(run_file(str(path), {}, []))
            seen |= {"asked": list(asked), "opens": _opens(path), "modules": modules}
        return {what: seen[what] for what in facts or seen}


def _gone_on(
    begun: Iterable[tuple[_Run, Any]], steps: range, rewound: bool
) -> dict[str, list[Any]]:
    """Resume runs, one after the other, and let each go on up to its last step, once or twice."""
    seen: dict[str, list[Any]] = {"later": [], "said": [], "weights": []}
    for run, file in begun:
        for _ in range(1 + rewound):
            seen["said"].append(file.resume())
            seen["later"].append([run.step() for _ in steps])
        if rewound:
            file.save(steps.stop)
            seen["said"].append(file.resume())
        seen["weights"].append([one.detach() for one in run.model.state_dict().values()])
    return seen


def _begun_with(
    run_file: Callable[..., Any], given: SimpleNamespace, seed: int, path: Path
) -> tuple[_Run, Any]:
    """A run of this kind that begins with this seed, and the learner's file of it."""
    run = _Run(given.kind, given.draws, seed, given.generators)
    parts = run.parts(given.parts)
    parts |= {name: parts[given.parts[k % len(given.parts)]] for k, name in enumerate(given.also)}
    return run, run_file(str(path), parts, run.generators)


def _saved_at(
    begun: Callable[..., tuple[_Run, Any]], path: Path, stops: Sequence[int], steps: int
) -> list[float]:
    """The losses of a run that's saved before these steps and goes on."""
    (run, file), losses = begun(1, path), []
    for number in range(steps):
        if number in stops:
            file.save(number)
        losses.append(run.step())
    return losses


def _modules(file: Any) -> list[str]:
    """The modules that the methods of an object's class name, and the functions that they call."""
    methods = [one for one in vars(type(file)).values() if isinstance(one, FunctionType)]
    return sorted({name for method in methods for name in modules_named.procedure(method)})


def _opens(path: Path) -> str:
    """Whether `torch.load` takes the file with weights_only=True: "yes", or why not."""
    if not path.exists():
        return "there is no file"
    try:
        torch.load(path, weights_only=True)
    except Exception as error:
        return class_name(error)
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

    These start from other weights and seeds.

    Args:
        snapshot: Called with the first run, at `stop` and at its end; returns what is to be saved.
        restore: Called with another run and what was saved.
        uses: What a loss depends on beside the weights: "own" and "torch" numbers, the "epoch".
        stop: After how many steps the snapshot is taken.
        kind: The model, as `made` knows it; a "tied" one is in eval mode but for its layer.
        steps: How many steps a run has.
        filed: Whether the snapshot goes through a file, from a process that has ended.
        twice: Whether a third run carries it on, too.
    """
    with _random_states_kept():
        moved = partial(_moved, made(kind), uses)
        with tempfile.TemporaryDirectory() as folder:
            work = partial(_stopped, snapshot, kind, moved, (stop, steps), folder, filed)
            ended, after, again = in_a_fork(work) if filed else work()
            opens = "not asked"
            if filed:
                again, opens = _reopened(folder)
        seen: dict[str, list[Any]] = {"later": [], "epoch": [], "best": [], "weights": []}
        for seed in (2, 3)[: 1 + twice]:
            other = _begun(kind, seed)
            after["left"].append(_put_back(restore, other, again))
            seen["epoch"].append(other.epoch)
            seen["best"].append(other.best)
            seen["later"].append([moved(other) for _ in range(stop, steps)])
            seen["weights"] = _held(other.model)
    return seen | after | ended | {"opens": opens}


def _stopped(
    snapshot: Callable[..., Any],
    kind: str,
    moved: Callable[[SimpleNamespace], float],
    steps: tuple[int, int],
    folder: str,
    filed: bool,
) -> tuple[dict[str, Any], dict[str, list[Any]], Any]:
    """The first run: what came of it, of taking its snapshot, and that, unless it is filed."""
    first, (stop, end) = _begun(kind, 1), steps
    losses = [moved(first) for _ in range(stop)]
    kept = copy.deepcopy(first.best)
    saved, after = _watched(snapshot, first, folder)
    losses += [moved(first) for _ in range(stop, end)]
    snapshot(first)
    if filed:
        torch.save(saved, Path(folder, _FILE))
    ended = {"losses": losses, "kept": kept, "reference": _held(first.model)}
    return ended, after, None if filed else saved


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
    weights, modes = list(run.model.parameters()), GlobalState().modes
    return {
        "settings": {name: str(one) for name, one in modes.items() if name != "environment"},
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
    model = made(kind)
    if kind == "tied":
        for module in model.modules():
            module.training = isinstance(module, nn.Linear)
    rng, optimizer = torch.Generator().manual_seed(seed), _InGroups(list(model.parameters()))
    return SimpleNamespace(model=model, optimizer=optimizer, rng=rng, epoch=0, best=None)


def _moved(layers: nn.Module, uses: Sequence[str], run: SimpleNamespace) -> float:
    """One step of a run; returns its loss."""
    noise = torch.rand(1, generator=run.rng).item() if "own" in uses else 0.0
    noise += torch.rand(1).item() if "torch" in uses else 0.0
    noise += run.epoch if "epoch" in uses else 0.0
    loss = (computed(layers, run.model, _DATA) - noise).square().mean()
    loss.backward()
    run.optimizer.step()
    for number, group in enumerate(run.optimizer.param_groups):
        group["lr"] *= 0.75 - 0.25 * number
        group["decay"] += 0.01 * (1 + number)
    run.epoch += 1
    if run.epoch % 2:  # the last epoch isn't always the best
        weights = {name: one.clone() for name, one in run.model.state_dict().items()}
        run.best = {"score": _number(loss), "weights": weights}
    return _number(loss)


def _reopened(folder: str) -> tuple[Any, str]:
    """What was saved, from a file that's read with weights_only=True if that is allowed."""
    path = Path(folder, _FILE)
    try:
        return torch.load(path, weights_only=True), "yes"
    except Exception as error:
        return torch.load(path, weights_only=False), class_name(error)


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
