"""The calls of a model's layers while data runs through a copy of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn.parameter import UninitializedParameter
from torch.utils.hooks import RemovableHandle

from course.inspection.random_state import random_state_kept
from course.lessons.modules.module_parts import copied, parts_of, title_of

__all__ = ["Call", "Run", "count", "is_layer", "run_of", "tensors_in"]

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Call:
    """One call of a layer: what went in, what came out, and how it failed if it did."""

    name: str
    title: str
    taken: tuple[Shape, ...]
    given: tuple[Shape, ...] = ()
    parameters: int = 0
    error: str = ""


@dataclass(frozen=True)
class Run:
    """What happened when data ran through: the calls in their order, and who had none."""

    inputs: tuple[Shape, ...]
    calls: tuple[Call, ...]
    unused: tuple[tuple[str, str], ...]  # name and title
    outputs: tuple[Shape, ...] = ()
    failed: bool = False
    parameters: int = 0


def run_of(model: nn.Module, inputs: Sequence[object]) -> Run:
    """What happens when a copy of the model is called; its own error is part of it."""
    twin = copied(model)
    watch = _Watch(twin)
    given = tuple(one.detach().clone() if isinstance(one, torch.Tensor) else one for one in inputs)
    outputs: tuple[Shape, ...] = ()
    with random_state_kept(), torch.no_grad(), watch.hooked():
        try:
            outputs = _shapes(twin(*given))
        except Exception as error:
            watch.fail(error)
    return Run(
        _shapes(given),
        tuple(watch.calls),
        tuple(watch.unused()),
        outputs,
        bool(watch.calls) and bool(watch.calls[-1].error),
        count(twin),
    )


class _Watch:
    """Notes the calls of all layers of a model, also of those in plain lists."""

    def __init__(self, model: nn.Module) -> None:
        self.calls: list[Call] = []
        self._open: list[tuple[nn.Module, tuple[Shape, ...]]] = []
        self._called: set[nn.Module] = set()
        self._names: dict[nn.Module, str] = {}
        self._name(model, "")

    def _name(self, module: nn.Module, path: str) -> None:
        """Give a name to each module of the tree, down to the layers."""
        if module in self._names:
            return
        self._names[module] = path
        for part in () if is_layer(module) else parts_of(module):
            if isinstance(part.value, nn.Module):
                self._name(part.value, f"{path}.{part.name}" if path else part.name)

    @contextmanager
    def hooked(self) -> Iterator[None]:
        """A block in which every call is noted."""
        handles: list[RemovableHandle] = []
        for module in self._names:
            handles.append(module.register_forward_pre_hook(self._begin, with_kwargs=True))
            handles.append(module.register_forward_hook(self._end, with_kwargs=True))
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def _begin(self, module: nn.Module, args: object, kwargs: object) -> None:
        self._called.add(module)
        self._open.append((module, _shapes([args, kwargs])))

    def _end(self, module: nn.Module, args: object, kwargs: object, output: object) -> None:
        while self._open[-1][0] is not module:  # a call that failed, and the model caught it
            self._open.pop()
        _, taken = self._open.pop()
        if is_layer(module):
            self.calls.append(self._call(module, taken, _shapes(output)))

    def _call(
        self, module: nn.Module, taken: tuple[Shape, ...], given: tuple[Shape, ...], error: str = ""
    ) -> Call:
        size = count(module, recurse=is_layer(module))
        return Call(self._names[module], title_of(module), taken, given, size, error)

    def fail(self, error: Exception) -> None:
        """Note the call that was open when the error came: the innermost one raised it."""
        words = (str(error).strip().splitlines() or [""])[0]
        module, taken = self._open[-1] if self._open else (next(iter(self._names)), ())
        self.calls.append(self._call(module, taken, (), f"{type(error).__name__}: {words}"))

    def unused(self) -> Iterator[tuple[str, str]]:
        """The layers that had no call, by name and title."""
        for module, name in self._names.items():
            if is_layer(module) and module not in self._called:
                yield name, title_of(module)


def is_layer(module: nn.Module) -> bool:
    """Whether a module computes: it comes as one with torch, or has no modules inside.

    What torch brings is not looked into: attention, for example, never calls its own parts.
    """
    homes = {one.__module__ for one in type(module).__mro__ if one is not nn.Module}
    if "torch.nn.modules.container" in homes:
        return False
    if any(home.startswith("torch.nn.modules.") for home in homes):
        return True
    return not any(isinstance(part.value, nn.Module) for part in parts_of(module))


def count(module: nn.Module, *, recurse: bool = True) -> int:
    """The number of parameters; lazy ones have none before their first call."""
    sizes = (p for p in module.parameters(recurse) if not isinstance(p, UninitializedParameter))
    return sum(p.numel() for p in sizes)


def tensors_in(value: object) -> Iterator[torch.Tensor]:
    """The tensors in a value, in lists, tuples and dicts too.

    Args:
        value: Anything; what is no tensor and no container has none.
    """
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from tensors_in(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from tensors_in(one)


def _shapes(value: object) -> tuple[Shape, ...]:
    return tuple(tuple(tensor.shape) for tensor in tensors_in(value))
