"""What of a hidden test must not be quoted where code ran beside it, and whether it is.

Spaces and the commas at the ends of a line make no difference: a quotation may be in other words
than the test, and in doubt it is one. Who says a test in a code of their own, or line by line what
is too short to tell anything, is not found out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

_LINE_CHARS = 8  # shorter lines, `):` or `else:`, tell nothing and stand in many other texts
_SHORT_CHARS = 4  # but for those with values in them, `7: 49,`
_EDGES = "()[]{},:; \t"
_BARE_NAME = re.compile(r"[\w.]+")  # `torch.float64,` tells nothing either
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_TOKEN = re.compile(r"\w+|[^\w\s]")
_NUMBER_DIGITS = 3  # of numbers that are not to be quoted
LONG_NUMBER = 5  # where many numbers are shown: shorter ones are often the same by chance
_NOT_COUNTED = re.compile(r"^0\.?0*|\.")


@dataclass(frozen=True)
class Secrets:
    """What hidden tests say that tells something and that nobody gets to read elsewhere.

    Attributes:
        lines: Whole lines, longest first.
        numbers: Those in any of the lines, with three digits or more.
    """

    lines: tuple[str, ...]
    numbers: frozenset[str]

    @classmethod
    def of(cls, inside: Iterable[str], shown: str) -> Self:
        """The secrets of hidden tests.

        Args:
            inside: Their lines.
            shown: All that learners get to read.
        """
        lines, told = {line.strip() for line in inside}, _compact(shown)
        found = [one for one in lines if _tells(one.strip(_EDGES)) and _compact(one) not in told]
        numbers = {number for line in lines for number in _numbers(line)} - {*_numbers(shown)}
        telling = frozenset(one for one in numbers if _digits(one) >= _NUMBER_DIGITS)
        return cls(tuple(sorted(found, key=lambda one: (-len(one), one))), telling)

    def are_quoted(self, text: str, number_digits: int = _NUMBER_DIGITS) -> bool:
        """Whether `text` quotes one of them.

        Args:
            text: What somebody said.
            number_digits: Numbers with fewer digits count for nothing.
        """
        numbers = self.numbers & {*_numbers(text)}
        if any(_digits(one) >= number_digits for one in numbers):
            return True
        compact, tokens = _compact(text), _tokens(text)
        for core in (line.strip(_EDGES) for line in self.lines):
            is_long = len(_compact(core)) >= _LINE_CHARS
            if _compact(core) in compact if is_long else _tokens(core) in tokens:
                return True
        return False


def _tells(core: str) -> bool:
    """Whether a line without the punctuation at its ends says something of a test."""
    chars = len(_compact(core))
    if _BARE_NAME.fullmatch(core):
        return False
    has_values = any(sign in core for sign in "\"'") or sum(map(str.isdigit, core)) > 1
    return chars >= _LINE_CHARS or (chars >= _SHORT_CHARS and has_values)


def _compact(text: str) -> str:
    return "".join(text.split())


def _tokens(text: str) -> str:
    return f" {' '.join(_TOKEN.findall(text))} "


def _numbers(text: str) -> list[str]:
    return _NUMBER.findall(text.replace("_", ""))


def _digits(number: str) -> int:
    return len(_NOT_COUNTED.sub("", number))
