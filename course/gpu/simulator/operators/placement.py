"""Where the arguments of an operator live, and CUDA's refusal when they do not live together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch

from course.gpu.simulator import error_messages
from course.gpu.simulator.devices import NAME
from course.gpu.simulator.operators.schemas import Plan

_SEVERAL = (list, tuple)


def common_device(plan: Plan, args: Sequence[Any], kwargs: dict[str, Any]) -> int | None:
    """Return the index of the device that all tensors share; None for the current device.

    Raises RuntimeError in CUDA's words when they are on different devices.
    """
    index = _plainly_shared((*args, *kwargs.values()))
    return index if index >= 0 else _agreed(plan, args, kwargs)


def _plainly_shared(values: Sequence[Any]) -> int:
    """Return the one index that all tensors have, as nearly always; below 0 where it is not so."""
    shared = -1
    for value in values:
        if isinstance(value, torch.Tensor):
            index = value.get_device()  # -1 on the host
            if index < 0 or (index != shared and shared >= 0):
                return -1
            shared = index
        elif isinstance(value, _SEVERAL):
            return -1
    return shared


def _agreed(plan: Plan, args: Sequence[Any], kwargs: dict[str, Any]) -> int | None:
    found: torch.device | None = None
    odd: tuple[str | int, torch.device] | None = None
    for place, tensor in _tensors(args, kwargs):
        device = tensor.device
        if device.type != NAME and _may_be_elsewhere(plan, place, tensor):
            continue
        if found is None:
            found = device
        elif device != found:
            odd = odd or (place, device)
    if found is not None and odd is not None:
        raise RuntimeError(_refusal(plan, found, *odd, _name_of(plan, odd[0])))
    if found is not None:
        return found.index
    requested = kwargs.get("device")
    return requested.index if isinstance(requested, torch.device) else None


def _tensors(
    args: Sequence[Any], kwargs: dict[str, Any]
) -> Iterator[tuple[str | int, torch.Tensor]]:
    places: list[tuple[str | int, Any]] = [*enumerate(args), *kwargs.items()]
    for place, value in places:
        if isinstance(value, torch.Tensor):
            yield place, value
        elif isinstance(value, list | tuple):
            yield from ((place, item) for item in value if isinstance(item, torch.Tensor))


def _may_be_elsewhere(plan: Plan, place: str | int, tensor: torch.Tensor) -> bool:
    if plan.indexes and place == 1:
        return True
    return tensor.dim() == 0 and plan.takes_cpu_numbers


def _refusal(
    plan: Plan, common: torch.device, place: str | int, odd: torch.device, name: str
) -> str:
    if plan.indexes and place == 1:
        return error_messages.index_elsewhere(common)
    if common.type != NAME:  # CUDA takes the first GPU for the common device
        common, odd, name = odd, common, plan.arguments[0]
    if plan.pointwise:
        return error_messages.two_devices(common, odd)
    return error_messages.other_device(name, odd, common, f"{plan.name}.{plan.overload}")


def _name_of(plan: Plan, place: str | int) -> str:
    return place if isinstance(place, str) else plan.arguments[place]
