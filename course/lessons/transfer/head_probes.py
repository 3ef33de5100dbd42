"""What tests of new heads look through: small models of several families.

Models are named by their family and built beside the answer, since a module has no plain form. The
same family has the same weights each time.

What `head_swapped` returns, among others:

    error      the class of an error, "" for none
    itself     whether the model itself came back
    fresh      the layers that weren't in the model before
    drawn      of each parameter of these the least and the largest number, how many, and how many
               distinct ones
    as before  how many of their numbers the model had already
    repeated   how many of them a second swap draws again
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any

import torch
from torch import nn

from course.lessons.transfer.freezing_probes import around, seeded
from course.probes.decorator import probe

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
    "same padding": lambda: _pictures(nn.Conv2d(4, 2, (3, 2), padding="same", dilation=2)),
    "depthwise": lambda: _pictures(
        nn.Conv2d(4, 8, 3, groups=4, padding=1, padding_mode="circular", bias=False)
    ),
    "linear first": lambda: nn.Sequential(
        nn.Linear(3, 4), nn.Unflatten(1, (1, 2, 2)), nn.Conv2d(1, 5, 2)
    ),
    "pictures first": lambda: nn.Sequential(nn.Conv2d(1, 4, 2), nn.Flatten(), nn.Linear(4, 6)),
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
    """A model of this kind after its head was swapped, layer by layer; for its keys, see above.

    Args:
        swap: Called with `(model, classes)`; returns the model.
        kind: The model, a key of `_FAMILIES`.
        classes: The outputs of the new head.
        to: A dtype or device that the model is moved to before, such as "float64" or "meta".
        frozen: Whether all parameters are frozen before.
        training: The model's mode.
        contrary: Whether linear layers and convolutions are in the other mode than the rest.
        drawn: Whether the numbers of new layers are told, too.
    """
    with seeded(17):
        model = _family(kind, to, training, contrary).requires_grad_(not frozen)
        before = dict(model.named_modules())
        old, twin = _numbers([model]), deepcopy(model)
        found, error = _swapped(swap, model, classes)
        left = around()
        fresh = {name: one for name, one in found.named_modules() if before.get(name) is not one}
        numbers = [_numbers(fresh.values()), _numbers([swap(twin, classes)]), old] if drawn else []
    return {
        "error": error,
        "itself": found is model,
        "around": left,
        "fresh": [[name, *_plan(one)] for name, one in fresh.items()],
        "drawn": [row for one in fresh.values() for row in _drawn(one)] if drawn else [],
        **_counts(*numbers),
        **_outline(found),
    }


def _swapped(swap: Callable[..., Any], model: nn.Module, classes: int) -> tuple[nn.Module, str]:
    """What the swap returns, or the model as it was left and the class of the error."""
    try:
        return swap(model, classes), ""
    except NotImplementedError:
        raise
    except Exception as raised:
        return model, type(raised).__name__


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
