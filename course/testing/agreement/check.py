"""The check behind `Check.agrees`: one request, one line of the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from course.serialization.received import Absent, Value
from course.testing.agreement import reference_cache
from course.testing.agreement.comparing import ASPECTS
from course.testing.agreement.judging import Judgement, expected_of, is_computed, judge
from course.testing.check_log import CheckLog
from course.testing.inputs.cases import Case
from course.testing.observe import Observation
from course.testing.recording import ErrorFacts
from course.testing.results import Failure
from course.testing.tolerance import Tolerance

__all__ = ["USUAL_ASPECTS", "Called", "agrees"]

USUAL_ASPECTS = ("values", "graph")


class Called(Protocol):
    """What is called for each case: an answer, or a probe with an answer as its first argument."""

    @property
    def name(self) -> str:
        """How messages call it."""

    def each(self, cases: Sequence[Case]) -> Observation:
        """Call it once for each case."""

    def standing_in(self, reference: Callable[..., Any]) -> Callable[..., Any]:
        """The function to call with a case, so that a reference stands in for the answer."""

    def watch(self, **options: bool) -> Called:
        """The same, recording more."""


def agrees(
    log: CheckLog,
    reference: Callable[..., Any],
    cases: Sequence[Case],
    called: Called,
    compare: Sequence[str],
    tolerance: Tolerance,
    how: dict[str, Any],
) -> None:
    """Record whether `called` gives for all cases what the reference gives.

    Raises ValueError for no cases, and for an aspect that is none of `ASPECTS`.
    """
    if not cases:
        raise ValueError("agrees() needs cases; `course.inputs` makes hostile ones")
    if unknown := [aspect for aspect in compare if aspect not in ASPECTS]:
        raise ValueError(f"agrees() compares {', '.join(ASPECTS)}; not {unknown[0]!r}")
    watched = called.watch(backward=True) if "gradients" in compare else called
    seen = watched.each(cases)
    name = f"`{called.name}` does what it should with {len(cases)} more inputs"
    lost = _lost(seen, called.name)
    if reference_cache.is_filling():
        expected_of(seen.asked, cases, called.standing_in, reference, "gradients" in compare)
    if lost is not None:
        log.record(lambda: None, name, how, [Value(lost)], right_share=0.0)
        return
    found = judge(seen, cases, called.standing_in, reference, compare, tolerance)
    beliefs, fits, evident = how.get("misconception"), None, False
    if isinstance(beliefs, Mapping):
        fits = found.belief(beliefs)
        how = {**how, "misconception": fits}
        evident = fits is not None and is_computed(beliefs[fits])
    # Without a result there are no gradients either: a belief about those alone is no sign.
    sure = fits and "values" in found.aspects
    about = [seen] if sure or not _wants_result(found) else [seen, seen.result]
    log.record(
        lambda: _failure(found),
        name,
        how,
        about,
        found.idle_ways(),
        ended=_ended(found),
        evident=evident,
        right_share=found.right_share,
    )


def _ended(found: Judgement) -> ErrorFacts | None:
    """The exception that ended every call that differs, where it was one and the same."""
    errors = [call.error for _, call in found.failed]
    told = {(one["type"], one["line"], one["source"]) if one else None for one in errors}
    first = errors[0] if errors else None
    if first is None or len(told) > 1:
        return None
    return ErrorFacts(first["type"], (), first["message"], first["line"], first["source"])


def _wants_result(found: Judgement) -> bool:
    """Whether it is about what calls return, and the reference returns anything."""
    about_results = any(aspect != "arguments" for aspect in found.aspects)
    return about_results and any(one.result is not None for one in found.expected)


def _lost(seen: Observation, name: str) -> Absent | None:
    """Why there is nothing to compare; None where there is."""
    if seen.error is not None:
        return Absent(seen.error.ended(name), seen.attempted, seen.error.fault)
    if not seen.attempted:
        return Absent(f"`{name}` is not written yet", attempted=False)
    errors = [one.node for one in seen.result["error"]]
    faults = (one for one in errors if isinstance(one, dict) and one.get("fault") is True)
    fault = next(faults, None)
    if fault is None:
        return None
    told = ErrorFacts(str(fault["type"]), (), str(fault["message"]), fault=True)
    return Absent(told.ended(name), fault=True)


def _failure(found: Judgement) -> Failure | None:
    if not found.differences:
        return None
    first = found.differences[0]
    words = f"{found.told}. First, with {first.case.kind}: {first.words or first.aspect}"
    return Failure(words, told=found.told)
