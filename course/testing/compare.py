"""How two plain forms differ, in words; None when they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from course.inspection.facts import TensorFacts
from course.serialization.received import Absent, Handle, SeenTensor, Value, as_node, describe

if TYPE_CHECKING:
    from course.testing.observe import Observation

__all__ = ["brief", "difference", "mutation"]


def difference(actual: Any, expected: Any, *, rtol: float = 0.0, atol: float = 0.0) -> str | None:
    """The first difference between two values, or None.

    Tensors must agree in shape, dtype and every element (nan equals nan); with `rtol` or
    `atol`, up to that tolerance. A list and a tuple of the same items are equal; True is not 1.
    """
    actual, expected = _tensor_of(as_node(actual)), _tensor_of(as_node(expected))
    if isinstance(actual, Absent):
        return actual.reason
    if isinstance(expected, torch.Tensor):
        return _tensor_difference(actual, expected, rtol, atol)
    if isinstance(expected, np.ndarray):
        return _array_difference(actual, expected)
    if isinstance(expected, list | tuple):
        return _sequence_difference(actual, expected, rtol, atol)
    if isinstance(expected, dict):
        return _dict_difference(actual, expected, rtol, atol)
    return _scalar_difference(actual, expected, rtol, atol)


def mutation(seen: Observation, index: int | str | None) -> str | None:
    """Which argument changed, or None."""
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


def _tensor_of(node: Any) -> Any:
    if isinstance(node, SeenTensor):
        reason = "the tensor was too large to carry, or has no elements to read"
        return Absent(reason) if node.tensor is None else node.tensor
    return node


def _tensor_difference(actual: Any, expected: torch.Tensor, rtol: float, atol: float) -> str | None:
    if not isinstance(actual, torch.Tensor):
        return f"it is {describe(actual)}, not a tensor"
    if actual.shape != expected.shape:
        return f"its shape is {tuple(actual.shape)}, not {tuple(expected.shape)}"
    if actual.dtype != expected.dtype:
        return f"its dtype is {_plain(actual.dtype)}, not {_plain(expected.dtype)}"
    actual, expected = actual.detach().cpu(), expected.detach().cpu()
    close = torch.isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=True)
    wrong = int((~close).sum())
    if not wrong:
        return None
    where = tuple((~close).nonzero()[0].tolist())
    return (
        f"{wrong} of {expected.numel()} elements differ, first at index {where}: "
        f"{actual[where].item()} instead of {expected[where].item()}"
    )


def _array_difference(actual: Any, expected: np.ndarray) -> str | None:
    if not isinstance(actual, np.ndarray):
        return f"it is {describe(actual)}, not a NumPy array"
    if actual.shape != expected.shape or actual.dtype != expected.dtype:
        return f"it is {actual.dtype} {actual.shape}, not {expected.dtype} {expected.shape}"
    return None if np.array_equal(actual, expected) else "some elements differ"


def _sequence_difference(actual: Any, expected: Any, rtol: float, atol: float) -> str | None:
    if not isinstance(actual, list | tuple):
        return f"it is {describe(actual)}, not a {type(expected).__name__}"
    if len(actual) != len(expected):
        return f"it has {len(actual)} items, not {len(expected)}"
    for index, (one, other) in enumerate(zip(actual, expected, strict=True)):
        found = difference(one, other, rtol=rtol, atol=atol)
        if found is not None:
            return f"item {index}: {found}"
    return None


def _dict_difference(actual: Any, expected: Any, rtol: float, atol: float) -> str | None:
    if not isinstance(actual, dict):
        return f"it is {describe(actual)}, not a dict"
    missing = [key for key in expected if key not in actual]
    extra = [key for key in actual if key not in expected]
    if missing or extra:
        return f"keys missing: {missing[:5]}, keys too many: {[str(k)[:40] for k in extra[:5]]}"
    for key, value in expected.items():
        found = difference(actual[key], value, rtol=rtol, atol=atol)
        if found is not None:
            return f"at key {key!r}: {found}"
    return None


def _scalar_difference(actual: Any, expected: Any, rtol: float, atol: float) -> str | None:
    if isinstance(actual, Handle):
        return f"it is {describe(actual)}, not {describe(expected)}"
    if isinstance(expected, bool) or isinstance(actual, bool):
        same = actual is expected
    elif isinstance(expected, int | float | complex):
        same = isinstance(actual, int | float | complex) and _near(actual, expected, rtol, atol)
    else:
        same = type(actual) is type(expected) and actual == expected
    return None if same else f"it is {describe(actual)}, not {describe(expected)}"


def _near(actual: Any, expected: Any, rtol: float, atol: float) -> bool:
    if actual != actual and expected != expected:
        return True
    return bool(actual == expected or abs(actual - expected) <= atol + rtol * abs(expected))


def _plain(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def brief(subject: Any) -> str:
    """A value in a few words or numbers, for the actual and expected columns of a table."""
    node = as_node(subject)
    if isinstance(node, SeenTensor):
        return describe(node) if node.tensor is None else brief(node.tensor)
    if isinstance(node, torch.Tensor):
        kind = f"{_plain(node.dtype)} {tuple(node.shape)}"
        return f"{kind} {node.tolist()}" if node.numel() <= 16 else kind
    text = describe(node) if isinstance(node, Absent | Handle) else repr(_tensor_of(node))
    return text if len(text) <= 200 else text[:197] + "..."
