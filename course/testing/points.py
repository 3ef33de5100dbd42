"""Points are for the work: what a check is worth that an answer passes which does nothing.

Some checks hold without any work: the arguments of a function that returns `None` are unchanged,
and one that always says `False` is right half of the time. Such a check is worth as much as the
answer shows elsewhere: nothing where no check holds that the idle answer fails, and everything
once half of them hold.

What visible checks ask stands in the notebook, with its results. Where the hidden ones show that
(almost) no other input comes out right, all that is shown is worth what a constant may get at most.
A hidden check that asks nothing but what a visible line asks, too, is of that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

import torch

from course.serialization.received import Value, as_node
from course.testing.compare import difference
from course.testing.tolerance import EXACT, Tolerance

__all__ = [
    "CONSTANTS",
    "GUARD",
    "MOST_SHARE",
    "RAISING",
    "SELF",
    "SHOWN",
    "Weighed",
    "idle_ways",
    "note_on",
    "said_again",
    "same_everywhere",
    "worth",
]

GUARD = "doing nothing"
RAISING = "always raising"
SELF = "returning the argument"
SHOWN = "giving what is shown"
MOST_SHARE = 0.2  # of the points, for an answer that does no work
_HARDLY = 0.1  # the share of other inputs below which an answer does nothing but what is shown
_SCALAR = (str, int, float)
CONSTANTS: dict[str, Any] = {
    "None": None,
    "True": True,
    "False": False,
    "0": 0,
    "1": 1,
    "[]": [],
    "{}": {},
    "an empty tensor": torch.empty(0),
}
_ALWAYS = {f"returning {name}" for name in CONSTANTS} | {*(GUARD, RAISING, SELF)}
_ALWAYS |= {f"returning argument {number}" for number in range(2, 65)}
_ENOUGH = 0.5  # the share of the telling checks from which on a check counts in full


class Weighed(Protocol):
    """What is looked at of a check: its weight, whether it holds, and how to pass it idly."""

    @property
    def weight(self) -> float:
        """Its share of the points."""

    @property
    def passed(self) -> bool:
        """Whether it holds."""

    @property
    def hidden(self) -> bool:
        """Whether it stands nowhere in the notebook."""

    @property
    def shown(self) -> bool:
        """Whether visible lines ask all that it asks, where it is hidden."""

    @property
    def right_share(self) -> float | None:
        """Where it compares many cases: the share of them that comes out right."""

    @property
    def idle_ways(self) -> frozenset[str]:
        """The ways to pass it without work, for example `returning None`."""


def idle_ways(subject: Any, holds: Callable[[Any], bool]) -> Iterator[str]:
    """The ways in which a check of `subject` holds without work; `holds` tries a value on it."""
    for name, value in CONSTANTS.items():
        if _tried(holds, value):
            yield f"returning {name}"
    for number, idle in enumerate(subject.idle if isinstance(subject, Value) else (), 1):
        if _tried(holds, idle):
            given_back = SELF if number == 1 else f"returning argument {number}"
            yield given_back if subject.where.startswith("the result") else GUARD


def same_everywhere(value: Any, expected: Any, tolerance: Tolerance = EXACT) -> bool:
    """Whether `value` is what is expected, or is each item of what is expected."""
    node = as_node(expected)
    if difference(value, expected, tolerance) is None:
        return True
    return (
        isinstance(node, list | tuple)
        and bool(node)
        and all(same_everywhere(value, one, tolerance) for one in node)
    )


def said_again(expected: Any) -> Iterator[str]:
    """The way to pass by a word, a number or a tuple of them.

    It counts where several checks expect the same. Tensors of one dimension or more are not known
    again: several checks may well ask for one result, made in several ways.
    """
    node = as_node(expected)
    if isinstance(node, list | tuple) and node:
        if all(isinstance(one, _SCALAR) for one in node) and len(set(map(repr, node))) == 1:
            yield from said_again(node[0])
        elif isinstance(node, tuple) and all(map(_is_word, node)):
            yield f"returning {node!r}"
    elif isinstance(node, _SCALAR) or (isinstance(node, torch.Tensor) and node.dim() == 0):
        yield f"returning {node!r}"


def _is_word(item: Any) -> bool:
    """Whether it can be known again inside of a tuple, as a tuple of such can."""
    if isinstance(item, tuple):
        return all(map(_is_word, item))
    return item is None or isinstance(item, (*_SCALAR, complex))


def worth(checks: Sequence[Weighed]) -> list[tuple[float, str]]:
    """For each check the share of its weight that it earns, and the idle way that limits it."""
    ways = _shared_ways(checks)
    shown = {way: _shown(checks, ways, way) for way in set[str]().union(*ways)}
    first = [_earned(one, those, shown) for one, those in zip(checks, ways, strict=True)]
    # What guards need is work that was paid for: a constant that is right by luck is not.
    working = [GUARD not in those for those in ways]
    paid = _share((c.weight, e) for c, (e, _), w in zip(checks, first, working, strict=True) if w)
    earned = [
        one if works or not check.passed else (_grown(paid), GUARD)
        for check, one, works in zip(checks, first, working, strict=True)
    ]
    return _for_show(checks, earned) if _right_elsewhere(checks, ways) < _HARDLY else earned


def note_on(share: float, way: str, hidden: bool) -> str:
    """Why a check that holds counts for this share, in words; nothing where it counts in full.

    Of a hidden check it does not say which answer would pass it: that is what is expected.
    """
    if share >= 1:
        return ""
    if way == SHOWN:
        return _SHOWN_NOTE
    told = "an empty answer" if way == GUARD else "an answer that does no work" if hidden else way
    return f"Passes, but so would {told}; full credit once the others pass."


_SHOWN_NOTE = (
    "Passes, but with other inputs hardly anything came out right: what is shown in the notebook, "
    f"and what an idle answer passes, count for {100 * MOST_SHARE:.0f} % of the points at most."
)


def _right_elsewhere(checks: Sequence[Weighed], ways: Sequence[frozenset[str]]) -> float:
    """How much comes out right that the notebook does not show, as a share.

    What compares many cases says it; where nothing does, all hidden checks of values do that ask
    more than visible lines.
    """
    many = [one for one in checks if one.right_share is not None]
    if many:
        return _share((one.weight, one.right_share or 0.0) for one in many)
    hidden = [
        (one, those)
        for one, those in zip(checks, ways, strict=True)
        if one.hidden and not one.shown and GUARD not in those
    ]
    shares = [1.0]
    for way in {"", *set[str]().union(*(those for _, those in hidden))}:
        shares.append(_share((one.weight, one.passed) for one, those in hidden if way not in those))
    return min(shares)


def _for_show(
    checks: Sequence[Weighed], earned: Sequence[tuple[float, str]]
) -> list[tuple[float, str]]:
    """What the checks earn where nothing but what they show comes out right.

    Hidden checks of values that hold all the same keep their points.
    """
    shown = [not one.hidden or one.shown or bool(one.idle_ways) for one in checks]
    both = list(zip(checks, earned, shown, strict=True))
    most = MOST_SHARE * sum(one.weight for one in checks)
    gained = sum(one.weight * share for one, (share, _), of_it in both if of_it)
    if gained <= most:
        return list(earned)
    return [
        (share * most / gained, SHOWN) if of_it and share else (share, way)
        for _, (share, way), of_it in both
    ]


def _tried(holds: Callable[[Any], bool], value: Any) -> bool:
    try:
        return holds(value)
    except Exception:  # the check says something about values of another kind
        return False


def _shared_ways(checks: Sequence[Weighed]) -> list[frozenset[str]]:
    """The idle ways of each check, without words that only one check expects."""
    counts = Counter(way for check in checks for way in check.idle_ways)
    alone = {way for way, count in counts.items() if count == 1 and way not in _ALWAYS}
    return [check.idle_ways - alone for check in checks]


def _shown(checks: Sequence[Weighed], ways: Sequence[frozenset[str]], way: str) -> float:
    """The share of the checks that hold, of those that an answer of this way fails."""
    return _share(
        (check.weight, float(check.passed))
        for check, those in zip(checks, ways, strict=True)
        if not those & {way, GUARD}
    )


def _share(parts: Iterable[tuple[float, float]]) -> float:
    pairs = list(parts)
    total = sum(weight for weight, _ in pairs)
    return sum(weight * held for weight, held in pairs) / total if total else 1.0


def _earned(check: Weighed, ways: Iterable[str], shown: dict[str, float]) -> tuple[float, str]:
    if not check.passed:
        return 0.0, ""
    return min(((_grown(shown[way]), way) for way in sorted(ways)), default=(1.0, ""))


def _grown(shown: float) -> float:
    return min(1.0, shown / _ENOUGH)
