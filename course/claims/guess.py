"""Whether a guess, as somebody types it, is what a cell printed."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Sequence

__all__ = ["same_outcome"]

_AROUND = re.compile(r"\b(?:torch\.Size|tensor)\((.*)\)", re.S)
_TOKEN = re.compile(r"[^\s,()\[\]{}'\"`:=]+")


def same_outcome(guess: str, printed: str) -> bool:
    """Whether two texts show the same; spaces, quotes and outer brackets may differ.

    "2, 3" is `torch.Size([2, 3])`, "4" is "4.0", and "float32" is `torch.float32`. An error is
    named by its class, with or without the message; "error" means any.

    >>> same_outcome("[3,1]", "(3, 1)"), same_outcome("3 2", "(3, 1)"), same_outcome("1", "True")
    (True, False, False)
    """
    guess, printed = _plain(guess), _plain(printed)
    if guess.split() == printed.split():
        return True
    if (error := _error(printed)) is not None:
        return _error(guess) == error or guess.lower() in ("error", "an error", "raises")
    one, other = _value(guess), _value(printed)
    if one is not None and other is not None and _nested(one) and _nested(other):
        return _same(one, other)
    pairs = _TOKEN.findall(guess), _TOKEN.findall(printed)
    both = zip(*pairs, strict=False)
    return bool(pairs[0]) and len(pairs[0]) == len(pairs[1]) and all(_same(a, b) for a, b in both)


def _plain(text: str) -> str:
    """The text without what torch writes around a value."""
    text = _AROUND.sub(lambda found: found[1], text.strip().strip("`"))
    return re.sub(r"\btorch\.", "", text)


def _error(text: str) -> str | None:
    """The class of the error that a text of one line begins with."""
    found = re.match(r"([A-Z]\w*(?:Error|Exception|StopIteration))\b(?!.*\n)", text)
    return found[1] if found else None


def _value(text: str) -> object:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def _nested(value: object) -> bool:
    return isinstance(value, list | tuple) and any(isinstance(one, list | tuple) for one in value)


def _same(one: object, other: object) -> bool:
    """Whether two values, or two words, are the same."""
    if isinstance(one, str) and isinstance(other, str):
        first, second = _number(one), _number(other)
        if first is None or second is None:
            return one.casefold() == other.casefold()
        return _close(first, second)
    if isinstance(one, Sequence) and isinstance(other, Sequence):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return _close(one, other)
    return one == other


def _number(word: str) -> float | None:
    try:
        return float(word.rstrip("."))
    except ValueError:
        return None


def _close(one: float, other: float) -> bool:
    return (math.isnan(one) and math.isnan(other)) or math.isclose(one, other, rel_tol=1e-6)
