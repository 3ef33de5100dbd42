"""What tests of new heads look through: small models of several families.

Models are named by their family and built beside the answer, since a module has no plain form. The
same family has the same weights each time.

What `head_swapped` returns, among others:

    itself     whether the model itself came back
    fresh      the layers that weren't in the model before
    drawn      of each parameter of these the least and the largest number, how many, and how many
               distinct ones
    as before  how many of their numbers the model had already
    repeated   how many of them a second swap draws again
    others     all that is to be seen of the model beside the new layers (see `WholeModule`)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any

import torch
from torch import nn

from course.lessons.transfer.freezing_probes import around, packed, seeded
from course.probes.decorator import probe
from course.probes.whole_module import WholeModule

__all__ = ["head_swapped"]


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
    "pictures first": lambda: nn.Sequential(nn.Conv2d(1, 4, 2), nn.Flatten(), nn.Linear(4, 6)),
}


@probe
def head_swapped(
    swap: Callable[..., Any],
    kind: str,
    classes: int,
    *,
    to: str = "",
    frozen: bool = False,
    drawn: bool = False,
    used: bool = False,
) -> dict[str, Any]:
    """A model of this kind after its head was swapped, layer by layer; for its keys, see above.

    Args:
        swap: Called with `(model, classes)`; returns the model.
        kind: The model, a key of `_FAMILIES`.
        classes: The outputs of the new head.
        to: A dtype or device that the model is moved to before, such as "float64" or "meta"; with
            "head " before it, only the last linear layer is moved.
        frozen: Whether all parameters are frozen before.
        drawn: Whether the numbers of new layers are told, too.
        used: Whether every second module is in eval mode before, and each parameter has a gradient.
    """
    with seeded(17):
        model = _family(kind, to).requires_grad_(not frozen)
        if used:
            _use(model)
        before, whole = dict(model.named_modules()), WholeModule(model)
        old, twin = _numbers([model]), deepcopy(model)
        found, left = swap(model, classes), around()
        fresh = {name: one for name, one in found.named_modules() if before.get(name) is not one}
        numbers = [_numbers(fresh.values()), _numbers([swap(twin, classes)]), old] if drawn else []
    return {
        "itself": found is model,
        "around": left,
        "fresh": [[name, *_plan(one)] for name, one in fresh.items()],
        "drawn": [row for one in fresh.values() for row in _drawn(one)] if drawn else [],
        **_counts(*numbers),
        **_outline(found),
        "others": _others(whole.now(), fresh),
    }


def _family(kind: str, to: str) -> nn.Module:
    """A model of this kind, with this dtype or on this device."""
    model = _FAMILIES[kind]()
    moved: nn.Module = model
    if to.startswith("head "):
        moved = [one for one in model.modules() if isinstance(one, nn.Linear)][-1]
        to = to.removeprefix("head ")
    if to:
        moved.to(getattr(torch, to) if to.startswith(("float", "bfloat")) else to)
    return model


def _use(model: nn.Module) -> None:
    """Put every second module into eval mode, and give each parameter a gradient of ones."""
    for one in list(model.modules())[1::2]:
        one.training = False
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)


def _others(now: dict[str, Any], fresh: Iterable[str]) -> dict[str, Any]:
    """What `WholeModule` says, without these modules; values and gradients in one vector each."""
    without = tuple(f"{name}." for name in fresh)
    left = {
        aspect: {name: one for name, one in named.items() if not f"{name}.".startswith(without)}
        for aspect, named in now.items()
    }
    values, gradients = left["values"].values(), left["gradients"].values()
    kept = [one[1] for one in gradients if one is not None]
    return {
        **left,
        "values": packed(one for one in values if not one.is_meta),
        "gradients": [[one and one[0] for one in gradients], packed(kept)],
    }


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
    """Names, flags, shapes and places of all that a model has."""
    named = dict(model.named_parameters())
    return {
        "names": [name for name, _ in model.named_modules()],
        "flags": {name: one.requires_grad for name, one in named.items()},
        "leaves": [one.is_leaf for one in named.values()],
        "places": sorted({f"{one.device} {one.dtype}" for one in named.values()}),
        "shapes": {name: list(one.shape) for name, one in named.items()},
    }


def _plan(layer: nn.Module) -> list[Any]:
    """Whether a layer is linear, and what it was made with."""
    asked = ("in_features", "out_features")
    said = [[name, getattr(layer, name)] for name in asked if hasattr(layer, name)]
    return [isinstance(layer, nn.Linear), said, getattr(layer, "bias", None) is not None]


def _drawn(layer: nn.Module) -> list[list[float]]:
    """Least, largest, number and number of distinct values of each parameter."""
    return [
        [float(one.min()), float(one.max()), one.numel(), len(one.unique())]
        for one in layer.parameters()
    ]
