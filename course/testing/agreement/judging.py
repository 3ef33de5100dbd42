"""Holding an answer against a reference over many cases: what differs, and which belief it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import FunctionType
from typing import Any

import torch

from course.serialization.received import Deferred
from course.testing.agreement import reference_cache
from course.testing.agreement.comparing import Call, Difference, Expected, nearly_right
from course.testing.agreement.comparing import first_difference as _first_difference
from course.testing.agreement.copying import copied
from course.testing.agreement.running import run_cases
from course.testing.compare import difference
from course.testing.inputs.cases import Case, columns
from course.testing.observe import Observation
from course.testing.points import CONSTANTS, RAISING, SELF
from course.testing.tolerance import ANY_KIND, Tolerance

__all__ = ["Judgement", "expected_of", "is_computed", "judge"]

_MOST_TOLD = 4
_MOST_TRIED = 16  # of the differing cases; all of them decide between likely beliefs
_FIRST_TRIED = 4  # of these: a belief that explains none of them is not looked at any further
StandingIn = Callable[[Callable[..., Any]], Callable[..., Any]]
_Failed = list[tuple[Case, Call]]


@dataclass(frozen=True)
class Judgement:
    """The cases, the calls of the answer, and where these differ from the reference's."""

    cases: Sequence[Case]
    calls: Sequence[Call]
    expected: Sequence[Expected]
    differences: Sequence[Difference]
    aspects: Sequence[str]
    tolerance: Tolerance
    standing_in: StandingIn

    @property
    def attempted(self) -> bool:
        """Whether any call did more than the exercise's stub."""
        return any(call.attempted for call in self.calls)

    @property
    def told(self) -> str:
        """For which kinds of input it differs, and in what; no values."""
        kinds: dict[str, str] = {}
        for one in self.differences:
            kinds.setdefault(one.case.kind, one.aspect)
        shown = [f"{kind}: {aspect}" for kind, aspect in list(kinds.items())[:_MOST_TOLD]]
        more = len(kinds) - len(shown)
        also = [f"{more} more kinds of input"] if more else []
        return "Not as it should be with " + "; ".join(shown + also)

    def belief(self, beliefs: Mapping[str, Any]) -> str | None:
        """The belief that most of the differences show; None where none fits the most.

        A belief is a wrong implementation, whose results the answer then gives, or an exception
        class that ends it, or one or several kinds of input that it fails for. Of a list with
        several implementations or classes the best one counts.
        """
        if not self.differences:
            return next(iter(beliefs), None)
        failed = self.failed
        tried = min(len(failed), _MOST_TRIED)
        some = [failed[len(failed) * n // tried] for n in range(tried)]
        first = some[:: max(1, tried // _FIRST_TRIED)]
        shares = {
            name: self._share(one, some)
            for name, one in beliefs.items()
            if self._share(one, first) > 0
        }
        likely = [name for name, share in shares.items() if share > 0.25]
        sure = len(likely) == 1 and shares[likely[0]] > 0.75
        if tried < len(failed) and not sure:
            shares = {name: self._share(beliefs[name], failed) for name in likely}
        best = max(likely, key=lambda name: shares[name], default=None)
        return best if best is not None and shares[best] > 0.5 else None

    def _share(self, belief: Any, failed: _Failed) -> float:
        """The share of these calls that a belief explains."""
        if isinstance(belief, type) and issubclass(belief, BaseException):
            return _counted(
                failed,
                lambda _, call: call.error is not None and call.error["type"] == belief.__name__,
            )
        if isinstance(belief, FunctionType):
            return self._explained_by(belief, failed)
        several = [belief] if isinstance(belief, str) else list(belief)
        kinds = {one for one in several if isinstance(one, str)}
        shares = [self._share(one, failed) for one in several if not isinstance(one, str)]
        shares.append(_counted(failed, lambda case, _: case.kind in kinds))
        return max(shares)

    def _explained_by(self, wrong: Callable[..., Any], failed: _Failed) -> float:
        same = self._gave_the_same.setdefault(id(wrong), {})
        new = [(case, call) for case, call in failed if id(case) not in same]
        cases = [case for case, _ in new]
        gradients = "gradients" in self.aspects
        gives = _expected(self.standing_in(wrong), cases, gradients) if cases else []
        for (case, call), one in zip(new, gives, strict=True):
            found = _first_difference(case, call, one, self.aspects, self.tolerance)
            same[id(case)] = found is None
        return sum(same[id(case)] for case, _ in failed) / len(failed)

    @cached_property
    def _gave_the_same(self) -> dict[int, dict[int, bool]]:
        """For a wrong implementation, by its id: whether it gives what the answer gave in a case.

        To look for the belief takes longer than all else where an answer is wrong.
        """
        return {}

    @cached_property
    def failed(self) -> _Failed:
        """The cases that differ, each with its call."""
        failing = {id(one.case) for one in self.differences}
        pairs = zip(self.cases, self.calls, strict=True)
        return [(case, call) for case, call in pairs if id(case) in failing]

    @property
    def right_share(self) -> float | None:
        """How many of the cases come out right, as a share: of those that no single result fits.

        Whichever one result fits several cases, it takes no work to give it always, nor to give
        an argument back: the share is that of the other cases, and of all these shares the
        smallest. None where an idle answer is right everywhere, or nothing but what hangs on a
        result is compared, which tells nothing.
        """
        if {"values", "arguments"}.isdisjoint(self.aspects):
            return None
        differ = {id(one.case) for one in self.differences}
        if not differ and not any(self.idle_ways()):
            return 1.0
        alike = self._alike()
        if max(map(len, alike)) == len(self.cases):  # then the work is all that hangs on it
            return 1 - len(differ) / len(self.cases) if differ else None
        right = [
            id(case) not in differ or nearly_right(call, one, self.aspects)
            for case, call, one in zip(self.cases, self.calls, self.expected, strict=True)
        ]
        beside = [[one for n, one in enumerate(right) if n not in those] for those in alike]
        return min(sum(some) / len(some) for some in beside)

    def _alike(self) -> list[set[int]]:
        """The numbers of the cases that one idle answer is right for, for each such answer."""
        by_result: dict[str, set[int]] = {}
        for n, one in enumerate(self.expected):
            ended = one.error and one.error["type"]
            left = one.args if "arguments" in self.aspects else ()
            by_result.setdefault(repr((ended, _contents([one.result, left]))), set()).add(n)
        given: dict[int, set[int]] = {0: set()}  # by the place of the argument
        for n, (case, one) in enumerate(zip(self.cases, self.expected, strict=True)):
            for place, argument in enumerate(case.args if one.error is None else ()):
                if difference(argument, one.result, ANY_KIND) is None:
                    given.setdefault(place, set()).add(n)
        return [*by_result.values(), *given.values()]

    def idle_ways(self) -> Iterator[str]:
        """The ways in which an answer without work would agree everywhere."""
        results = [one.result for one in self.expected if one.error is None]
        if not results:
            yield RAISING
            return
        for name, value in CONSTANTS.items():
            if all(difference(value, one, ANY_KIND) is None for one in results):
                yield f"returning {name}"
        if len(results) == len(self.expected) and all(
            case.args and difference(case.args[0], one) is None
            for case, one in zip(self.cases, results, strict=True)
        ):
            yield SELF


def _contents(value: Any) -> Any:
    """What a value is known again by, as text: of tensors their kind, shape and elements.

    A tensor's own text takes twenty times as long, and leaves out digits and elements.
    """
    if isinstance(value, torch.Tensor) and value.layout is torch.strided and value.is_cpu:
        return str(value.dtype), tuple(value.shape), value.tolist()
    if type(value) is list or type(value) is tuple:
        return type(value)(map(_contents, value))
    if type(value) is dict:
        return {key: _contents(one) for key, one in value.items()}
    return value


def is_computed(belief: Any) -> bool:
    """Whether a belief says what comes back, and not only for which inputs it goes wrong."""
    if isinstance(belief, str):
        return False
    return callable(belief) or any(callable(one) for one in belief)


def _counted(failed: _Failed, fits: Callable[[Case, Call], bool]) -> float:
    return sum(fits(case, call) for case, call in failed) / len(failed)


def judge(
    seen: Observation,
    cases: Sequence[Case],
    standing_in: StandingIn,
    reference: Callable[..., Any],
    aspects: Sequence[str],
    tolerance: Tolerance,
) -> Judgement:
    """Hold what came back for the cases against what the reference gives for copies of them."""
    calls = _calls(seen, len(cases))
    expected = expected_of(seen.asked, cases, standing_in, reference, "gradients" in aspects)
    found = (
        _first_difference(case, call, one, aspects, tolerance)
        for case, call, one in zip(cases, calls, expected, strict=True)
    )
    differences = [one for one in found if one is not None]
    return Judgement(cases, calls, expected, differences, aspects, tolerance, standing_in)


def expected_of(
    asked: bytes,
    cases: Sequence[Case],
    standing_in: StandingIn,
    reference: Callable[..., Any],
    gradients: bool,
) -> list[Expected]:
    """What the reference gives for copies of the cases, which a request with this digest holds."""

    def compute() -> list[Expected]:
        return _expected(standing_in(reference), cases, gradients)

    return reference_cache.expected(asked, reference, (gradients,), compute)


def _calls(seen: Observation, count: int) -> list[Call]:
    """The calls of the answer, one for each case; what is not there is absent in each."""

    def column(name: str) -> list[Any]:
        found = seen.result[name]
        if isinstance(found.node, list) and len(found.node) == count:
            return found.node
        return [found[index].node for index in range(count)]

    errors = [one if isinstance(one, dict) else None for one in column("error")]
    after = Deferred(lambda: seen.args_after[0].node, "the changed argument")
    each = zip(column("result"), column("same"), errors, column("grads"), strict=True)
    return [Call(*one, after, index) for index, one in enumerate(each)]


def _expected(
    reference: Callable[..., Any], cases: Sequence[Case], gradients: bool
) -> list[Expected]:
    """What a function gives for copies of the cases, laid out as they are."""
    with torch.random.fork_rng(devices=()):
        copies = copied(columns(cases))
        outcomes = run_cases(reference, copies, gradients)
    named = copies["kwargs"] or [{} for _ in cases]
    each = zip(*outcomes.values(), copies["args"], named, strict=True)
    return [Expected(*one) for one in each]
