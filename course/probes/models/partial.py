"""What tests of heads, partial weights and features look through.

Models are named by their kind and built beside the answer, since a module has no plain form. The
same kind has the same weights each time.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from typing import Any

import torch
from torch import nn

from course.probes.decorator import probe
from course.probes.models.freezing import packed, seeded

__all__ = ["features_taken", "fitted", "head_swapped", "renamed"]


class _Named(nn.Module):
    """A small body, and a head under the names that a family of models uses."""

    def __init__(self, width: int, **parts: nn.Module) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, width), nn.BatchNorm1d(width), nn.Tanh())
        for name, part in parts.items():
            self.add_module(name, part)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for part in self.children():
            x = part(x)
        return x


class _Early(nn.Module):
    """A model that runs its layers in the order in which they were registered, and one early."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(3, 4)
        self.classifier = nn.Sequential(nn.Tanh(), nn.Linear(4, 2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.classifier(self.fc(x))
        return found


class _Wide(nn.Linear):
    """A linear layer by another name."""


def _pictures(conv: nn.Module, *more: nn.Module) -> nn.Module:
    return nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Sequential(nn.Dropout(0.5), conv, *more))


_FAMILIES: dict[str, Callable[[], nn.Module]] = {
    "fc": lambda: _Named(5, fc=nn.Linear(5, 10)),
    "classifier": lambda: _Named(4, classifier=nn.Linear(4, 10)),
    "long classifier": lambda: _Named(
        4, classifier=nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Dropout(), nn.Linear(6, 10))
    ),
    "head": lambda: _Named(3, norm=nn.LayerNorm(3), head=nn.Linear(3, 7)),
    "heads": lambda: _Named(3, heads=nn.Sequential(nn.Identity(), _Named(3, head=nn.Linear(3, 9)))),
    "activated": lambda: _Named(4, classifier=nn.Sequential(nn.Linear(4, 8), nn.LogSoftmax(1))),
    "sequential": lambda: nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 4)),
    "no bias": lambda: _Named(5, fc=nn.Linear(5, 10, bias=False)),
    "early": _Early,
    "in a dict": lambda: nn.Sequential(
        nn.Linear(3, 4), _Named(2, parts=nn.Sequential()), nn.ModuleDict({"out": nn.Linear(4, 3)})
    ),
    "pointwise": lambda: _pictures(nn.Conv2d(4, 10, 1), nn.ReLU()),
    "convolution": lambda: _pictures(
        nn.Conv2d(4, 6, (3, 2), stride=2, padding=(1, 0), dilation=(2, 1), bias=False)
    ),
    "reflecting": lambda: _pictures(nn.Conv2d(4, 2, 3, padding=1, padding_mode="reflect")),
    "grouped": lambda: _pictures(nn.Conv2d(4, 6, 1, groups=2)),
    "a layer": lambda: nn.Linear(4, 2),
    "subclass": lambda: _Named(5, fc=_Wide(5, 10)),
    "headless": lambda: nn.Sequential(nn.BatchNorm1d(3), nn.Tanh()),
}


@probe
def head_swapped(
    swap: Callable[..., Any],
    kind: str,
    classes: int,
    *,
    to: str = "",
    frozen: bool = False,
    training: bool = True,
    contrary: bool = False,
    drawn: bool = False,
) -> dict[str, Any]:
    """A model of this kind after its head was swapped, layer by layer.

    `to` is a dtype or device that the model is moved to before, such as "float64" or "meta".
    `contrary` gives linear layers and convolutions the other mode than the rest. "fresh" are the
    layers that weren't in the model before. `drawn` tells their numbers: the least, the largest,
    how many and how many distinct ones; "as before" counts those that the model had already,
    "repeated" those that a second swap draws again.
    """
    with seeded(17):
        model = _family(kind, to, training, contrary).requires_grad_(not frozen)
        before = dict(model.named_modules())
        error, found = "", model
        old, twin = _numbers([model]), deepcopy(model)
        try:
            found = swap(model, classes)
        except NotImplementedError:
            raise
        except Exception as raised:
            error = type(raised).__name__
        fresh = {name: one for name, one in found.named_modules() if before.get(name) is not one}
        numbers = [_numbers(fresh.values()), _numbers([swap(twin, classes)]), old] if drawn else []
    return {
        "error": error,
        "itself": found is model,
        "fresh": [[name, *_plan(one)] for name, one in fresh.items()],
        "drawn": [row for one in fresh.values() for row in _drawn(one)] if drawn else [],
        **_counts(*numbers),
        **_outline(found),
    }


def _family(kind: str, to: str, training: bool, contrary: bool) -> nn.Module:
    """A model of this kind, in its modes, with this dtype or on this device."""
    model = _FAMILIES[kind]()
    for one in model.modules():
        one.training = training ^ (contrary and isinstance(one, nn.Linear | nn.Conv2d))
    if to:
        model.to(getattr(torch, to) if to.startswith(("float", "bfloat")) else to)
    return model


def _numbers(modules: Iterable[nn.Module]) -> torch.Tensor:
    """All numbers of their parameters, one after the other; none of those on `meta`."""
    flat = [one.detach().flatten() for part in modules for one in part.parameters()]
    return torch.cat([torch.zeros(0), *(one for one in flat if not one.is_meta)])


def _counts(*numbers: torch.Tensor) -> dict[str, int]:
    """How many of the new numbers the model had before, and how many a second swap repeats."""
    new, again, old = numbers or [torch.zeros(0)] * 3
    return {
        "as before": int(torch.isin(new, old).sum()),
        "repeated": int(torch.isin(new, again).sum()),
    }


def _outline(model: nn.Module) -> dict[str, Any]:
    """Names, flags, modes, shapes and places of all that a model has."""
    named = dict(model.named_parameters())
    return {
        "names": [name for name, _ in model.named_modules()],
        "flags": {name: one.requires_grad for name, one in named.items()},
        "leaves": [one.is_leaf for one in named.values()],
        "places": sorted({f"{one.device} {one.dtype}" for one in named.values()}),
        "modes": {name: one.training for name, one in model.named_modules()},
        "shapes": {name: list(one.shape) for name, one in named.items()},
    }


def _plan(layer: nn.Module) -> list[Any]:
    """The class of a layer and what it was made with."""
    asked = [
        *("in_features", "out_features", "in_channels", "out_channels", "kernel_size", "stride"),
        *("padding", "dilation", "groups", "padding_mode"),
    ]
    said = [[name, getattr(layer, name)] for name in asked if hasattr(layer, name)]
    kinds = [one.__name__ for one in (nn.Linear, nn.Conv2d) if isinstance(layer, one)]
    return [kinds, said, getattr(layer, "bias", None) is not None]


def _drawn(layer: nn.Module) -> list[list[float]]:
    """Least, largest, number and number of distinct values of each parameter."""
    return [
        [float(one.min()), float(one.max()), one.numel(), len(one.unique())]
        for one in layer.parameters()
    ]


class _Held(nn.Module):
    """Parameters and buffers of several shapes; one buffer isn't saved."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3))
        self.head = nn.Linear(3, 2, bias=kind != "no bias")
        self.scale = nn.Parameter(torch.tensor(1.5))
        self.register_buffer("table", torch.arange(3.0), persistent=False)
        if kind == "frozen":
            self.body.requires_grad_(False)
        if kind == "tied":
            self.tail = nn.Linear(3, 2)
            self.tail.weight = self.head.weight
        if kind == "double":
            self.double()


def _held(kind: str) -> nn.Module:
    made: dict[str, Callable[[], nn.Module]] = {
        "a layer": lambda: nn.Linear(3, 2),
        "nothing": nn.Tanh,
    }
    return made.get(kind, lambda: _Held(kind))()


@probe
def fitted(
    load: Callable[..., Any], kind: str, state: dict[str, Any], times: int = 1
) -> dict[str, Any]:
    """The report of loading this state into a model of this kind, the model, and the state after.

    "apart" are the model's tensors once those of the state were overwritten.
    """
    with seeded(17):
        model = _held(kind).train()
    given = {name: one.clone() for name, one in state.items()}
    before = dict(model.named_parameters())
    kept = {name: one.tolist() for name, one in model.state_dict().items()}
    told = [load(model, given) for _ in range(times)]
    after = dict(model.named_parameters())
    seen = {
        "report": [dict(one) for one in told],
        "classes": [type(part).__name__ for one in told for part in dict(one).values()],
        "kept": kept,
        "values": {name: one.tolist() for name, one in model.state_dict().items()},
        "dtypes": [str(one.dtype) for one in model.state_dict().values()],
        "same": [after.get(name) is one for name, one in before.items()],
        "flags": [[one.requires_grad, one.is_leaf] for one in after.values()],
        "unsaved": packed(model.buffers()),
        "modes": [one.training for one in model.modules()],
        "state": packed(given.values()),
        "order": list(given),
    }
    for one in given.values():
        one.zero_()
    return {**seen, "apart": packed(model.state_dict().values())}


class _Fails(nn.Module):
    """A layer that fails when it is called for the third time."""

    def __init__(self) -> None:
        super().__init__()
        self.added = [0, 0]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.added.pop()


_BODIES: dict[str, Callable[[], nn.Module]] = {
    "norm": lambda: nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Tanh()),
    "dropout": lambda: nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5)),
    "frozen": lambda: nn.Sequential(nn.Linear(3, 4), nn.Tanh()).requires_grad_(False),
    "pictures": lambda: nn.Sequential(nn.Unflatten(1, (1, 1, 3)), nn.Conv2d(1, 2, 1)),
    "identity": nn.Identity,
    "flat": lambda: nn.Sequential(nn.Linear(3, 2), nn.Flatten(0)),
    "fails": lambda: nn.Sequential(nn.Dropout(0.5), _Fails()),
}


@probe
def features_taken(
    take: Callable[..., Any],
    kind: str,
    batches: Sequence[Sequence[torch.Tensor]],
    *,
    modes: str = "training",
    once: bool = False,
    quiet: bool = False,
) -> dict[str, Any]:
    """Features and targets that `take(body, batches)` gives, and what is left of the body.

    `modes` are the body's before: "training", "eval", or "mixed", with every second module in eval
    mode. `once` gives the batches as a generator, `quiet` calls under no_grad. "came" has for each
    batch of it the calls before, "learns" the gradient of a head trained on the features, or the
    error that this ends in.
    """
    with seeded(17):
        body = _body(kind, modes)
        calls = _counted(body)
        given = [tuple(one.clone() for one in pair) for pair in batches]
        before = [one.training for one in body.modules()]
        features, targets, error, came = None, None, "", list[int]()
        try:
            with torch.no_grad() if quiet else contextlib.nullcontext():
                features, targets = take(body, _one_by_one(given, calls, came) if once else given)
        except NotImplementedError:
            raise
        except Exception as raised:
            error = type(raised).__name__
        following = torch.rand(2)
    taken = {"features": features, "targets": targets, "error": error, "calls": calls, "came": came}
    return {
        **taken,
        **_features(features),
        "modes": [before, [one.training for one in body.modules()]],
        "following": following,
        "given": packed(one for pair in given for one in pair),
        **_kept(body),
    }


def _one_by_one(given: Sequence[Any], calls: Sequence[Any], came: list[int]) -> Iterator[Any]:
    """The batches one after the other, each noted with the number of calls so far."""
    for pair in given:
        came.append(len(calls))
        yield pair


def _counted(body: nn.Module) -> list[list[Any]]:
    """The list in which each call is noted: samples, grad mode, the modes of all modules."""
    calls: list[list[Any]] = []
    body.register_forward_hook(
        lambda module, args, out: calls.append(
            [len(args[0]), torch.is_grad_enabled(), [one.training for one in module.modules()]]
        )
    )
    return calls


def _body(kind: str, modes: str) -> nn.Module:
    """A body of this kind, in these modes."""
    body = _BODIES[kind]()
    if modes == "eval":
        body.eval()
    elif modes == "mixed":
        for one in list(body.modules())[1::2]:
            one.training = False
    return body


def _kept(body: nn.Module) -> dict[str, Any]:
    """Buffers, flags and gradients of a body, and whether graphs are recorded."""
    return {
        "buffers": [one.tolist() for one in body.buffers()],
        "flags": [one.requires_grad for one in body.parameters()],
        "grads": [one.grad for one in body.parameters()],
        "grad mode": torch.is_grad_enabled(),
    }


def _features(features: torch.Tensor | None) -> dict[str, Any]:
    """Whether features have a graph, and what a head learns from them."""
    if features is None:
        return {"graph": False, "learns": None}
    return {"graph": features.requires_grad, "learns": _learned(features)}


def _learned(features: torch.Tensor) -> Any:
    """The gradient of a weight that all features are multiplied with."""
    weight = torch.tensor(2.0, requires_grad=True)
    try:
        (weight * features).square().sum().backward()
    except RuntimeError as raised:
        return type(raised).__name__
    return weight.grad


@probe
def renamed(
    rename: Callable[..., Any], names: Sequence[str], rules: Sequence[Any], told: bool = False
) -> dict[str, Any]:
    """What renaming gives for a state of these names, whose tensors hold their numbers.

    "same" says of each tensor which number the one in the state had that it is, "state" what is
    left there. An error is told by its class, and with `told` by its message.
    """
    state = {name: torch.tensor([float(number)]) for number, name in enumerate(names)}
    tensors = list(state.values())
    made, error, text = None, "", ""
    given = [list(rule) for rule in rules]
    try:
        made = rename(state, [tuple(rule) for rule in given])
    except NotImplementedError:
        raise
    except Exception as raised:
        error, text = type(raised).__name__, str(raised)
    pairs = [] if made is None else list(made.items())
    return {
        "names": [name for name, _ in pairs],
        "numbers": [float(one) for _, one in pairs],
        "same": [[one is other for other in tensors].index(True) for _, one in pairs]
        if all(any(one is other for other in tensors) for _, one in pairs)
        else "copies",
        "itself": made is state,
        "state": [list(state), [float(one) for one in state.values()]],
        "mapping": isinstance(made, dict),
        "error": error,
        "text": text if told else "",
    }
