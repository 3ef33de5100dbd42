"""What an operator's schema says that matters here, worked out once for each operator."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch._ops import OpOverload

from course.gpu.simulator._backend import METADATA_ONLY

# CUDA compares devices in the kernels themselves for these, and takes a 0-dim CPU tensor as a
# number (`masked_fill`, `fill_`, `index_put_` have such an argument by name).
_TAKES_CPU_NUMBERS = frozenset({"masked_fill", "masked_fill_", "fill", "fill_", "where"})
_INDEXES = frozenset({"index", "index_put", "index_put_", "_index_put_impl_", "_unsafe_index"})

_WAITS = (torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape)


@dataclass(frozen=True)
class Plan:
    """How to run one operator.

    `written` maps a position (or a name, for keyword arguments) to the alias set it writes to;
    `returned` names, for each result, the argument that it is, or None for a new tensor.
    """

    operator: OpOverload
    name: str
    overload: str
    arguments: tuple[str, ...]
    written: tuple[int | str, ...]
    returned: tuple[int | str | None, ...]
    needs_tensors: frozenset[int | str]  # where a number must be made a tensor first
    generator: int | str | None
    draws: bool  # random numbers from the default generator, without an argument for another one
    waits: bool  # the result depends on elements: the host must wait for the device
    pointwise: bool
    indexes: bool
    only_metadata: bool

    @cached_property
    def may_be_huge(self) -> bool:
        """Whether a new result can be much larger than the arguments: new or broadcast tensors.

        (Operators that get their results as arguments had them made by another one.)
        """
        return not self.written and (self.pointwise or "device" in self.arguments)

    @cached_property
    def is_random(self) -> bool:
        """Whether it draws random numbers, from a generator among its arguments or without."""
        return self.draws or self.generator is not None

    @property
    def takes_cpu_numbers(self) -> bool:
        """Whether a 0-dim CPU tensor counts as a number."""
        return self.pointwise or self.name in _TAKES_CPU_NUMBERS


# By identity: to hash an operator, torch runs Python. A plan keeps its operator, so no other one
# can come to have its identity.
_plans: dict[int, Plan] = {}


def plan_of(operator: OpOverload) -> Plan:
    """Return the plan of an operator."""
    plan = _plans.get(id(operator))
    if plan is None:
        plan = _plans[id(operator)] = _plan(operator)
    return plan


def _plan(operator: OpOverload) -> Plan:
    schema, tags = operator._schema, operator.tags
    places: dict[str, int | str] = {}
    sets: dict[str, int | str] = {}
    for position, argument in enumerate(schema.arguments):
        place = argument.name if argument.kwarg_only else position
        places[argument.name] = place
        if argument.alias_info is not None and argument.alias_info.is_write:
            sets.update(dict.fromkeys(argument.alias_info.after_set, place))
    name = operator._opname
    return Plan(
        operator=operator,
        name=name,
        overload=operator._overloadname,
        arguments=tuple(places),
        written=tuple(sets.values()),
        returned=tuple(_source(result, sets) for result in schema.returns),
        needs_tensors=_tensor_places(operator),
        generator=places.get("generator"),
        draws=torch.Tag.nondeterministic_seeded in tags and "generator" not in places,
        waits=any(tag in tags for tag in _WAITS) or name == "_local_scalar_dense",
        pointwise=torch.Tag.pointwise in tags,
        indexes=name in _INDEXES,
        only_metadata=operator in METADATA_ONLY,
    )


def _tensor_places(operator: OpOverload) -> frozenset[int | str]:
    """Return where the operator takes a tensor and nothing else.

    torch hands a Python kernel the number `2` where a C++ kernel gets a 0-dim tensor for it. Back
    into torch, only some operators take a number there.
    """
    if torch._C._should_allow_numbers_as_tensors(operator._schema.name.split("::")[-1]):
        return frozenset()
    return frozenset(
        argument.name if argument.kwarg_only else position
        for position, argument in enumerate(operator._schema.arguments)
        if isinstance(argument.type, torch.TensorType)
    )


def _source(result: Any, sets: dict[str, int | str]) -> int | str | None:
    if result.alias_info is None or not result.alias_info.is_write:
        return None
    return next((sets[name] for name in result.alias_info.after_set if name in sets), None)
