"""Strict reading of plain data: each field has a reader that takes it or says why not."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from autograder.errors import AutograderError

Read = Callable[[object], Any]


class RecordError(AutograderError):
    """A record that cannot be read; the message names the field and what stood there."""


def of_type(kind: type) -> Read:
    """A reader of values of exactly this type: True is no int here."""

    def read(value: object) -> object:
        if type(value) is not kind:
            raise RecordError(f"must be {kind.__name__}, is {value!r:.80}")
        return value

    return read


def number(value: object) -> float:
    """`value` where it is a finite number."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise RecordError(f"must be a finite number, is {value!r:.80}")
    return float(value)


def points(value: object) -> float:
    """`value` where it is a finite number of at least 0."""
    if number(value) < 0:
        raise RecordError(f"must not be negative, is {value!r}")
    return number(value)


def optional(read: Read) -> Read:
    """A reader that takes None too."""
    return lambda value: None if value is None else read(value)


def list_of(read: Read) -> Read:
    """A reader of lists, which become tuples."""

    def read_all(value: object) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple):
            raise RecordError(f"must be a list, is {value!r:.80}")
        return tuple(read(item) for item in value)

    return read_all


def one_of(*allowed: str) -> Read:
    """A reader of these words alone."""

    def read(value: object) -> str:
        if not isinstance(value, str) or value not in allowed:
            raise RecordError(f"must be one of {', '.join(allowed)}, is {value!r:.80}")
        return value

    return read


def decode_object(data: object, readers: dict[str, Read], what: str) -> dict[str, Any]:
    """The values of an object with exactly the keys of `readers`, each read by its own."""
    if not isinstance(data, dict):
        raise RecordError(f"a {what} must be an object, is {data!r:.80}")
    unknown, absent = sorted(data.keys() - readers.keys()), sorted(readers.keys() - data.keys())
    if unknown or absent:
        raise RecordError(f"{what}: unknown keys {unknown}, missing keys {absent}")
    return {key: _read(read, data[key], f"{what}.{key}") for key, read in readers.items()}


def _read(read: Read, value: object, place: str) -> object:
    try:
        return read(value)
    except RecordError as error:
        raise RecordError(f"{place}: {error}") from None
