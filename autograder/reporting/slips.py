"""Slips of the pen that lie behind failed checks of several exercises: a page tells them once."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from autograder.records.model import ExerciseRecord

__all__ = ["Slip", "repeated_slips"]


@dataclass(frozen=True)
class Slip:
    """What was done in several exercises, what mends it, and in which (by their names)."""

    title: str
    remedy: str
    exercises: tuple[str, ...]


# How a check's message tells of it; the words are those of `course.testing`.
_KNOWN = (
    (
        r"it is a tensor of shape \(\), not the (int|float|bool|complex) ",
        "A tensor stands where a Python number is asked for",
        "`.item()` gives the number.",
    ),
    (
        r"gives None each time it is called",
        "A function gives None",
        "Is there a `return` missing?",
    ),
    (
        r"ended with (?:NameError|NotDefinedError|AttributeError: module )",
        "A name doesn't exist",
        "The line in the table shows which one: is it spelt as in the text?",
    ),
    (
        r"it is a (list|tuple) of \d+, not a (tuple|list)\b",
        "A list stands where a tuple is asked for, or a tuple for a list",
        "`tuple(…)` and `list(…)` make one of the other.",
    ),
    (
        r"it is the (int|float) [^\n]{0,200}, not the (int|float) ",
        "An int stands where a float is asked for, or a float for an int",
        "`//` keeps ints, `/` gives floats, and `int(…)` and `float(…)` convert.",
    ),
)


def repeated_slips(records: Iterable[ExerciseRecord]) -> tuple[Slip, ...]:
    """The slips that failed checks of two exercises or more tell of, the most frequent first."""
    said = {
        one.id: "\n".join(
            c.message for c in one.checks if c.attempted and c.reached and not c.passed
        )
        for one in records
        if one.attempted
    }
    found = (
        Slip(title, remedy, tuple(id_ for id_, text in said.items() if _tells(pattern, text)))
        for pattern, title, remedy in _KNOWN
    )
    return tuple(
        sorted((s for s in found if len(s.exercises) > 1), key=lambda s: -len(s.exercises))
    )


def _tells(pattern: str, text: str) -> bool:
    """Whether a message tells of a slip: for two kinds of number, of two that differ."""
    kinds = (found.groups() for found in re.finditer(pattern, text))
    return any(len(set(pair)) == len(pair) for pair in kinds)
