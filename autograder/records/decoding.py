"""Strict reading of plain data into the types that declare its fields.

What is read was written by `json`, from the fields of a `msgspec.Struct`.  The bytes stay those of
`json`: a learner's text can hold lone surrogates, which msgspec's own reader refuses.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Annotated, TypeVar

import msgspec

from autograder.errors import AutograderError

T = TypeVar("T")
_MOST = sys.float_info.max  # bounds refuse NaN too, which compares with nothing
Number = Annotated[float, msgspec.Meta(ge=-_MOST, le=_MOST)]
NotNegative = Annotated[float, msgspec.Meta(ge=0, le=_MOST)]


class RecordError(AutograderError):
    """A record that cannot be read; the message names the field and what is wrong with it."""


def read_as(kind: type[T], data: object, what: str) -> T:
    """`data` as a `kind`, with every field given, those with a default too.

    Args:
        kind: A `msgspec.Struct`; bool is no number in it, and text is none either.
        data: What `json` has read.
        what: A word for it, with which the place in a message begins: `record.exercises[0].score`.

    Raises:
        RecordError: A field is missing, has another type or a value outside of its bounds, or is
            not known where the type forbids that.
    """
    try:
        found = msgspec.convert(data, kind)
    except (msgspec.ValidationError, RecursionError) as error:
        cause, _, place = str(error).partition(" - at ")
        raise RecordError(f"{what}{place.strip('`').removeprefix('$')}: {cause}") from None
    absent = next(_absent(data, msgspec.to_builtins(found), what), None)
    if absent is not None:
        raise RecordError(f"{absent} is missing")
    return found


def _absent(given: object, whole: object, place: str) -> Iterator[str]:
    """The places that `whole` has and `given` has not."""
    if isinstance(given, dict) and isinstance(whole, dict):
        for key, value in whole.items():
            if key in given:
                yield from _absent(given[key], value, f"{place}.{key}")
            else:
                yield f"{place}.{key}"
    elif isinstance(given, list | tuple) and isinstance(whole, list | tuple):
        for index, (one, other) in enumerate(zip(given, whole, strict=True)):
            yield from _absent(one, other, f"{place}[{index}]")
