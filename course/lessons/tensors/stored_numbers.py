"""What a dtype stores for a number: its bits in groups, the exact value, and what was lost."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from decimal import Decimal, localcontext

import torch

from course.lessons.tensors.type_promotion import dtype_name

__all__ = ["STORABLE", "Stored", "exact", "stored"]

# The bits of exponent and fraction; the sign takes the first one.
_FLOATS = {
    torch.float64: (11, 52),
    torch.float32: (8, 23),
    torch.float16: (5, 10),
    torch.bfloat16: (8, 7),
}
_INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
STORABLE = (*_FLOATS, *_INTEGERS, torch.bool)
_MOST_DIGITS = 60  # of an exact value; more would not fit on a line
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

Number = bool | int | float


@dataclass(frozen=True)
class Stored:
    """One number in one dtype.

    `groups` are the bits from the highest to the lowest, each group with its name; there are none
    where the result isn't defined. `value` is what the bits mean, `note` says it in words.
    """

    dtype: torch.dtype
    groups: tuple[tuple[str, str], ...]
    value: Number | None
    note: str

    @property
    def bits(self) -> str:
        """All bits, from the highest to the lowest."""
        return "".join(bits for _, bits in self.groups)


def stored(number: Number, dtype: torch.dtype) -> Stored:
    """What `torch.tensor(number).to(dtype)` stores; a float is taken in float64 first.

    >>> stored(300, torch.uint8).note
    'stored: 44, off by -256'
    """
    if dtype not in STORABLE:
        raise ValueError(
            f"{dtype_name(dtype)} isn't drawn bit by bit. "
            f"These are: {', '.join(map(dtype_name, STORABLE))}."
        )
    given = _given(number)
    if not _defined(number, dtype):
        return Stored(dtype, (), None, f"{number!r} doesn't fit, and what you get isn't defined")
    tensor = given.to(dtype)
    bits = _bits(tensor)
    value = tensor.item()
    note = _float_note if dtype in _FLOATS else _integer_note
    return Stored(dtype, _groups(bits, dtype), value, note(number, value, bits, dtype))


def _given(number: Number) -> torch.Tensor:
    """The number as it stands in Python: int64, float64 or bool."""
    if isinstance(number, bool):
        return torch.tensor(number)
    if isinstance(number, int):
        if not -(2**63) <= number < 2**63:
            raise ValueError(f"{number} is beyond int64, so no tensor can be made of it.")
        return torch.tensor(number, dtype=torch.int64)
    if isinstance(number, float):
        return torch.tensor(number, dtype=torch.float64)
    raise TypeError(f"a number is a bool, an int or a float, not {type(number).__name__}.")


def _defined(number: Number, dtype: torch.dtype) -> bool:
    """A float beyond an integer's range gives this or that, by machine and by operator."""
    if not isinstance(number, float) or dtype not in _INTEGERS:
        return True
    info = torch.iinfo(dtype)
    return math.isfinite(number) and info.min <= math.trunc(number) <= info.max


def _bits(tensor: torch.Tensor) -> str:
    raw = bytes(tensor.reshape(1).view(torch.uint8).tolist())
    return f"{int.from_bytes(raw, sys.byteorder):0{8 * len(raw)}b}"


def _groups(bits: str, dtype: torch.dtype) -> tuple[tuple[str, str], ...]:
    if dtype in _FLOATS:
        exponent = 1 + _FLOATS[dtype][0]
        return (
            ("sign", bits[0]),
            ("exponent", bits[1:exponent]),
            ("fraction", bits[exponent:]),
        )
    if dtype is torch.bool or dtype is torch.uint8:
        return (("bits", bits),)
    return (("sign", bits[0]), ("bits", bits[1:]))


def _float_note(number: Number, value: Number, bits: str, dtype: torch.dtype) -> str:
    if math.isnan(value):
        return "not a number: the exponent is all ones, the fraction isn't 0"
    if math.isinf(value):
        return "infinity: the exponent is all ones, the fraction is 0" + (
            f"; {number!r} is too large" if math.isfinite(number) else ""
        )
    return f"stored: {exact(value)} ({_formula(value, bits, dtype)}), {_error(number, value)}"


def _formula(value: Number, bits: str, dtype: torch.dtype) -> str:
    """Sign, significand and power of two, as the three groups give them."""
    width, fraction = _FLOATS[dtype]
    power = int(bits[1 : 1 + width], 2)
    sign = "-" if bits[0] == "1" else ""
    if value == 0:
        return f"{sign}0: exponent and fraction are 0"
    exponent = max(power, 1) - (2 ** (width - 1) - 1)
    scaled = (power > 0) * 2**fraction + int(bits[1 + width :], 2)
    digits = float(scaled) / 2**fraction
    about = "" if Decimal(f"{digits:.6g}") == Decimal(digits) else "about "
    return f"{about}{sign}{digits:.6g} × 2{str(exponent).translate(_SUPERSCRIPTS)}"


def _integer_note(number: Number, value: Number, bits: str, dtype: torch.dtype) -> str:
    if dtype is torch.bool:
        return f"stored: {bool(value)}" + ("; only 0 is False" if number not in (0, 1) else "")
    return f"stored: {value}, {_error(number, value)}"


def exact(value: Number) -> str:
    """The value in decimal digits, all of them; of very many, the first with dots.

    >>> exact(0.1)
    '0.1000000000000000055511151231257827021181583404541015625'
    """
    plain = format(Decimal(value), "f") if 1e-9 < abs(value) < 1e22 or not value else ""
    if plain and len(plain) <= _MOST_DIGITS:
        return plain
    if plain:
        return f"{plain[:_MOST_DIGITS]}…"
    return f"{value:.17g}"


def _as_written(number: Number) -> Decimal:
    """The number somebody typed: 0.1 is a tenth, and not the float64 next to it.

    Who types takes few digits; a float that needs 16 or 17 was computed and stands for itself.
    """
    if isinstance(number, float):
        typed = Decimal(repr(number))
        return typed if len(typed.as_tuple().digits) < 16 else Decimal(number)
    return Decimal(int(number))


def _error(number: Number, value: Number) -> str:
    """How far what is stored lies from the number as it is written."""
    with localcontext() as context:
        context.prec = 1100
        off = Decimal(value) - _as_written(number)
    if not off:
        return "exact"
    whole = off == int(off) and abs(off) < 10**12
    return f"off by {int(off)}" if whole else f"off by {float(off):.3g}"
