"""How far a value may be from what is expected: by the rounding of its dtype, and in its class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch

__all__ = ["ANY_KIND", "EXACT", "Tolerance"]

_NUMBERS, _SEQUENCES = "int or float", "list or tuple"
_ALLOWED = (_NUMBERS, _SEQUENCES)


@dataclass(frozen=True)
class Tolerance:
    """What may differ between a value and what is expected; by itself, nothing.

    Attributes:
        rounding: How often the usual rounding of the expected dtype an element may be away: 32
            units in the last place of float32, 512 of float64, 4 of the 16-bit dtypes, of itself
            or, where that is more, of the largest element or of 1, for sums round as their largest
            terms do. 0 is exact; integers, bools and text are exact in any case.
        rtol: Instead, the share of what is expected that it may be away, or for each dtype the
            share of the largest element, as in "right to four digits in float32, and to ten in
            float64"; None leaves it to `rounding`.
        atol: And how far it may be away besides; None leaves it to the other two.
        precision: The dtype that Python numbers were computed in: the loss of a float32 model is a
            number of float64 with float32's digits. By itself that is float64.
        allow: What may stand for each other: "int or float", "list or tuple".
    """

    rounding: float = 0.0
    rtol: float | Mapping[torch.dtype, float] | None = None
    atol: float | None = None
    precision: torch.dtype | None = None
    allow: str | tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raise ValueError for an `allow` that means nothing."""
        if isinstance(self.allow, str):
            object.__setattr__(self, "allow", (self.allow,))
        if unknown := [one for one in self.allow if one not in _ALLOWED]:
            raise ValueError(
                f"allow= takes {' and '.join(map(repr, _ALLOWED))}; not {unknown[0]!r}"
            )

    @property
    def any_number(self) -> bool:
        """Whether a float stands for an int, too; an int stands for a float in any case."""
        return _NUMBERS in self.allow

    @property
    def any_sequence(self) -> bool:
        """Whether a list stands for a tuple, and a tuple for a list."""
        return _SEQUENCES in self.allow

    def of(self, dtype: torch.dtype, largest: float = 0.0) -> tuple[float, float]:
        """The share of what is expected that an element may be away, and how far besides.

        Args:
            dtype: That of what is expected.
            largest: The largest absolute value that is expected beside it.
        """
        if isinstance(self.rtol, Mapping):
            share = self.rtol.get(dtype, 0.0)
            return share, share * largest if self.atol is None else self.atol
        if self.rtol is not None:
            return self.rtol, self.atol or 0.0
        share = self.rounding * _usual(dtype)
        return share, share * max(1.0, largest) if self.atol is None else self.atol


EXACT = Tolerance()
ANY_KIND = Tolerance(allow=_ALLOWED)
# Right answers of the lessons' banks, which sum and multiply in different orders, are apart by 5
# units in the last place of float32, seldom by 20. Nobody can be that careful with 8 bits. In
# float64 much more costs nothing: what was computed in float32 is 10**8 units away.
_UNITS = {torch.float32: 32, torch.float64: 512, torch.complex64: 32, torch.complex128: 512}


def _usual(dtype: torch.dtype) -> float:
    """The share of a number that computing with it in this dtype may cost."""
    if not (dtype.is_floating_point or dtype.is_complex):
        return 0.0
    return _UNITS.get(dtype, 4) * torch.finfo(dtype).eps
