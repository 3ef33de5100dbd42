"""Which dtype two operands agree on, and which of them had a say: measured, and told in words."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import torch

__all__ = [
    "DTYPES",
    "KINDS",
    "Agreement",
    "Operand",
    "agreement",
    "dtype_name",
    "edges",
    "kind",
    "reaches",
]

# From left to right in the figure. complex32 and the unsigned integers above 8 bits are left out:
# few operators know them, and torch does not promote the latter among integers.
DTYPES = (
    torch.bool,
    torch.uint8,
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.float16,
    torch.bfloat16,
    torch.float32,
    torch.float64,
    torch.complex64,
    torch.complex128,
)
KINDS = ("bools", "integers", "floats", "complex numbers")
_RANKS = {"dims": "a tensor with dimensions", "0-d": "a 0-d tensor", "number": "a Python number"}


def dtype_name(dtype: torch.dtype) -> str:
    """The name without its module: "float32"."""
    return str(dtype).removeprefix("torch.")


def kind(dtype: torch.dtype) -> int:
    """0 to 3: bools, integers, floats, complex numbers. The documentation calls it category."""
    if dtype is torch.bool:
        return 0
    return 3 if dtype.is_complex else 2 if dtype.is_floating_point else 1


@cache
def edges() -> tuple[tuple[torch.dtype, torch.dtype], ...]:
    """The steps of the lattice: from each dtype to the next ones above it, as torch promotes."""
    above = {
        one: {other for other in DTYPES if other is not one and reaches(one, other)}
        for one in DTYPES
    }
    return tuple(
        (one, other)
        for one in DTYPES
        for other in DTYPES
        if other in above[one] and not any(other in above[between] for between in above[one])
    )


def reaches(one: torch.dtype, other: torch.dtype) -> bool:
    """Whether the ways up from one dtype lead to the other."""
    return torch.promote_types(one, other) is other


@dataclass(frozen=True)
class Operand:
    """One side of an operation: its dtype, and "dims", "0-d" or "number"."""

    dtype: torch.dtype
    rank: str
    text: str

    @classmethod
    def of(cls, given: object) -> Operand:
        """The operand for a dtype (a tensor with dimensions), a tensor or a Python number."""
        if isinstance(given, torch.dtype):
            return cls(_known(given), "dims", dtype_name(given))
        if isinstance(given, torch.Tensor):
            rank = "dims" if given.dim() else "0-d"
            return cls(_known(given.dtype), rank, dtype_name(given.dtype))
        if isinstance(given, bool | int | float | complex):
            return cls(_dtype_of(given), "number", repr(given))
        raise TypeError(
            "an operand is a dtype, a tensor or a Python number, "
            f"not {type(given).__name__}. Write for example torch.uint8 or 2.5."
        )

    def stand_in(self) -> torch.Tensor | bool | int | float | complex:
        """Something of this dtype and rank, to ask torch with."""
        if self.rank != "number":
            return torch.ones((2,) if self.rank == "dims" else (), dtype=self.dtype)
        return (True, 1, 1.0, 1j)[kind(self.dtype)]

    @property
    def words(self) -> str:
        """What it is: "uint8, a tensor with dimensions"."""
        return f"{self.text}, {_RANKS[self.rank]}"


def _known(dtype: torch.dtype) -> torch.dtype:
    if dtype not in DTYPES:
        raise ValueError(
            f"{dtype_name(dtype)} is not in the figure. "
            f"It has {', '.join(map(dtype_name, DTYPES))}."
        )
    return dtype


def _dtype_of(number: complex) -> torch.dtype:
    """What a Python number stands for where it has a say: the default dtype of its kind."""
    return torch.result_type(number, number)


@dataclass(frozen=True)
class Agreement:
    """The dtype that torch computes in, which operands had a say in it, and why, in a sentence."""

    left: Operand
    right: Operand
    result: torch.dtype
    counts: tuple[bool, bool]
    why: str


def agreement(left: Operand, right: Operand) -> Agreement:
    """What torch says of two operands. At least one of them is a tensor."""
    if left.rank == right.rank == "number":
        raise ValueError(
            "Python adds two of its own numbers by itself: choose at least one tensor."
        )
    result = torch.result_type(left.stand_in(), right.stand_in())
    counts = _counts(left, right)
    return Agreement(left, right, result, counts, _why(left, right, counts, result))


def _counts(left: Operand, right: Operand) -> tuple[bool, bool]:
    """Who has a say: who comes first, and who comes second of a higher kind.

    A tensor with dimensions comes before a 0-d tensor, and that one before a Python number.
    """
    if left.rank == right.rank:
        return True, True
    first, second = _in_rank(left, right)
    heard = kind(second.dtype) > kind(first.dtype)
    return (True, heard) if first is left else (heard, True)


def _in_rank(left: Operand, right: Operand) -> tuple[Operand, Operand]:
    """The two, first the one that comes first."""
    ranks = list(_RANKS)
    first, second = sorted((left, right), key=lambda operand: ranks.index(operand.rank))
    return first, second


def _why(left: Operand, right: Operand, counts: tuple[bool, bool], result: torch.dtype) -> str:
    """A sentence or two; the result is torch's, and the words follow its rules."""
    name = dtype_name(result)
    if left.rank == right.rank:
        return _same_rank(left, right, name)
    first, second = _in_rank(left, right)
    upper, lower = KINDS[kind(first.dtype)], KINDS[kind(second.dtype)]
    who = f"A{_RANKS[second.rank][1:]}"
    if counts == (True, True):
        return (
            f"{who} is heard if its kind is higher, and {lower} are a higher kind than {upper}. "
            f"So it's {name}{_default(second)}."
        )
    reason = f"both are {upper}" if upper == lower else f"{lower} are a lower kind than {upper}"
    return (
        f"{dtype_name(first.dtype)} decides alone. {who} is heard only if its kind is higher, and "
        f"here {reason}."
    )


def _same_rank(left: Operand, right: Operand, name: str) -> str:
    if left.dtype is right.dtype:
        return f"Both are {name} already."
    if name in (dtype_name(left.dtype), dtype_name(right.dtype)):
        return f"Both have a say, and {name} is the higher one."
    return f"Both have a say, and neither is above the other. They meet at {name}."


def _default(second: Operand) -> str:
    """For a Python float: whose dtype it brings."""
    brings = second.rank == "number" and kind(second.dtype) == 2
    return ", the default dtype of floats" if brings else ""
