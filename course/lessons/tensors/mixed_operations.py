"""What an operation on two operands gives: its dtype or its error, as torch says when it runs."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from course.lessons.tensors.type_promotion import Agreement, Operand, agreement, dtype_name, kind

__all__ = ["ERROR", "OPERATIONS", "Outcome", "outcome"]

ERROR = "an error"
OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "left + right": operator.add,
    "left / right": operator.truediv,
    "left // right": operator.floordiv,
    "left < right": operator.lt,
    "left += right": operator.iadd,
}


@dataclass(frozen=True)
class Outcome:
    """What came out: a dtype's name or `ERROR`, torch's message, and the reason in words."""

    operation: str
    found: Agreement
    answer: str
    message: str
    why: str


def outcome(operation: str, left: Operand, right: Operand) -> Outcome:
    """What the operation gives. ValueError where torch would not be asked at all."""
    found = agreement(left, right)
    if operation == "left += right" and left.rank == "number":
        raise ValueError("A Python number can't be changed in place: choose a tensor on the left.")
    try:
        result = OPERATIONS[operation](left.stand_in(), right.stand_in())
    except RuntimeError as error:
        message = f"{type(error).__name__}: {str(error).splitlines()[0]}"
        return Outcome(operation, found, ERROR, message, _refused(operation, found))
    return Outcome(operation, found, dtype_name(result.dtype), "", _why(operation, found, result))


def _why(operation: str, found: Agreement, result: torch.Tensor) -> str:
    if operation == "left < right":
        return "A comparison answers in bool, whatever it compares."
    if operation == "left / right" and kind(found.result) < 2:
        return (
            f"/ divides whole numbers as floats of the default dtype, {dtype_name(result.dtype)}."
        )
    if operation == "left += right" and result.dtype is not found.result:
        computed = dtype_name(found.result)
        return (
            f"It's computed in {computed} and stored in the left tensor, which keeps its dtype: "
            f"the kind isn't lower, so torch allows it. {found.why}"
        )
    return found.why


def _refused(operation: str, found: Agreement) -> str:
    if operation != "left += right":
        return f"torch has no such operation for {dtype_name(found.result)}."
    if kind(found.result) > kind(found.left.dtype):
        return (
            f"The result would be {dtype_name(found.result)}, and in place nothing is put into a "
            "dtype of a lower kind."
        )
    return "The result doesn't have the shape of the left tensor, and in place it has to."
