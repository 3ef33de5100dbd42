"""What a module holds, registered or not: parameters, buffers, modules, and plain containers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass

import torch
from torch import nn

__all__ = ["Part", "copied", "held_by", "parts_of", "title_of"]

_OWN = frozenset(vars(nn.Module()))  # what every module has for itself
_MOST_NESTED = 4  # lists in lists in lists in lists
_MOST_HELD = 200  # entries of one container that are looked at


@dataclass(frozen=True)
class Part:
    """A tensor or module that a module holds: its name, and how it is held.

    `how` is "parameter", "buffer" or "module" for what is registered; otherwise what it sits in:
    "a plain list", "a plain dict", "a plain attribute".
    """

    name: str
    value: torch.Tensor | nn.Module
    how: str

    @property
    def registered(self) -> bool:
        """Whether `parameters()`, `buffers()` or `modules()` finds it."""
        return self.how in ("parameter", "buffer", "module")


def parts_of(module: nn.Module) -> Iterator[Part]:
    """What the module itself holds, in the order of registration; then what it didn't register."""
    for kind, found in (
        ("parameter", module._parameters),
        ("buffer", module._buffers),
        ("module", module._modules),
    ):
        yield from (Part(name, value, kind) for name, value in found.items() if value is not None)
    for name, value in vars(module).items():
        if name not in _OWN:
            yield from _held(name, value, "attribute", 0)


def _held(name: str, value: object, where: str, depth: int) -> Iterator[Part]:
    """The tensors and modules in an attribute, however deep in plain containers."""
    if isinstance(value, torch.Tensor | nn.Module):
        yield Part(name, value, f"a plain {where}")
    elif isinstance(value, list | tuple | Mapping) and depth < _MOST_NESTED:
        entries = value.items() if isinstance(value, Mapping) else enumerate(value)
        kind = "dict" if isinstance(value, Mapping) else type(value).__name__
        for key, one in list(entries)[:_MOST_HELD]:
            yield from _held(f"{name}[{key!r}]", one, kind, depth + 1)


def held_by(module: nn.Module, path: str = "") -> Iterator[tuple[str, Part]]:
    """Each part in the whole tree with its path, parents first; each module is entered once."""
    yield from _held_by(module, path, {id(module)})


def _held_by(module: nn.Module, path: str, entered: set[int]) -> Iterator[tuple[str, Part]]:
    for part in parts_of(module):
        name = f"{path}.{part.name}" if path else part.name
        yield name, part
        if isinstance(part.value, nn.Module) and id(part.value) not in entered:
            entered.add(id(part.value))
            yield from _held_by(part.value, name, entered)


_KEYS = re.compile(r"\b(in_features|out_features|kernel_size|normalized_shape)=")
_PAIRS = re.compile(r"\((\d+), \1\)")
_USUAL = re.compile(
    r"(, )?\b(bias=True|affine=True|elementwise_affine=True|track_running_stats=True|eps=1e-05"
    r"|momentum=0.1|dilation=1|ceil_mode=False|inplace=False|start_dim=1|end_dim=-1|padding=0"
    r"|stride=1)(?=,|$)"
)


def title_of(module: nn.Module) -> str:
    """The module in a word or two, without what is so by default.

    >>> title_of(nn.Conv2d(1, 32, 3, padding=1)), title_of(nn.BatchNorm2d(32))
    ('Conv2d(1, 32, 3, padding=1)', 'BatchNorm2d(32)')
    """
    words = _PAIRS.sub(r"\1", _KEYS.sub("", module.extra_repr().replace("\n", ", ")))
    return f"{type(module).__name__}({_USUAL.sub('', words).removeprefix(', ')})"


def copied(module: nn.Module) -> nn.Module:
    """A deep copy without hooks, also of a module that keeps results with their graphs.

    Those are copied as plain numbers: PyTorch itself refuses to copy a tensor with a graph.

    Args:
        module: It stays as it is, with its hooks.
    """
    memo: dict[int, object] = {
        id(part.value): part.value.detach().clone()
        for _, part in held_by(module)
        if isinstance(part.value, torch.Tensor) and not part.value.is_leaf
    }
    twin = deepcopy(module, memo)
    parts = [part.value for _, part in held_by(twin)]
    for one in (twin, *(value for value in parts if isinstance(value, nn.Module))):
        for name, hooks in vars(one).items():
            if name.startswith(("_forward_", "_backward_")) and isinstance(hooks, dict):
                hooks.clear()
    return twin
