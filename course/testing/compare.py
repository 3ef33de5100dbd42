"""How two plain forms differ, in words; None when they do not."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from course.inspection.facts import TensorFacts, facts
from course.serialization.received import Absent, Handle, SeenTensor, Value, as_node, describe
from course.testing.tolerance import EXACT, Tolerance

if TYPE_CHECKING:
    from course.testing.observe import Observation

__all__ = [
    "SideEffect",
    "brief",
    "difference",
    "either",
    "facts_of",
    "is_other_kind",
    "is_true",
    "mutation",
    "says",
    "says_many",
    "side_effects",
    "where_of",
]


def difference(actual: Any, expected: Any, tolerance: Tolerance = EXACT) -> str | None:
    """The first difference between two values, or None.

    Tensors must agree in shape, dtype and every element (nan equals nan), up to the tolerance. An
    int is an int, a bool a bool, a list a list and a tuple a tuple; a `torch.Size` and a named
    tuple are tuples, a dict of another class is a dict, an int will do for a float, and both for
    a complex number. The tolerance says what else may stand for each other.
    """
    actual, expected = _tensor_of(as_node(actual)), _tensor_of(as_node(expected))
    if isinstance(actual, Absent):
        return actual.reason
    if isinstance(expected, torch.Tensor):
        return _tensor_difference(actual, expected, tolerance)
    if isinstance(expected, np.ndarray):
        return _array_difference(actual, expected, tolerance)
    if isinstance(expected, list | tuple):
        return _sequence_difference(actual, expected, tolerance)
    if isinstance(expected, dict):
        return _dict_difference(actual, expected, tolerance)
    if isinstance(expected, set | frozenset):
        return _set_difference(actual, expected)
    return _scalar_difference(actual, expected, tolerance)


def is_other_kind(actual: Value, expected: Any) -> bool:
    """Whether an answer gave something of quite another kind: a number for a list, say.

    What a probe has seen besides may be of any kind, and None says that something is not there.
    """
    if not actual.where.startswith("the result of `"):
        return False
    kinds = [_kinds_of(_tensor_of(as_node(one))) for one in (actual, expected)]
    return not kinds[0] & kinds[1]


def _kinds_of(node: Any) -> frozenset[str]:
    """What a value may be taken for: a tensor for a number or for a list of them."""
    match node:
        case Absent() | None:
            return _ANY
        case torch.Tensor():
            return frozenset({"number", "sequence", "tensor"})
        case bool() | int() | float() | complex():
            return frozenset({"number"})
        case str():
            return frozenset({"text"})
        case list() | tuple() | set() | frozenset():
            return frozenset({"sequence"})
        case dict():
            return frozenset({"dict"})
    return frozenset({"object"})


_ANY = frozenset({"number", "sequence", "tensor", "text", "dict", "object"})


def mutation(seen: Observation, index: int | str | None) -> str | None:
    """Which argument changed, or None."""
    if index is None and seen.untouched:
        return None
    if index is None:
        keys: list[int | str] = [*range(len(seen.args)), *(seen.kwargs.node or {})]
    else:
        keys = [index]
    for key in keys:
        before, after = (
            (seen.args, seen.args_after)
            if isinstance(key, int)
            else (
                seen.kwargs,
                seen.kwargs_after,
            )
        )
        if _changed(before[key], after[key]):
            return f"`{seen.name}` changed its argument {key!r} in place"
    return None


def _changed(before: Value, after: Value) -> bool:
    one, other = before.facts, after.facts
    if isinstance(one, TensorFacts) and isinstance(other, TensorFacts):
        layouts = [
            (f.shape, f.stride, f.storage, f.storage_offset, f.version) for f in (one, other)
        ]
        return layouts[0] != layouts[1] or difference(after, before) is not None
    return difference(after, before) is not None


@dataclass(frozen=True)
class SideEffect:
    """What a call changed beside its result: `kind` is "arguments", or a mode's name."""

    kind: str
    words: str


def side_effects(
    seen: Observation,
    may_change: Collection[str | int],
    each: bool,
    took_gradients: bool,
    told: Collection[str] | None = None,
) -> list[SideEffect]:
    """What a call did not leave as it was, without what it `may_change`.

    `may_change` holds positions and names of parameters, and the names of modes. A parameter that
    the learner has called otherwise forgives one argument that changed. With `each` the call was
    made for each of many cases; `took_gradients` says that the grader itself filled `.grad`. Of
    arguments by name only those `told` are named, None for all: a hidden call may name others.
    """
    found = mode_changes(seen, may_change, seen.name)
    if seen.error is not None or seen.untouched:
        return found
    runs = [(seen.args.node, seen.kwargs.node, seen.args_after.node, seen.kwargs_after.node)]
    if each:
        runs = _runs(seen.args[0].node, seen.args_after[0].node)
    for run in runs:
        words = _argument_changed(seen.parameters, may_change, run, took_gradients, told)
        if words is not None:
            return [*found, SideEffect("arguments", f"`{seen.name}` changed {words}")]
    return found


def _runs(before: dict[str, Any], after: dict[str, Any]) -> list[tuple[Any, Any, Any, Any]]:
    """The arguments of each of many calls, before it and after it."""
    nothing: list[dict[str, Any]] = [{}] * len(before["args"])
    named = before["kwargs"] or nothing, after["kwargs"] or nothing
    return [*zip(before["args"], named[0], after["args"], named[1], strict=True)]


def mode_changes(
    seen: Observation, may_change: Collection[str | int], name: str
) -> list[SideEffect]:
    """The modes and generators that calls of the function `name` did not leave as they were."""
    return [
        SideEffect(one, f"`{name}` did not leave the {one} as it was")
        for one in dict.fromkeys(seen.changed)
        if one not in may_change
    ]


def _argument_changed(
    parameters: Sequence[str],
    may_change: Collection[str | int],
    run: tuple[Any, Any, Any, Any],
    took_gradients: bool,
    told: Collection[str] | None,
) -> str | None:
    args, kwargs, args_after, kwargs_after = run
    names = [*parameters[: len(args)], *range(len(parameters), len(args))]
    called = {*names, *kwargs, *_POSITIONS, "hooks"}
    # The other modes have names of two words and more; a parameter's name is a word of Python's.
    named = [one for one in may_change if isinstance(one, str) and one.isidentifier()]
    forgiven = sum(one not in called for one in named)
    pairs = [*zip(args, args_after, strict=True)]
    pairs += [(value, kwargs_after[key]) for key, value in kwargs.items()]
    for position, ((before, after), name) in enumerate(zip(pairs, [*names, *kwargs], strict=True)):
        if position in may_change or name in may_change:
            continue
        words = _change(before, after, took_gradients)
        if words is not None:
            forgiven -= 1
            if forgiven < 0:
                return f"{_shown(name, told)}: {words}"
    return None


def _shown(name: str | int, told: Collection[str] | None) -> str:
    if isinstance(name, int):
        return f"argument {name}"
    return f"its argument `{name}`" if told is None or name in told else "one of its arguments"


_POSITIONS = range(64)


def _change(before: Any, after: Any, took_gradients: bool) -> str | None:
    """What changed of an argument, in words without values."""
    if isinstance(before, SeenTensor) and isinstance(after, SeenTensor):
        return _tensor_change(before, after, took_gradients)
    if isinstance(before, Handle | Absent):
        return None
    if type(before) is not type(after):
        return "it is of another class"
    if isinstance(before, list | tuple):
        if len(before) != len(after):
            return "its length"
        changes = (_change(b, a, took_gradients) for b, a in zip(before, after, strict=True))
        return next((words for words in changes if words is not None), None)
    if isinstance(before, dict):
        if list(before) != list(after):
            return "its keys"
        changes = (_change(value, after[key], took_gradients) for key, value in before.items())
        return next((words for words in changes if words is not None), None)
    return None if difference(after, before) is None else "its value"


def _tensor_change(before: SeenTensor, after: SeenTensor, took_gradients: bool) -> str | None:
    one, other = before.facts, after.facts
    if (one.dtype, one.storage) != (other.dtype, other.storage):
        return "it has another storage or dtype"
    if (one.shape, one.stride, one.storage_offset) != (
        *(other.shape, other.stride, other.storage_offset),
    ):
        return "its shape or strides"
    if (one.requires_grad, one.is_leaf, one.grad_fn) != (
        *(other.requires_grad, other.is_leaf, other.grad_fn),
    ):
        return "its place in the graph"
    if before.tensor is not None and after.tensor is not None and not _same(before, after):
        return "its elements"
    if one.version != other.version:
        return "it was written to in place"
    grads_differ = (one.grad is None) != (other.grad is None) or (
        one.grad is not None and other.grad is not None and one.grad.version != other.grad.version
    )
    return "its `.grad`" if grads_differ and not took_gradients else None


def _same(before: SeenTensor, after: SeenTensor) -> bool:
    one, other = before.tensor, after.tensor
    assert one is not None and other is not None
    return torch.equal(one, other) or difference(other, one) is None


def _tensor_of(node: Any) -> Any:
    if isinstance(node, SeenTensor):
        reason = "the tensor was too large to carry, or has no elements to read"
        return Absent(reason) if node.tensor is None else node.tensor
    return node


def _tensor_difference(actual: Any, expected: torch.Tensor, tolerance: Tolerance) -> str | None:
    if not isinstance(actual, torch.Tensor):
        return f"it is {describe(actual)}, not a tensor"
    if actual.shape != expected.shape:
        return f"its shape is {tuple(actual.shape)}, not {tuple(expected.shape)}"
    if actual.dtype != expected.dtype:
        return f"its dtype is {_plain(actual.dtype)}, not {_plain(expected.dtype)}"
    actual, expected = actual.detach().cpu(), expected.detach().cpu()
    dtype = expected.dtype
    actual, expected = _computable(actual), _computable(expected)
    if torch.equal(actual, expected):  # nearly always, and a tenth of the time
        return None
    rtol, atol = tolerance.of(dtype, _largest(expected, expected[actual != expected]))
    close = _are_close(actual, expected, rtol, atol)
    wrong = int((~close).sum())
    if not wrong:
        return None
    where = tuple((~close).nonzero()[0].tolist())
    return (
        f"{wrong} of {expected.numel()} elements differ, first at index {where}: "
        f"{actual[where].item()} instead of {expected[where].item()}"
    )


def _computable(tensor: torch.Tensor) -> torch.Tensor:
    """The same elements in a dtype that torch can compare, where it cannot in their own."""
    wider = _WIDER.get(tensor.dtype)
    return tensor if wider is None else tensor.to(wider)


_FLOAT8 = [name for name in dir(torch) if name.startswith("float8_")]
_WIDER = {torch.complex32: torch.complex64}
_WIDER |= {getattr(torch, name): torch.float32 for name in _FLOAT8}


def _are_close(
    actual: torch.Tensor, expected: torch.Tensor, rtol: float, atol: float
) -> torch.Tensor:
    """Which elements are as near to what is expected as allowed; nan is near to nan."""
    if expected.is_complex():  # where one part is nan, torch would ask nothing of the other
        one, other = map(torch.view_as_real, (actual.resolve_conj(), expected.resolve_conj()))
        parts = ((one == other) | (one.isnan() & other.isnan())).all(-1)
        return parts | torch.isclose(actual, expected, rtol=rtol, atol=atol)
    if expected.is_floating_point() or not (rtol or atol):
        return torch.isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=True)
    # Of integers torch would take the difference as float32: here exactly, where they differ.
    close = actual == expected
    pairs = zip(actual[~close].tolist(), expected[~close].tolist(), strict=True)
    close[~close] = torch.tensor([abs(a - e) <= atol + rtol * abs(e) for a, e in pairs])
    return close


def _largest(expected: torch.Tensor, differing: torch.Tensor) -> float:
    """The largest absolute value among the finite elements; 0 where there is none.

    A mask such as -1e9 counts as none: beside it any other number would be near.
    """
    if not (expected.is_floating_point() or expected.is_complex()):
        return 0.0
    largest, of_those = _most(expected.abs()), _most(differing.abs())
    is_mask = largest >= _MASK and largest >= 1000 * of_those
    return max(1.0, of_those) if is_mask else largest


_MASK = 10_000


def _most(sizes: torch.Tensor) -> float:
    return float(sizes.where(sizes.isfinite(), 0).max()) if sizes.numel() else 0.0


def _array_difference(actual: Any, expected: np.ndarray, tolerance: Tolerance) -> str | None:
    if not isinstance(actual, np.ndarray):
        return f"it is {describe(actual)}, not a NumPy array"
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        return f"it is {actual.dtype} {actual.shape}, not {expected.dtype} {expected.shape}"
    one, other = (torch.as_tensor(np.ascontiguousarray(x)) for x in (actual, expected))
    return None if _tensor_difference(one, other, tolerance) is None else "some elements differ"


def _sequence_difference(actual: Any, expected: Any, tolerance: Tolerance) -> str | None:
    kind = tuple if isinstance(expected, tuple) else list
    if not isinstance(actual, list | tuple if tolerance.any_sequence else kind):
        return f"it is {describe(actual)}, not a {kind.__name__}"
    if len(actual) != len(expected):
        items = "item" if len(actual) == 1 else "items"
        return f"it has {len(actual)} {items}, not {len(expected)}"
    for index, (one, other) in enumerate(zip(actual, expected, strict=True)):
        found = difference(one, other, tolerance)
        if found is not None:
            return f"item {index}{_in_it(found)}"
    return None


def _in_it(found: str) -> str:
    """What differs inside: "item 0, in it item 1: …"."""
    return f", in it {found}" if found.startswith("item ") else f": {found}"


def _dict_difference(actual: Any, expected: Any, tolerance: Tolerance) -> str | None:
    if not isinstance(actual, dict):
        return f"it is {describe(actual)}, not a dict"
    # Of keys that are equal, such as 1, 1.0 and True, only that of the same class is the same.
    mine, wanted = ({_known(key): key for key in one} for one in (actual, expected))
    missing = [key for known, key in wanted.items() if known not in mine]
    extra = [key for known, key in mine.items() if known not in wanted]
    if missing or extra:
        return f"keys missing: {missing[:5]}, keys too many: {[str(k)[:40] for k in extra[:5]]}"
    for key, value in expected.items():
        found = difference(actual[key], value, tolerance)
        if found is not None:
            return f"at key {key!r}: {found}"
    return None


def _set_difference(actual: Any, expected: Any) -> str | None:
    same = type(actual) is type(expected) and {*map(_known, actual)} == {*map(_known, expected)}
    return None if same else f"it is {describe(actual)}, not {describe(expected)}"


def _known(key: Any) -> tuple[Any, ...]:
    """A key or an item of a set, with the classes of all that it is made of."""
    if isinstance(key, tuple):
        return tuple, *map(_known, key)
    if isinstance(key, frozenset):
        return frozenset, frozenset(map(_known, key))
    return type(key), key


def _scalar_difference(actual: Any, expected: Any, tolerance: Tolerance) -> str | None:
    if isinstance(actual, Handle):
        return f"it is {describe(actual)}, not {describe(expected)}"
    if isinstance(expected, bool) or isinstance(actual, bool):
        same = actual is expected
    elif isinstance(expected, int | float | complex):
        kinds = _kinds_for(expected, tolerance.any_number)
        same = isinstance(actual, kinds) and _near(actual, expected, tolerance)
    elif isinstance(expected, slice) and isinstance(actual, slice):
        same = difference(_ends(actual), _ends(expected)) is None
    else:
        same = type(actual) is type(expected) and actual == expected
    return None if same else f"it is {describe(actual)}, not {describe(expected)}"


def _ends(part: slice) -> tuple[Any, Any, Any]:
    return part.start, part.stop, part.step


def _kinds_for(expected: complex, any_number: bool) -> tuple[type, ...]:
    """The classes that a number may be of: to Python's type checkers each int is a float, too.

    And each of both is a complex number.
    """
    if isinstance(expected, int) and not any_number:
        return (int,)
    return (int, float, complex) if isinstance(expected, complex) else (int, float)


def _near(actual: Any, expected: Any, tolerance: Tolerance) -> bool:
    if actual == expected:
        return True
    if actual != actual and expected != expected:  # of complex numbers either part may be nan
        parts = zip(_parts(actual), _parts(expected), strict=True)
        return all(one == other or (one != one and other != other) for one, other in parts)
    if not _is_measurable(expected):  # a share of it is infinite, and any number within that
        return False
    whole = isinstance(expected, int) and isinstance(actual, int)
    dtype = torch.int64 if whole else tolerance.precision or torch.float64
    rtol, atol = tolerance.of(dtype, abs(expected))
    if not (rtol or atol):  # a difference of large numbers would be rounded, to 0 perhaps
        return False
    try:
        return bool(abs(actual - expected) <= atol + rtol * abs(expected))
    except OverflowError:  # a difference too large for a float
        return False


def _is_measurable(number: complex) -> bool:
    """Whether a float can say how large it is."""
    try:
        return math.isfinite(abs(number))
    except OverflowError:
        return False


def _parts(number: complex) -> tuple[float, float]:
    return number.real, number.imag


def _plain(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def brief(subject: Any) -> str:
    """A value in a few words or numbers, for the actual and expected columns of a table."""
    node = as_node(subject)
    if isinstance(node, SeenTensor):
        return describe(node) if node.tensor is None else brief(node.tensor)
    if isinstance(node, torch.Tensor):
        kind = f"{_plain(node.dtype)} {tuple(node.shape)}"
        return f"{kind} {node.tolist()}" if _is_short(node) else kind
    text = _written(node)
    return text if len(text) <= 200 else text[:197] + "..."


def _is_short(tensor: torch.Tensor) -> bool:
    """Whether it is soon written; without an element, it may still have any number of rows."""
    return math.prod(max(1, size) for size in tensor.shape) <= 16


_MOST_ITEMS = 40  # of a container; more would not fit into the column


def _written(subject: Any) -> str:
    """A value as Python writes it, its tensors by their elements wherever they stand."""
    node = as_node(subject)
    node = node.tensor if isinstance(node, SeenTensor) and node.tensor is not None else node
    match node:
        case torch.Tensor() if _is_short(node):
            return f"tensor({node.tolist()})"
        case torch.Tensor() | SeenTensor() | Absent() | Handle():
            return describe(node)
        case dict():
            pairs = [f"{_written(k)}: {_written(v)}" for k, v in islice(node.items(), _MOST_ITEMS)]
            return f"{{{', '.join(pairs)}}}"
        case list() | tuple() if type(node) in (list, tuple):
            items = ", ".join(map(_written, node[:_MOST_ITEMS]))
            comma = "," if len(node) == 1 else ""
            return f"[{items}]" if isinstance(node, list) else f"({items}{comma})"
    return repr(node)


def is_true(holds: Any) -> bool:
    """Whether a condition holds: for a tensor or an array, at every element, of which one is."""
    if isinstance(holds, Value):
        holds = holds.plain
    if isinstance(holds, torch.Tensor):
        return holds.numel() > 0 and bool(holds.all())
    if isinstance(holds, np.ndarray):
        return holds.size > 0 and bool(holds.all())
    return bool(holds)


def facts_of(subject: Any) -> TensorFacts | Absent:
    """The facts of the tensor that a check is about, or why there are none."""
    if isinstance(subject, Value):
        return subject.facts
    if isinstance(subject, torch.Tensor):
        return facts(subject)
    node = as_node(subject)
    found = getattr(node, "facts", node)
    if isinstance(found, TensorFacts):
        return found
    return Absent(f"{where_of(subject)} is {describe(node)}, not a tensor")


def where_of(subject: Any) -> str:
    """How a message names what a check is about."""
    return subject.where if isinstance(subject, Value) else "the value"


def either(names: Iterable[str]) -> str:
    """The names, one or another of them."""
    return " or ".join(f"`{name}`" for name in names)


def says(message: str, words: str) -> bool:
    """Whether a message says these words, case aside: "0 and 1" is not in "0 and 12"."""
    return re.search(_whole(words, re.escape(words)), message, re.IGNORECASE) is not None


def says_many(message: str, words: str) -> bool:
    """Whether a message says these words of so many numbers that the right one may be a guess.

    A right one may say them twice, "dimension 0 and dimension 1", and may give a shape and strides
    beside a number that is wanted alone. Words without a number are never many.
    """
    if not _NUMBER.search(words):
        return False
    pattern = _NUMBER.pattern.join(map(re.escape, _NUMBER.split(words)))
    # In a lookahead, so that of "0 and 1 and 2" both pairs are found.
    said = re.findall(f"(?=({_whole(words, pattern)}))", message, re.IGNORECASE)
    return len({one.lower() for one in said}) > (3 if re.search("[^\\W\\d_]", words) else 8)


_NUMBER = re.compile(r"\d+")


def _whole(words: str, pattern: str) -> str:
    """The pattern; a number at an end of the words is taken whole: not 2 of -2, 12 or 2.5."""
    before = r"(?<!\d)(?<!\d\.)(?<!(?<!\w)-)" if words[:1].isdigit() else ""
    after = r"(?!\d|\.\d)" if words[-1:].isdigit() else ""
    return before + pattern + after
