"""In what a call of an answer differs from the same call of a reference."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from course.error_names import error_name
from course.inspection.facts import TensorFacts, facts, memory_number
from course.inspection.tree_leaves import tree_leaves
from course.serialization.received import SeenTensor, Value
from course.testing.compare import difference
from course.testing.inputs.cases import Case
from course.testing.observe import is_stub
from course.testing.tolerance import ANY_KIND, Tolerance

__all__ = ["ASPECTS", "Call", "Difference", "Expected", "first_difference", "nearly_right"]


@dataclass(frozen=True)
class Call:
    """One call of the answer, as it came back, in plain form: the `index`-th of many.

    `result`, `same`, `error` and `grads` are what `run_cases` has of it. `cases` are the columns
    that it was given, as they are afterwards.
    """

    result: Any
    same: Any
    error: dict[str, Any] | None
    grads: Any
    cases: Value
    index: int

    @property
    def args_after(self) -> Value:
        """Its arguments afterwards."""
        return self.cases["args"][self.index]

    @property
    def kwargs_after(self) -> Value:
        """Those that it was given by name, afterwards; there where a case has any."""
        return self.cases["kwargs"][self.index]

    @property
    def attempted(self) -> bool:
        """Whether it did anything but raise the exercise's own `NotImplementedError()`."""
        return self.error is None or not is_stub(self.error["type"], self.error["message"])


@dataclass(frozen=True)
class Expected:
    """One call of the reference, as `run_cases` has it, and its arguments afterwards."""

    result: Any
    same: int | None
    error: dict[str, Any] | None
    grads: Any
    args: Sequence[Any]
    kwargs: dict[str, Any]


@dataclass(frozen=True)
class Difference:
    """What differs for one case: `aspect` gives no value away, `words` may."""

    case: Case
    aspect: str
    words: str = ""


def first_difference(
    case: Case, call: Call, expected: Expected, aspects: Sequence[str], tolerance: Tolerance
) -> Difference | None:
    """The first of the `aspects` in which a call is not what the reference gives."""
    ended = _ends(call, expected)
    if ended is not None:
        return Difference(case, ended)
    if expected.error is not None:
        return None
    if tolerance.rounding and tolerance.precision is None:
        tolerance = replace(tolerance, precision=_coarsest(case))
    for aspect in aspects:
        words = ASPECTS[aspect](call, expected, tolerance)
        if words is not None:
            return Difference(case, _AS_TOLD.get(aspect, aspect), words)
    return None


def nearly_right(call: Call, expected: Expected, aspects: Sequence[str]) -> bool:
    """Whether the contents are those of the reference but for the last digits and their kind.

    How they lie in memory, and what hangs on them, is another matter.
    """
    contents = [one for one in aspects if one in ("values", "arguments")]
    if not contents or _ends(call, expected) is not None:
        return False
    return all(ASPECTS[one](call, expected, _NEARLY) is None for one in contents)


_NEARLY = Tolerance(rtol=0.01, atol=1e-6, allow=ANY_KIND.allow)


def _coarsest(case: Case) -> torch.dtype | None:
    """The floating dtype with the fewest digits among a case's tensors."""
    given = (one for one in tree_leaves([case.args, case.kwargs]) if isinstance(one, torch.Tensor))
    kinds = {one.dtype for one in given if one.is_floating_point()}
    return max(kinds, key=lambda dtype: torch.finfo(dtype).eps, default=None)


def _ends(call: Call, expected: Expected) -> str | None:
    """How the two differ in the exception that ends them, without its message."""
    mine, wanted = call.error, expected.error
    # A class that a hidden line makes is not named.
    told = "" if wanted is None or error_name(wanted["type"]) != wanted["type"] else wanted["type"]
    if mine is None and wanted is None:
        return None
    if mine is None:
        return f"no {told} is raised" if told else "it ends without the exception that is expected"
    name = error_name(str(mine["type"]))
    if wanted is None:
        return f"it ends with {name}"
    right = wanted["bases"][0] in mine["bases"]
    return None if right else f"it ends with {name} instead of {told or 'the one that is expected'}"


def _values(call: Call, expected: Expected, tolerance: Tolerance) -> str | None:
    return difference(call.result, expected.result, tolerance)


def _arguments(call: Call, expected: Expected, tolerance: Tolerance) -> str | None:
    found = difference(call.args_after, list(expected.args), tolerance)
    if found is None and expected.kwargs:
        found = difference(call.kwargs_after, expected.kwargs, tolerance)
    return found


def _gradients(call: Call, expected: Expected, tolerance: Tolerance) -> str | None:
    return difference(call.grads, expected.grads, tolerance)


def _graph(call: Call, expected: Expected, tolerance: Tolerance) -> str | None:
    for mine, wanted in _tensors(call, expected):
        if wanted.requires_grad and not mine.facts.requires_grad:
            return "the result does not require grad"
    return None


def _no_graph(call: Call, expected: Expected, tolerance: Tolerance) -> str | None:
    for mine, wanted in _tensors(call, expected):
        if mine.facts.requires_grad and not wanted.requires_grad:
            return "the result requires grad"
    return _graph(call, expected, tolerance)


def _layout(call: Call, expected: Expected, tolerance: Tolerance) -> str | None:
    for mine, wanted in _tensors(call, expected):
        seen = facts(wanted)
        if len(mine.facts.stride) != len(seen.stride):  # one of the two is sparse
            return f"strides {mine.facts.stride} instead of {seen.stride}"
        # The stride of a dimension of size 1, and of a tensor without elements, is never used.
        used = [size > 1 and 0 not in seen.shape for size in seen.shape]
        pairs = zip(mine.facts.stride, seen.stride, used, strict=True)
        if any(one != other for one, other, counts in pairs if counts):
            return f"strides {mine.facts.stride} instead of {seen.stride}"
    return None


def _offset(call: Call, expected: Expected, tolerance: Tolerance) -> str | None:
    for mine, wanted in _tensors(call, expected):
        if mine.facts.storage_offset != wanted.storage_offset() and wanted.numel():
            return f"it starts at {mine.facts.storage_offset}, not {wanted.storage_offset()}"
    return None


def _memory(call: Call, expected: Expected, tolerance: Tolerance) -> str | None:
    """Which arguments each tensor of the result shares its storage with."""
    given = [_storages(one, _number_seen) for one in call.args_after]
    wanted_given = [_storages(one, _number_live) for one in expected.args]
    for key, one in expected.kwargs.items():
        given.append(_storages(call.kwargs_after[key], _number_seen))
        wanted_given.append(_storages(one, _number_live))
    for mine, wanted in _tensors(call, expected):
        shared = [_memory_seen(mine.facts) in those for those in given]
        right = [memory_number(wanted) in those for those in wanted_given]
        if shared != right and wanted.untyped_storage().nbytes():
            return "it shares a storage" if any(shared) else "it has a storage of its own"
    return None


def _identity(call: Call, expected: Expected, tolerance: Tolerance) -> str | None:
    mine, wanted = call.same, expected.same
    if mine == wanted:
        return None
    return "it is not the argument itself" if wanted is not None else "it is the argument itself"


ASPECTS: dict[str, Callable[[Call, Expected, Tolerance], str | None]] = {
    "values": _values,
    "graph": _graph,
    "exact graph": _no_graph,
    "layout": _layout,
    "offset": _offset,
    "memory": _memory,
    "identity": _identity,
    "arguments": _arguments,
    "gradients": _gradients,
}
_AS_TOLD = {
    "values": "another result",
    "graph": "the graph is cut",
    "exact graph": "requires_grad",
    "layout": "the strides",
    "offset": "the storage offset",
    "memory": "shared or copied",
    "identity": "the tensor itself, or another one",
    "arguments": "the arguments afterwards",
    "gradients": "the gradients",
}


def _tensors(call: Call, expected: Expected) -> Iterator[tuple[SeenTensor, torch.Tensor]]:
    """The tensors that stand at the same places of both results."""
    yield from _pairs(call.result, expected.result)


def _pairs(mine: Any, wanted: Any) -> Iterator[tuple[SeenTensor, torch.Tensor]]:
    if isinstance(wanted, torch.Tensor):
        if isinstance(mine, SeenTensor) and len(mine.facts.shape) == wanted.dim():
            yield mine, wanted
    elif isinstance(wanted, list | tuple) and isinstance(mine, list | tuple):
        for one, other in zip(mine, wanted, strict=False):
            yield from _pairs(one, other)
    elif isinstance(wanted, dict) and isinstance(mine, dict):
        for key in wanted.keys() & mine.keys():
            yield from _pairs(mine[key], wanted[key])


def _storages(value: Any, number: Callable[[Any], int | None]) -> set[int]:
    value = value.node if isinstance(value, Value) else value
    found = number(value)
    if found is not None:
        return {found}
    inner = value.values() if isinstance(value, dict) else value
    if not isinstance(value, list | tuple | dict):
        return set()
    return set[int]().union(*(_storages(one, number) for one in inner))


def _number_seen(value: Any) -> int | None:
    return _memory_seen(value.facts) if isinstance(value, SeenTensor) else None


def _number_live(value: Any) -> int | None:
    return memory_number(value) if isinstance(value, torch.Tensor) else None


def _memory_seen(seen: TensorFacts) -> int:
    return seen.memory or seen.storage
