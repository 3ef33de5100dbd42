"""What a test cell found: the result of each check, and the points of the exercise."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from course.error_names import error_name
from course.inspection.facts import TensorFacts
from course.testing.points import SHOWN, note_on, worth
from course.testing.recording import OUR_FAULT

__all__ = ["CheckResult", "Failure", "Points", "TestResult"]


class Points(float):
    """The points of a test cell, its last value, which no notebook prints below the table.

    As plain text they are the number, which nbgrader reads.

    >>> Points(2.5), Points(2.5)._repr_html_()
    (2.5, '')
    """

    def _repr_html_(self) -> str:
        return ""


@dataclass(frozen=True)
class Failure:
    """Why a check does not hold, what to show beside it, and the value that was compared.

    `told` is what a learner may read of it also where the check is hidden. `call` writes the call
    that led there, as code. With `other_kind` it is of another kind than asked for, which shows
    nothing of what its author believes.
    """

    words: str
    actual: str | None = None
    expected: str | None = None
    layouts: tuple[TensorFacts, ...] = ()
    value: Any = None
    told: str = ""
    call: Callable[[], str] | None = None
    other_kind: bool = False


@dataclass(frozen=True)
class CheckResult:
    """One check: whether it holds and what to tell the learner.

    A hidden check names the property alone: it carries no actual or expected value, no layout and
    no call, because they would give the hidden input away. `reached` is False where an exception
    took what it looks at and a check before has told of that. `call` is the call that led there, as
    code. `misconception` is what the learner is told to believe perhaps;
    `suspected` one that the check names, where another has better evidence or just as much.
    `right_share` is how much of a comparison of many cases came out right. `shown` says that
    visible lines ask all that it asks.
    """

    name: str
    passed: bool
    attempted: bool
    hidden: bool
    misconception: str | None
    message: str
    actual: str | None = None
    expected: str | None = None
    weight: float = 1.0
    layouts: tuple[TensorFacts, ...] = ()
    idle_ways: frozenset[str] = frozenset()
    reached: bool = True
    call: str | None = None
    suspected: str | None = None
    right_share: float | None = None
    shown: bool = False

    @classmethod
    def of(
        cls,
        failure: Failure | None,
        *,
        name: str,
        message: str | None,
        misconception: str | None,
        weight: float,
        attempted: bool,
        hidden: bool,
        explain: bool,
        idle_ways: frozenset[str] = frozenset(),
        reached: bool = True,
        call: str | None = None,
        suspected: str | None = None,
        right_share: float | None = None,
        shown: bool = False,
    ) -> CheckResult:
        """The result of a check; `message` is the author's explanation of a failure.

        `explain` is False when there was nothing to check: then the author's explanation would
        mislead, and only the reason is told.
        """
        one = cls(name, failure is None, True, hidden, misconception, "", None, None, weight)
        one = replace(one, idle_ways=idle_ways, right_share=right_share, shown=shown)
        if failure is None:
            return one
        one = replace(one, reached=reached, suspected=suspected)
        if hidden:
            parts = [failure.told and f"{failure.told}.", message or ""]
            words = " ".join(filter(None, parts)) if explain else _without_values(failure.words)
            return replace(one, attempted=attempted, message=words)
        return replace(
            one,
            attempted=attempted,
            message=f"{failure.words}. {message}" if message and explain else failure.words,
            actual=failure.actual,
            expected=failure.expected,
            layouts=failure.layouts,
            call=call or None,
        )

    def to_dict(self) -> dict[str, Any]:
        """The record of this check as plain data."""
        layouts = [layout.to_dict() for layout in self.layouts] or None
        told = {key: value for key, value in vars(self).items() if key not in _NOT_TOLD}
        return {**told, "layouts": layouts}


# What points are made of, and nobody else's affair.
_NOT_TOLD = ("idle_ways", "right_share", "shown")


def _noted(
    checks: Sequence[CheckResult], earned: Sequence[tuple[float, str]]
) -> Iterator[CheckResult]:
    """The checks, saying why one counts in part where it holds and does; of all that, once."""
    told = False
    for check, (share, way) in zip(checks, earned, strict=True):
        note = (
            note_on(share, way, check.hidden)
            if check.passed and not (told and way == SHOWN)
            else ""
        )
        told = told or bool(note and way == SHOWN)
        yield replace(check, message=note) if check.passed else check


# What a reason may say of a hidden test: our own words to the letter, as a learner's text or class
# that stands among a reason's words may be spelt as they are.
_OWN_WORDS = (
    "no result requires grad, so nothing leads back to the arguments",
    "no gradients were asked for",
    "it is larger than what is looked at",
    "the tensor was too large to carry, or has no elements to read",
    OUR_FAULT.format(torch=torch.__version__),
)
_ENDED = re.compile(r"(`\w+` ended with|backward failed:) ([^\s:]*)")


def _without_values(words: str) -> str:
    """The reason of a lost run, without what could tell the input of a hidden test."""
    ended = _ENDED.match(words)
    if ended:
        return f"{ended[1]} {error_name(ended[2])}"
    lost = "what this check looks at is not there"
    return next((own for own in _OWN_WORDS if own in words), lost)


def _one_exception(checks: Sequence[CheckResult]) -> list[CheckResult]:
    """The checks, with the first class of exception alone that hidden ones tell.

    An answer may choose another one in each call, and would spell what it was given.
    """
    told = False

    def once(found: re.Match[str]) -> str:
        nonlocal told
        words, told = f"{found[1]} an exception" if told else found[0], True
        return words

    return [
        replace(check, message=_CLASS_TOLD.sub(once, check.message)) if check.hidden else check
        for check in checks
    ]


_CLASS_TOLD = re.compile(
    r"(ended with|ends with|backward failed:) (an exception of its own class|\w+)"
)


@dataclass(frozen=True)
class TestResult:
    """All checks of one test cell and the points they give."""

    exercise: str
    status: str
    score: float
    max: float
    checks: tuple[CheckResult, ...]

    @classmethod
    def of(
        cls, exercise: str, checks: Sequence[CheckResult], points: float, attempted: bool
    ) -> TestResult:
        """The points are the weighted share of what the checks earn, in hundredths.

        A check that holds and does not count in full says so in its message. Rounding never
        makes a failed check free: only when all hold are all points given.
        """
        total = sum(check.weight for check in checks)
        earned = worth(checks)
        passed = sum(check.weight * share for check, (share, _) in zip(checks, earned, strict=True))
        whole = bool(checks) and all(check.passed for check in checks)
        if not attempted or not checks:
            score = 0.0
        elif whole:
            score = float(points)
        else:
            score = min(int(100 * points * passed / total + 1e-9) / 100, points - 0.01)
        checks = _one_exception(checks)
        if attempted:
            checks = list(_noted(checks, earned))
        else:
            # A condition on a run that never was says nothing, whether it holds or not.
            checks = [replace(check, passed=False, attempted=False) for check in checks]
        status = "graded" if attempted else "not attempted"
        return cls(exercise, status, max(score, 0.0), float(points), tuple(checks))

    def to_dict(self) -> dict[str, Any]:
        """The record of a test cell as plain data (the metadata of its table)."""
        return {
            "exercise": self.exercise,
            "status": self.status,
            "score": self.score,
            "max": self.max,
            "checks": [check.to_dict() for check in self.checks],
        }
