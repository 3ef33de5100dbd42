"""All of a module before and after: what "everything else stays as it is" means.

A task that lets one thing change is easily tested for that alone, in the one state in which the
test's model came. So a probe takes down all of its model, before it hands it over:

>>> model = nn.Sequential(nn.Linear(2, 1), nn.BatchNorm1d(1)).eval()
>>> whole = WholeModule(model)
>>> _ = model.train()
>>> [one for one in ("parameters", "hooks", "modes") if whole.now()[one] != whole.before[one]]
['modes']
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import nn
from torch.nn.modules import module as _torchs_module

from course.inspection.class_names import class_name

__all__ = ["WholeModule", "detached", "places_of_modules", "places_of_parameters"]


def detached(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor without a graph, by torch's own method: an answer may hang another one on it."""
    return torch.Tensor.detach(tensor)


class WholeModule:
    """Looks at all of a module, now and later, in plain data that two runs have in common.

    An object and a piece of memory are known by a number, given in the order in which they are
    met. What was met is kept alive, so that nothing new can be taken for it. `before` is what
    `now` gave when this was made.

    Args:
        module: Is taken down as it is now.
    """

    def __init__(self, module: nn.Module) -> None:
        """Look at it for the first time."""
        self._module = module
        self._kept: list[Any] = []
        self._numbers: dict[int, int] = {}
        self.before = self.now()

    def now(self, values: bool = True) -> dict[str, Any]:
        """The module as it is, an entry an aspect; for each a dict by names.

        Args:
            values: Whether to take down what tensors and gradients hold, too.

        Returns:
            "modules" (number and class), "parameters" (number), "buffers" (number and whether the
            state dict has it), "memory" (number, offset, shape, strides), "dtypes", "values",
            "requires_grad", "gradients" (None or number and values), "modes", "hooks" (the numbers
            of all hooks on modules and tensors; under "" those on all modules everywhere).
        """
        modules = places_of_modules(self._module)
        parameters = places_of_parameters(self._module)
        buffers = _places(modules, "_buffers")
        saved = {*nn.Module.state_dict(self._module, keep_vars=True)}
        tensors = {**parameters, **buffers}
        held = {name: detached(one).clone() for name, one in tensors.items()} if values else {}
        return {
            "modules": {n: [self._number(one), class_name(one)] for n, one in modules.items()},
            "parameters": {name: self._number(one) for name, one in parameters.items()},
            "buffers": {name: [self._number(one), name in saved] for name, one in buffers.items()},
            "memory": {name: self._place(one) for name, one in tensors.items()},
            "dtypes": {name: one.dtype for name, one in tensors.items()},
            "values": held,
            "requires_grad": {name: one.requires_grad for name, one in tensors.items()},
            "gradients": {name: self._gradient(one, values) for name, one in tensors.items()},
            "modes": {name: one.training for name, one in modules.items()},
            "hooks": {
                **{name: [*map(self._number, _hooks(one))] for name, one in modules.items()},
                **{f"{n} (tensor)": self._tensor_hooks(one) for n, one in tensors.items()},
                "": [*map(self._number, _hooks(_torchs_module))],
            },
        }

    def _number(self, value: Any) -> int:
        self._kept.append(value)
        return self._numbers.setdefault(id(value), len(self._numbers))

    def _place(self, tensor: torch.Tensor) -> list[Any]:
        storage = tensor.untyped_storage()
        self._kept.append(storage)
        number = self._numbers.setdefault(-1 - storage.data_ptr(), len(self._numbers))
        return [number, tensor.storage_offset(), tuple(tensor.shape), tensor.stride()]

    def _gradient(self, tensor: torch.Tensor, values: bool) -> list[Any] | None:
        if not tensor.is_leaf or tensor.grad is None:
            return None
        held = [detached(tensor.grad).clone()] if values else []
        return [self._number(tensor.grad), *held]

    def _tensor_hooks(self, tensor: torch.Tensor) -> list[int]:
        kinds = (tensor._backward_hooks, getattr(tensor, "_post_accumulate_grad_hooks", None))
        return [self._number(hook) for kind in kinds for hook in (kind or {}).values()]


def places_of_parameters(module: nn.Module) -> dict[str, nn.Parameter]:
    """The parameters in all of their places, as `named_parameters(remove_duplicate=False)`.

    What an answer hangs on a module, or defines in a class of its own, has no say in it.
    """
    return _places(places_of_modules(module), "_parameters")


def places_of_modules(module: nn.Module) -> dict[str, nn.Module]:
    """The modules in all of their places, as `named_modules(remove_duplicate=False)`."""
    found: dict[str, nn.Module] = {}
    waiting: list[tuple[str, nn.Module, tuple[int, ...]]] = [("", module, (id(module),))]
    while waiting:
        name, one, path = waiting.pop()
        found[name] = one
        parts = [item for item in vars(one)["_modules"].items() if item[1] is not None]
        for last, part in reversed(parts):
            if id(part) not in path:  # a module inside itself
                waiting.append((f"{name}.{last}".lstrip("."), part, (*path, id(part))))
    return found


def _places(modules: dict[str, nn.Module], kind: str) -> dict[str, Any]:
    return {
        f"{name}.{last}".lstrip("."): tensor
        for name, one in modules.items()
        for last, tensor in vars(one)[kind].items()
        if tensor is not None
    }


def _hooks(holder: Any) -> Iterator[Any]:
    """The functions in all dicts of hooks that a module has, or torch has for all modules."""
    for name, kind in vars(holder).items():
        if isinstance(kind, dict) and kind and name.endswith("_hooks"):
            yield from (hook for hook in kind.values() if callable(hook))
