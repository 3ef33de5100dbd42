"""The state of objects that have no plain form, as far as it is plain: modules, loaders, …."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils.data import DataLoader, Dataset, Sampler

__all__ = ["state_of"]


def state_of(value: Any) -> tuple[str, dict[str, Any]]:
    """The kind of an object and the part of it that can travel. Never raises.

    >>> state_of(torch.nn.Linear(2, 1))[1]["training"]
    True
    """
    for cls, kind, read in _FORMS:
        if isinstance(value, cls):
            return kind, _guarded(read, value)
    return ("function" if callable(value) else "object"), {}


def _guarded(read: Callable[[Any], dict[str, Any]], value: Any) -> dict[str, Any]:
    # A learner's class may override what is read here; what fails is simply not known.
    try:
        return read(value)
    except Exception:
        return {}


def _module(module: torch.nn.Module) -> dict[str, Any]:
    return {
        "training": module.training,
        "parameters": dict(module.named_parameters()),
        "buffers": dict(module.named_buffers()),
        "modules": {name: type(part).__name__ for name, part in module.named_modules() if name},
    }


def _loader(loader: DataLoader[Any]) -> dict[str, Any]:
    names = ("batch_size", "num_workers", "drop_last", "pin_memory", "timeout", "prefetch_factor")
    about = {name: getattr(loader, name) for name in (*names, "persistent_workers")}
    parts = ("dataset", "sampler", "batch_sampler", "collate_fn")
    return about | {name: type(getattr(loader, name)).__name__ for name in parts}


def _optimizer(optimizer: torch.optim.Optimizer) -> dict[str, Any]:
    groups = [
        {key: value for key, value in group.items() if key != "params"}
        for group in optimizer.param_groups
    ]
    parameters = [list(group["params"]) for group in optimizer.param_groups]
    return {"groups": groups, "parameters": parameters}


def _exception(error: BaseException) -> dict[str, Any]:
    return {"message": str(error)[:4000]}


def _nothing(value: Any) -> dict[str, Any]:
    return {}


_FORMS: list[tuple[Any, str, Callable[[Any], dict[str, Any]]]] = [
    (torch.nn.Module, "module", _module),
    (torch.Tensor, "tensor subclass", _nothing),
    (DataLoader, "loader", _loader),
    (Dataset, "dataset", _nothing),
    (Sampler, "sampler", _nothing),
    (torch.optim.Optimizer, "optimizer", _optimizer),
    (BaseException, "exception", _exception),
    (type, "class", _nothing),
    (types.FunctionType | types.BuiltinFunctionType | types.MethodType, "function", _nothing),
    (Iterator, "iterator", _nothing),
]
