"""Numbers as one types them, and what a dtype makes of each: itself, a neighbour or another."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable

import torch

from course.lessons.tensors.stored_numbers import Number, Stored, stored

__all__ = ["WAYS_STORED", "NumberError", "neighbour", "parse_number", "way_stored"]

EXACT, ROUNDED, OTHER = WAYS_STORED = (
    "exactly this number",
    "the number, rounded or cut off",
    "something else altogether",
)
_NAMES: dict[str, Number] = {
    "inf": math.inf,
    "nan": math.nan,
    "True": True,
    "False": False,
}
_BINARY: dict[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_MOST_POWER, _MOST_BASE = 1100, 2**64


class NumberError(ValueError):
    """What was typed is no number that can be looked at; the message says why."""


def parse_number(text: str) -> Number:
    """The number that stands in the text: digits, `inf`, `nan`, or a sum such as `2**24 + 1`.

    >>> parse_number("2**24 + 1")
    16777217
    """
    try:
        number = _value(ast.parse(text.strip(), mode="eval").body)
        stored(number, torch.float64)
    except NumberError:
        raise
    except (SyntaxError, ArithmeticError, ValueError, TypeError, RecursionError) as error:
        known = isinstance(error, ArithmeticError | ValueError)
        reason = f": {str(error).rstrip('.')}" if known else ""
        raise NumberError(
            f"{text.strip()!r} can't be stored{reason}. "
            "Type for example 0.1, 300, -1, 2**24 + 1, inf or nan."
        ) from None
    return number


def _value(node: ast.expr) -> Number:
    if isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        return node.value
    if isinstance(node, ast.Name) and node.id in _NAMES:
        return _NAMES[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = _value(node.operand)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        return _combined(type(node.op), _value(node.left), _value(node.right))
    raise SyntaxError


def _combined(kind: type[ast.operator], left: Number, right: Number) -> Number:
    if kind is ast.Pow and (abs(right) > _MOST_POWER or abs(left) > _MOST_BASE):
        raise NumberError("That power is too large to look at.")
    value = _BINARY[kind](left, right)
    if not isinstance(value, int | float):  # a root of a negative number
        raise SyntaxError
    return value


def way_stored(number: Number, seen: Stored) -> str:
    """Which of `WAYS_STORED` the number is in `seen`."""
    value = seen.value
    if value is None:
        return OTHER
    if value == number or (math.isnan(value) and math.isnan(number)):
        return EXACT if "off by" not in seen.note else ROUNDED
    if seen.dtype.is_floating_point:
        return ROUNDED if math.isfinite(value) else OTHER
    return ROUNDED if seen.dtype is not torch.bool and abs(value - number) < 1 else OTHER


def neighbour(seen: Stored, step: int) -> Number:
    """The next number up (1) or down (-1) that the dtype has; the same one at its end."""
    value = seen.value
    if value is None or math.isnan(value):
        raise NumberError("What is stored has no neighbours.")
    if seen.dtype is torch.bool:
        return step > 0
    if not seen.dtype.is_floating_point:
        info = torch.iinfo(seen.dtype)
        return min(max(int(value) + step, info.min), info.max)
    here = torch.tensor(value, dtype=seen.dtype)
    return torch.nextafter(here, torch.tensor(step * math.inf, dtype=seen.dtype)).item()
