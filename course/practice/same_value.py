"""Whether two values are the same to a reader, and how a value reads."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from numbers import Number
from typing import Any

import numpy as np
import torch

__all__ = ["kind_of", "same_value", "shown"]

_MOST_CHARACTERS = 200


def same_value(yours: Any, right: Any) -> bool:
    """Whether `yours` is `right`; how it is written does not count, what it is does.

    A list, a tuple and a `Size` of the same items are the same, and so are 4 and 4.0, a tensor
    without dimensions and its number, `torch.float32` and `"float32"`, an exception and its name.
    Tensors agree in shape, dtype and elements, floats up to rounding. True is not 1.

    >>> same_value(torch.Size([2, 3]), (2, 3)), same_value(1, True)
    (True, False)
    """
    if isinstance(right, torch.Tensor) and isinstance(yours, torch.Tensor):
        return _same_tensor(yours, right)
    if isinstance(right, np.ndarray) and isinstance(yours, np.ndarray):
        return right.dtype == yours.dtype and same_value(yours.tolist(), right.tolist())
    yours, right = _plain(yours), _plain(right)
    if isinstance(right, bool) or isinstance(yours, bool):
        return yours is right
    if isinstance(right, Number):
        return isinstance(yours, Number) and _same_number(yours, right)
    if isinstance(right, str):
        return isinstance(yours, str) and " ".join(yours.split()) == " ".join(right.split())
    return _same_container(yours, right)


def _same_tensor(yours: torch.Tensor, right: torch.Tensor) -> bool:
    if yours.shape != right.shape or yours.dtype != right.dtype:
        return False
    return torch.allclose(yours.detach().cpu(), right.detach().cpu(), equal_nan=True)


def _plain(value: Any) -> Any:
    """The value as plain data: a number, a name, a list."""
    if isinstance(value, torch.Tensor | np.generic | np.ndarray) and not getattr(value, "ndim", 0):
        return value.item()
    if isinstance(value, torch.dtype | torch.device | torch.layout):
        return str(value).removeprefix("torch.")
    if isinstance(value, type) and issubclass(value, BaseException):
        return value.__name__
    return value.strip().removeprefix("torch.") if isinstance(value, str) else value


def _same_number(yours: Any, right: Any) -> bool:
    if isinstance(yours, complex) or isinstance(right, complex):
        return bool(yours == right)
    both_nan = math.isnan(yours) and math.isnan(right)
    return both_nan or math.isclose(yours, right, rel_tol=1e-6, abs_tol=1e-12)


def _same_container(yours: Any, right: Any) -> bool:
    if isinstance(right, list | tuple):
        pair = isinstance(yours, list | tuple) and len(yours) == len(right)
        return pair and all(map(same_value, yours, right))
    if isinstance(right, Mapping):
        pair = isinstance(yours, Mapping) and yours.keys() == right.keys()
        return pair and all(same_value(yours[key], right[key]) for key in right)
    if isinstance(right, Set):
        return isinstance(yours, Set) and yours == right
    return bool(yours is right or (type(yours) is type(right) and yours == right))


# What a learner calls a value, by its class; the first that fits names it.
_KINDS: tuple[tuple[Any, str], ...] = (
    (bool, "True or False"),
    (torch.Tensor, "a tensor"),
    (np.ndarray, "a NumPy array"),
    (Number, "a number"),
    (torch.dtype, "a dtype"),
    (str, "a string"),
    (Mapping, "a dict"),
    (Set, "a set"),
    (Sequence, "several values in brackets, such as `(2, 3)`"),
    (type, "a class"),
)


def kind_of(value: Any) -> str:
    """What sort of value it is, in words: "a tensor", "a number"."""
    value = value.item() if isinstance(value, np.generic) else value
    return next((name for kind, name in _KINDS if isinstance(value, kind)), "")


def shown(value: Any) -> str:
    """The value in a line, at most 200 characters long."""
    if isinstance(value, torch.Size):
        value = tuple(value)
    text = value.__name__ if isinstance(value, type) else " ".join(repr(value).split())
    return text if len(text) <= _MOST_CHARACTERS else text[: _MOST_CHARACTERS - 3] + "..."
