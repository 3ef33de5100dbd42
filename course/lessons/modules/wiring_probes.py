"""What tests of a model's wiring look through: which parameters learn, what a trace keeps, ties.

Models are named by their kind and built beside the answer, since a module has no plain form.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from course.inspection.class_names import class_name
from course.probes.decorator import probe
from course.probes.whole_module import WholeModule, places_of_parameters

__all__ = ["class_loaded", "idle_found", "traced", "untied"]


class Wired(nn.Module):
    """A small network whose forward leaves out, cuts or shares what its kind says."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind
        self.first, self.second, self.last = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 2)
        self.scale = nn.Parameter(torch.full((4,), 0.5))
        self.norm = nn.BatchNorm1d(4)
        self.extra = nn.ModuleDict({"a": nn.Linear(4, 4), "b": nn.Linear(4, 4)})
        if kind == "shared":
            self.second.weight = self.first.weight
            self.extra["b"].weight = self.extra["a"].weight
        if kind == "frozen":
            self.extra.requires_grad_(False)
            self.last.requires_grad_(False)
        if kind == "frozen first":
            self.first.requires_grad_(False)
        if kind == "all frozen":
            self.requires_grad_(False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Some way through the layers."""
        if self.kind == "a parameter":
            return self.scale
        x = self.norm(x)
        if self.kind == "nothing":
            return x.detach() * 2
        if self.kind == "modes":  # the model and one of its layers each go by their own
            x = self.extra["a" if self.training else "b"](x)
            return x * self.scale if self.extra.training else self.last(x)
        x = self.first(x)
        if self.kind == "dead":
            x = (x - 1000).relu() * 0  # gradients of 0, which are gradients
        if self.kind == "cut":
            x = x.detach()
        if self.kind == "cut inside":
            with torch.no_grad():
                x = self.second(x)
        elif self.kind == "choice":
            x = self.extra["a" if float(x.sum()) > 0 else "b"](x)
        elif self.kind == "bias only":
            x = x * self.scale + self.second.bias
        else:
            x = self.second(x).tanh()
        result: torch.Tensor = x if self.kind == "no last" else self.last(x)
        return result


def _wired(kind: str) -> nn.Module:
    """A model of this kind, with the same weights each time."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(3)
        if kind == "no parameters":
            return nn.Sequential(nn.Flatten(), nn.Tanh())
        if kind == "a layer":
            return nn.Linear(4, 3)
        return Wired(kind)


@probe
def idle_found(
    idle: Callable[..., Any], kind: str, x: torch.Tensor, training: bool, graded: bool
) -> dict[str, Any]:
    """Which parameters of a model of this kind are told to be idle, and what the look changed.

    "later" is what's told once the model leaves its last layer out.

    Args:
        idle: Called with `(model, x)`; returns names.
        kind: What is odd about the model; of "modes", one layer is in the other mode than the
            model, and to "a hook" a hook adds its own parameter.
        x: The input; whether it requires grad is kept.
        training: The model's mode.
        graded: Whether every second parameter has a gradient of ones from before.
    """
    model = _wired(kind).train(training)
    if kind == "modes":
        model.get_submodule("extra").train(not training)
    if kind == "a hook":
        model.register_forward_hook(lambda model, args, out: out + model.scale.sum())
    calls: list[bool] = []
    model.register_forward_hook(lambda *_: calls.append(torch.is_grad_enabled()))
    for number, one in enumerate(model.parameters()):
        if graded and number % 2 and one.requires_grad:
            one.grad = torch.ones_like(one)
    leaf = x.detach().clone().requires_grad_(x.requires_grad)
    said = idle(model, leaf)
    seen = {
        "names": list(said),
        "class": class_name(said),
        "calls": max(len(calls), 1),  # who has nothing to ask need not run it
        "gradients": [one.grad for one in [*model.parameters(), leaf]],
        "flags": [one.requires_grad for one in [*model.parameters(), leaf]],
        "modes": [one.training for one in model.modules()],
        "mode": torch.is_grad_enabled(),
        "values": [one.detach().clone() for one in model.parameters()],
        "hooks": [*_hooks(model), *map(_tensor_hooks, [*model.parameters(), leaf])],
    }
    if isinstance(model, Wired):
        model.kind = "no last"
    return {**seen, "later": list(idle(model, leaf))}


_FAILURES: dict[str, Callable[[], BaseException]] = {
    "an error": lambda: ValueError("a layer fails"),
    "an interrupt": KeyboardInterrupt,
}


class _Failing(nn.Module):
    def __init__(self, problem: BaseException) -> None:
        super().__init__()
        self.problem = problem

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        raise self.problem


class Again(nn.Module):
    """A network that runs one layer twice, and one not at all."""

    def __init__(self) -> None:
        super().__init__()
        self.unused, self.twice = nn.Linear(4, 4), nn.Linear(4, 4)
        self.inner = nn.Sequential(nn.Tanh(), nn.Sequential(nn.Softplus()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Through the layer, then the inner ones, then the layer."""
        result: torch.Tensor = self.twice(self.inner(self.twice(x)))
        return result


def _traceable(kind: str, problem: BaseException | None) -> nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(5)
        made: dict[str, Callable[[], nn.Module]] = {
            "plain": lambda: nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 2)),
            "in place": lambda: nn.Sequential(nn.Linear(4, 4), nn.ReLU(inplace=True)),
            "views": lambda: nn.Sequential(nn.Tanh(), nn.Flatten(0), nn.Unflatten(0, (2, -1))),
            "again": Again,
            "a layer": lambda: nn.Linear(4, 2),
            "float64": lambda: nn.Sequential(nn.Linear(4, 3).double(), nn.Tanh()),
            "called by you": lambda: nn.Sequential(nn.Linear(4, 3), nn.Tanh()),
            "two places": lambda: nn.Sequential(*[nn.Linear(4, 4), nn.Tanh()] * 2),
            "a trace within": lambda: nn.Sequential(nn.Linear(4, 3), nn.Tanh()),
        }
        if problem is not None:
            return nn.Sequential(nn.Tanh(), _Failing(problem), nn.Tanh())
        return made[kind]()


@probe
def traced(make: Callable[..., Any], kind: str, x: torch.Tensor, runs: int = 1) -> dict[str, Any]:
    """What a trace of a model holds after some runs within it and one after it, and what is left.

    "between" is what it holds within the block after the first run; "again" what it holds after a
    second block with one run. Each module has a hook of its own from before, and gets another one
    within the first block. "hooks" counts them before the block, after it, and at the end.

    Args:
        make: Called with the model; returns a context manager with `outputs`.
        kind: The model: "plain", "in place", "views", "again", "a layer", "float64", "two places",
            "a trace within" (a second trace of the model is opened and closed before each run),
            "called by you" (the first layer is called, not the model), or a key of `_FAILURES`,
            which a layer raises.
        x: The input.
        runs: How often the model is called within the block.
    """
    problem = _FAILURES[kind]() if kind in _FAILURES else None
    model = _traceable(kind, problem)
    called = model.get_submodule("0") if kind == "called by you" else model
    x = x.double() if kind == "float64" else x
    _look_on(model)
    whole = WholeModule(model)
    trace, seen = make(model), _block()
    hooks = [_hooks(model)]
    with _passed_on(problem, seen), trace as inside:
        seen["itself"] = inside is trace
        _look_on(model)
        for _ in range(runs):
            if kind == "a trace within":
                with make(model):
                    pass
            _run(called, x, seen)
            seen["between"] = seen["between"] or len(inside.outputs)
    hooks.append(_hooks(model))
    if problem is None:
        _run(model, x.detach(), seen)
    seen |= _noted(trace.outputs)
    if problem is None:
        with trace, torch.no_grad():
            called(x)
    return {
        **seen,
        "again": _noted(trace.outputs),
        "hooks": [*hooks, _hooks(model)],
        "whole": whole.now(),
        "gradients": [one.grad is None for one in model.parameters()],
        "modes": [one.training for one in model.modules()],
        "mode": torch.is_grad_enabled(),
    }


def _look_on(model: nn.Module) -> None:
    """Somebody else's hook on each module, which only looks."""
    for one in model.modules():
        one.register_forward_hook(lambda *_: None)


def _hooks(model: nn.Module) -> list[int]:
    """How many hooks stand on each module, whatever they wait for."""
    kinds = [f"_{kind}_{when}hooks" for kind in ("forward", "backward") for when in ("", "pre_")]
    return [sum(len(getattr(one, kind)) for kind in kinds) for one in model.modules()]


def _tensor_hooks(one: torch.Tensor) -> int:
    return len(one._backward_hooks or ()) + len(one._post_accumulate_grad_hooks or ())


def _block() -> dict[str, Any]:
    return {"raised": "nothing", "between": 0, "outs": [], "learns": [], "itself": None}


def _run(model: nn.Module, x: torch.Tensor, seen: dict[str, Any]) -> None:
    """One run of the model: its values, and whether they have a graph."""
    out = model(x)
    seen["outs"].append(out.detach().clone())
    seen["learns"].append(out.requires_grad)


@contextlib.contextmanager
def _passed_on(problem: BaseException | None, seen: dict[str, Any]) -> Iterator[None]:
    """Note which error comes out, and whether it is the problem itself."""
    try:
        yield
    except NotImplementedError:  # there is no answer yet
        raise
    except BaseException as raised:
        if problem is None:
            raise
        seen["raised"] = f"{class_name(raised)}, itself: {raised is problem}"


def _noted(outputs: Sequence[Any]) -> dict[str, Any]:
    return {
        "names": [name for name, _ in outputs],
        "values": [one.detach().clone() for _, one in outputs],
        "graphs": [one.requires_grad for _, one in outputs],
    }


@probe
def class_loaded(
    load: Callable[..., Any],
    files: Sequence[Any],
    asked: Sequence[Any],
    as_text: bool = True,
    listed: bool = False,
) -> dict[str, Any]:
    """What the classes say of themselves that are loaded from files, and what is left behind.

    Every file is written just before it is loaded, and all are of one time where nothing else is
    said. What a class says is asked after the last load. "path" are the places in `sys.path` that
    hold something else than before, "named" the modules of the files that are left in
    `sys.modules`, under whatever name.

    Args:
        load: Called with `(path, name)`; returns a class.
        files: A path below a new folder, a text, and perhaps by how many seconds the file is
            younger; None in place of a text writes nothing.
        asked: Pairs of a number and a name: which file, which class.
        as_text: Whether the path comes as text instead of a Path.
        listed: Whether the folder stands first in `sys.path` before.
    """
    made, stands, path = list[Any](), os.getcwd(), list(sys.path)
    path_before, modules_before, place = list(sys.path), dict(sys.modules), os.getcwd()
    quiet, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        with tempfile.TemporaryDirectory() as folder:
            sys.path[:0] = [folder] * listed
            path = list(sys.path)
            for number, name in asked:
                file = Path(folder) / files[number][0]
                if files[number][1] is not None:
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text(files[number][1])
                    os.utime(file, (sum(files[number][2:], _TIME),) * 2)
                made.append(_loaded(load, str(file) if as_text else file, name))
            stands = os.getcwd()
    finally:
        os.chdir(place)
        sys.dont_write_bytecode, now = quiet, dict(sys.modules)
        seen = {
            "said": [_said(one) for one in made],
            "path": _moved(path, sys.path),
            "folder": os.path.relpath(stands, place),
            "replaced": sorted([k for k, v in modules_before.items() if now.get(k) is not v]),
            "named": _left(modules_before, now, folder),
        }
        sys.path[:] = path_before
        for key in set(sys.modules) - set(modules_before):
            del sys.modules[key]
        sys.modules.update(modules_before)
    return seen


_STEMS, _TIME = ("model", "net", "my", "my-model"), 1_700_000_000


def _moved(before: Sequence[str], now: Sequence[str]) -> list[int]:
    """The places that hold something else than before."""
    pairs = itertools.zip_longest(before, now)
    return [place for place, (was, stands) in enumerate(pairs) if was != stands]


def _left(before: dict[str, Any], now: dict[str, Any], folder: str) -> list[str]:
    """The names of new modules that are a file's own, by its name or by its place."""
    files = {name: str(getattr(one, "__file__", "")) for name, one in now.items()}
    new = files.keys() - before.keys()
    return sorted(name for name in new if name in _STEMS or files[name].startswith(folder))


def _loaded(load: Callable[..., Any], path: Any, name: str) -> Any:
    """A list of what loading gives, or its error's name and what the file itself says in it."""
    try:
        return [load(path, name)]
    except NotImplementedError:
        raise
    except (Exception, SystemExit, KeyboardInterrupt) as error:
        return " ".join([class_name(error), *re.findall("the file itself", str(error))])


def _said(loaded: Any) -> Any:
    """The name of the loaded class and what it computes, or the error that there was."""
    if isinstance(loaded, str):
        return loaded
    (made,) = loaded
    if not isinstance(made, type):
        return class_name(made)
    try:
        return [made.__name__, made().forward(2)]
    except Exception as error:
        return class_name(error)


class Head(nn.Module):
    """A layer below which a parameter may be tied."""

    def __init__(self, weight: torch.Tensor | None = None) -> None:
        super().__init__()
        self.out = nn.Linear(3, 5)
        if weight is not None:
            self.out.weight = weight


def _tied(kind: str) -> nn.Module:
    """A model in which parameters stand in one, two or three places."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(4)
        model = nn.Module()
        model.embed = nn.Embedding(5, 3)
        weight = model.embed.weight
        model.head = Head(None if kind == "not tied" else weight)
        model.body = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
        if kind == "equal values":
            model.head = Head()
            with torch.no_grad():
                model.head.out.weight.copy_(weight)
        if kind in ("three places", "two ties"):
            model.third = Head(weight)
        if kind == "two ties":
            model.body[1].weight, model.body[1].bias = model.body[0].weight, model.body[0].bias
        if kind == "a name of its own":
            model.token = model.other = weight
        if kind == "frozen":
            weight.requires_grad_(False)
        if kind == "two parameters in one memory":
            model.other = nn.Parameter(weight.detach())
        if kind == "double":
            model.double()
    _add_a_pair(model, kind)
    return model


def _add_a_pair(model: nn.Module, kind: str) -> None:
    """Parameters without elements, or layers that share a buffer, on the left and on the right."""
    if kind == "empty parameters":
        model.left, model.right = (nn.Parameter(torch.empty(0)) for _ in range(2))
    if kind == "a tie without elements":
        model.left = model.right = nn.Parameter(torch.empty(0))
    if kind == "a buffer in two places":
        model.left, model.right = nn.BatchNorm1d(3), nn.BatchNorm1d(3)
        model.right.running_mean = model.left.running_mean


@probe
def untied(untie: Callable[..., Any], kind: str, graded: bool) -> dict[str, Any]:
    """A model before and after its ties were undone: who is who, values, flags, gradients.

    "first" says of each name whether it still holds the very parameter that was there before, "once
    more" what's untied by a second call.

    Args:
        untie: Called with the model; returns names.
        kind: Where parameters are shared, such as "three places" or "not tied".
        graded: Whether parameters that require grad have a gradient of ones from before; the model
            is in training mode then, else in eval mode.
    """
    model = _tied(kind).train(graded)
    before = places_of_parameters(model)
    for one in before.values():
        one.grad = torch.ones_like(one) if graded and one.requires_grad else None
    whole = WholeModule(model)
    said = untie(model)
    after = places_of_parameters(model)
    seen = {
        "said": list(said),
        "class": class_name(said),
        "whole": whole.now(),
        "names": list(after),
        "first": [after[name] is one for name, one in before.items() if name in after],
        "kinds": [class_name(one) for one in after.values()],
        "values": [one.detach().clone() for one in after.values()],
        "flags": [[one.requires_grad, one.is_leaf] for one in after.values()],
        "gradients": [one.grad for one in after.values()],
        "modes": [one.training for one in model.modules()],
        "mode": torch.is_grad_enabled(),
        "distinct": len({id(one) for one in after.values()}),
        "storages": len({one.data_ptr() for one in after.values()}),
    }
    with torch.no_grad():
        for number, one in enumerate(after.values()):
            one.fill_(number)
    seen["apart"] = [one.flatten()[:1].tolist() for one in after.values()]
    return {**seen, "once more": list(untie(model))}
