"""Small models to train for one step, and what the step did to each of their parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch
import torch.nn.functional as F
from torch import nn

from course.inspection.random_state import random_state_kept
from course.lessons.modules.layer_calls import tensors_in
from course.lessons.modules.module_parts import copied
from course.lessons.modules.module_tree import Row, rows_of, subjects_of

__all__ = ["EXAMPLES", "ModelError", "Step", "built", "copy_of", "inputs_of_examples", "trained"]

_T = TypeVar("_T")
_HEAD = "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
_LOOP = "        for layer in self.layers:\n            x = layer(x).tanh()\n"
_TAIL = "\nmodel = Net()"
_TWO = "        self.first = nn.Linear(3, 3)\n        self.last = nn.Linear(3, 1)\n"
_CALL = "    def forward(self, x):\n"
_BOTH = _CALL + "        return self.last(self.first(x).tanh())\n"
_LIST = "[nn.Linear(3, 3), nn.Linear(3, 3)]"
_LAST = "        self.last = nn.Linear(3, 1)\n\n"
_OUT = "        return self.last(x)\n"
EXAMPLES = {
    "layers in a plain list": (
        f"{_HEAD}        self.layers = {_LIST}\n{_LAST}{_CALL}{_LOOP}{_OUT}{_TAIL}"
    ),
    "layers in a ModuleList": (
        f"{_HEAD}        self.layers = nn.ModuleList({_LIST})\n{_LAST}{_CALL}{_LOOP}{_OUT}{_TAIL}"
    ),
    "a layer that forward never calls": (
        f"{_HEAD}{_TWO}\n{_CALL}        return self.first(x).tanh()\n{_TAIL}"
    ),
    "a typo: required_grad": (
        f"{_HEAD}{_TWO}        self.first.weight.required_grad = False\n\n{_BOTH}{_TAIL}"
    ),
    "frozen": f"{_HEAD}{_TWO}        self.first.requires_grad_(False)\n\n{_BOTH}{_TAIL}",
    "cut by detach": (
        f"{_HEAD}{_TWO}\n{_CALL}        return self.last(self.first(x).tanh().detach())\n{_TAIL}"
    ),
    "tied weights": (
        f"{_HEAD}        self.first = nn.Linear(3, 3)\n        self.second = nn.Linear(3, 3)\n"
        f"        self.second.weight = self.first.weight\n\n{_CALL}"
        f"        return self.second(self.first(x).tanh())\n{_TAIL}"
    ),
    "a tensor that is no Parameter": (
        f"{_HEAD}        self.first = nn.Linear(3, 3)\n"
        f"        self.scale = torch.ones(3, requires_grad=True)\n\n{_CALL}"
        f"        return self.first(x).tanh() * self.scale\n{_TAIL}"
    ),
}


class ModelError(ValueError):
    """A model that cannot be built or trained; the text is meant for the reader."""


@dataclass(frozen=True)
class Step:
    """What one step of training did: the tree with its gradients, and who was moved."""

    rows: tuple[Row, ...]
    moved: Mapping[str, bool]


def inputs_of_examples() -> tuple[torch.Tensor]:
    """What the small models are called with: four samples of three numbers."""
    return (torch.linspace(-1, 1, 12).view(4, 3),)


def built(code: str) -> nn.Module:
    """The `model` that the code makes, its weights drawn from a fixed seed."""
    namespace: dict[str, object] = {"__name__": "explored", "torch": torch, "nn": nn, "F": F}
    with random_state_kept():
        torch.manual_seed(0)
        _or_model_error("The code", lambda: exec(compile(code, "<model>", "exec"), namespace))
    model = namespace.get("model")
    if not isinstance(model, nn.Module):
        raise ModelError("The code makes no model. End it with a line such as: model = Net()")
    return model


def copy_of(model: nn.Module) -> nn.Module:
    """A copy of the model, without hooks."""
    return _or_model_error("Copying the model", lambda: copied(model))


def trained(model: nn.Module, inputs: Sequence[object]) -> Step:
    """What backward and one step of SGD over `model.parameters()` do; the model is changed."""
    subjects = subjects_of(model)
    before = [subject.tensor.detach().clone() for subject in subjects]
    for subject in subjects:
        subject.tensor.grad = None
    with random_state_kept(), torch.enable_grad():
        torch.manual_seed(0)
        _or_model_error("Training", lambda: _step(model, inputs))
    moved = {s.path: _differ(old, s.tensor) for s, old in zip(subjects, before, strict=True)}
    return Step(tuple(rows_of(model)), moved)


def _step(model: nn.Module, inputs: Sequence[object]) -> None:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    outputs = [one for one in tensors_in(model(*inputs)) if one.is_floating_point()]
    # Each output counts differently: behind a normalisation the gradient of a plain sum is 0.
    torch.stack([(one * torch.rand_like(one)).sum() for one in outputs]).sum().backward()
    optimizer.step()


def _differ(before: torch.Tensor, subject: torch.Tensor) -> bool:
    return not torch.equal(before, subject.detach())


def _or_model_error(what: str, action: Callable[[], _T]) -> _T:
    """The action's result; its error becomes a sentence."""
    try:
        return action()
    except Exception as error:
        words = (str(error).strip().splitlines() or [""])[0]
        raise ModelError(f"{what} raised {type(error).__name__}: {words}") from None
