"""The log of a test cell's checks: what each came to, and the points of all together."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from types import FunctionType
from typing import Any

from course.hidden_lines import called_from_hidden_part
from course.inspection.global_state import RANDOM_STATE
from course.serialization.received import Absent, AbsentError, Value, as_node, take_missed
from course.testing import answers
from course.testing.answers import CallOutcome
from course.testing.compare import difference
from course.testing.observe import Observation
from course.testing.points import GUARD
from course.testing.recording import ErrorFacts
from course.testing.results import CheckResult, Failure, TestResult

__all__ = ["CheckLog", "Subject"]

Subject = Any
_KNOWN = ("name", "message", "misconception", "weight", "guard")


class CheckLog:
    """The results of one test cell so far, and the points that they give."""

    def __init__(self, exercise: str) -> None:
        self.exercise = exercise
        self._results: list[CheckResult] = []
        self._subjects: list[list[Subject]] = []  # of each, where no belief fits it exactly
        self._proven: set[int] = set()  # the positions of beliefs that an exception shows
        self._since = len(answers.outcomes())
        self._told: set[Any] = set()  # the exceptions that a line of the table has told

    def record(
        self,
        test: Callable[[], Failure | None],
        name: str,
        how: dict[str, Any],
        subjects: list[Subject],
        ways: Iterable[str] = (),
        error_is_fine: bool = False,
        ended: ErrorFacts | None = None,
    ) -> None:
        """Run one check and keep its result.

        `how` is what the author said of it: name, message, misconception, weight, guard. It is
        not tried where one of its `subjects` is absent, or ended in an exception unless
        `error_is_fine`. `ways` are those to pass it without work; `ended` is the exception that
        ended everything it compares. Raises TypeError where `how` holds anything else.

        An exception is told once: a check that it took, after another one has told of it, was not
        reached, unless the exception shows what its author believes.
        """
        _refuse_unknown(how)
        missed = take_missed()  # while the arguments of the check were worked out
        lost = absent = _lost(subjects, error_is_fine)
        try:
            failure = _tested(test) if absent is None else Failure(absent.reason)
        except AbsentError as error:  # a condition met it: what it shows is the author's to say
            absent = error.absent
            failure = Failure(absent.reason)
        later = take_missed()
        missed = later if missed is None else missed
        fault = absent is not None and absent.fault  # that shows nothing of what a learner believes
        gone = missed if absent is None else absent
        attempted = absent is None or absent.attempted
        named = how.get("misconception")
        belief = None if fault else _which(named, failure, lost)
        by_class = (
            belief is not None and isinstance(named, dict) and isinstance(named[belief], type)
        )
        if by_class:  # the exception itself is what the belief leads to
            self._proven.add(len(self._results))
        raised_by = ended or (None if fault or gone is None else self._error_behind(gone.reason))
        failed = failure is not None and attempted and not by_class
        told = failed and raised_by is not None and self._was_told(raised_by)
        if failure and absent is None and missed is not None and raised_by is not None:
            failure = replace(failure, words=f"{failure.words}: {missed.reason}")
        self._subjects.append([] if belief and isinstance(named, dict) else subjects)
        self._results.append(
            CheckResult.of(
                failure,
                name=how.get("name") or name,
                message=how.get("message"),
                misconception=belief,
                weight=float(how.get("weight", 1.0)),
                attempted=attempted,
                hidden=called_from_hidden_part(sys._getframe(1)),
                explain=absent is None,
                idle_ways=_guarded(frozenset(ways), how.get("guard")),
                reached=not told,
                call=self._call_behind(absent),
            )
        )

    def _outcomes(self) -> list[CallOutcome]:
        return answers.outcomes()[self._since :]

    def _error_behind(self, reason: str) -> ErrorFacts | str | None:
        """The exception that this reason tells of; the reason itself where no call has it."""
        ended = (one.error for one in self._outcomes() if _tells(reason, one))
        return next(ended, None) or (reason if _ENDED.match(reason) else None)

    def _call_behind(self, absent: Absent | None) -> str | None:
        """The call that ended in an exception, as code."""
        if absent is None or absent.fault:
            return None
        return next((one.call for one in self._outcomes() if _tells(absent.reason, one)), None)

    def _was_told(self, error: ErrorFacts | str) -> bool:
        """Whether a check before has told of this exception, of its class in this line."""
        key: Any = error
        if isinstance(error, ErrorFacts):
            key = (error.type, error.line, error.source or error.message)
        if key in self._told:
            return True
        self._told.add(key)
        return False

    def result(self, points: float) -> TestResult:
        """The checks so far as a frozen record, with the points they give out of `points`."""
        outcomes = self._outcomes()
        attempted = not outcomes or any(outcome.attempted for outcome in outcomes)
        silent = _without_result(outcomes)
        about = zip(self._results, self._subjects, strict=True)
        checks = [_missing_return(*one, silent) for one in about]
        checks += _invariants(outcomes)
        if _mostly_misspelt(outcomes):
            kept = self._proven
            checks = [
                one if one.passed or n in kept else replace(one, misconception=None)
                for n, one in enumerate(checks)
            ]
        return TestResult.of(self.exercise, checks, points, attempted)


def _refuse_unknown(how: dict[str, Any]) -> None:
    unknown = how.keys() - {*_KNOWN}
    if unknown:
        raise TypeError(f"a check takes {', '.join(_KNOWN)}; not {unknown}")


def _mostly_misspelt(outcomes: Iterable[CallOutcome]) -> bool:
    """Whether more than half of what ran the answers ended for a name that does not exist."""
    ran = [one.misspelt for one in outcomes if one.side_effects is not None and one.attempted]
    return sum(ran) > len(ran) / 2


_ENDED = re.compile(r"(?:`[^`]+` ended with|backward failed:) (\w+)")


def _tells(reason: str, one: CallOutcome) -> bool:
    """Whether this is how a message tells of the exception that ended a call."""
    return one.error is not None and one.error.ended(one.name) == reason


def _without_result(outcomes: Sequence[CallOutcome]) -> set[str]:
    """The answers that were called and gave None each time."""
    called = [one for one in outcomes if one.returned is not None]
    return {one.name for one in called} - {one.name for one in called if one.returned}


def _missing_return(check: CheckResult, subjects: list[Subject], silent: set[str]) -> CheckResult:
    """The check; where it fails for want of any result, it shows nothing of what one believes."""
    names = [name for one in subjects for name in silent if _is_result_of(name, one)]
    if check.passed or not names:
        return check
    message = f"`{names[0]}` gives None each time it is called. Is there a `return` missing?"
    return replace(check, misconception=None, message=message)


def _is_result_of(name: str, subject: Subject) -> bool:
    return isinstance(subject, Value) and subject.where.startswith(f"the result of `{name}`")


def _invariants(outcomes: Sequence[CallOutcome]) -> Iterator[CheckResult]:
    """One check for all calls of answers: that nothing else was changed."""
    asked = [outcome for outcome in outcomes if outcome.side_effects is not None]
    if not asked:
        return
    found = [(effect, one) for one in asked for effect in one.side_effects or ()]
    failure, misconception = None, None
    if found:
        effect, one = found[0]
        failure = Failure(f"{effect.words}. {_LEAVE.get(effect.kind, _RESTORE)}")
        named = one.misconception
        misconception = named if isinstance(named, str | None) else named.get(effect.kind)
    yield CheckResult.of(
        failure,
        name="it leaves everything else as it was",
        message=None,
        misconception=misconception,
        weight=1.0,
        attempted=any(one.attempted for one in asked),
        hidden=False,
        explain=True,
        idle_ways=frozenset({GUARD}),
    )


_RESTORE = "Put it back before you return, or use a `with` block that does."
_LEAVE = {
    "arguments": "What the caller passed belongs to the caller: work on something of your own.",
    RANDOM_STATE: "Draw from a `torch.Generator` of your own, or do not draw at all.",
    "hooks": "Remove what you registered, also after an error.",
}


def _guarded(ways: frozenset[str], guard: bool | None) -> frozenset[str]:
    """The idle ways of a check, as its author corrects them."""
    return ways if guard is None else ways | {GUARD} if guard else ways - {GUARD}


def _which(
    named: str | dict[str, Any] | None, failure: Failure | None, lost: Absent | None
) -> str | None:
    """The misconception that a failure shows: the one named, or the one that it fits.

    A dict names several, each with what it leads to: a value, an exception class, or a
    condition to call. The first that fits is meant; none may fit.
    """
    if not isinstance(named, dict):
        return named
    if failure is None:
        return next(iter(named), None)
    for name, leads_to in named.items():
        if _fits(leads_to, failure, lost):
            return name
    return None


def _fits(leads_to: Any, failure: Failure, lost: Absent | None) -> bool:
    if isinstance(leads_to, type) and issubclass(leads_to, BaseException):
        return lost is not None and f"ended with {leads_to.__name__}" in lost.reason
    if lost is not None:
        return False
    if isinstance(leads_to, FunctionType):
        with suppress(AbsentError):
            return _tested(lambda: None if leads_to() else Failure("no")) is None
        return False
    return difference(failure.value, leads_to) is None


def _tested(test: Callable[[], Failure | None]) -> Failure | None:
    try:
        return test()
    except AbsentError:
        raise
    except Exception as error:
        return Failure(f"this could not be checked: {type(error).__name__}: {str(error)[:300]}")


def _lost(subjects: list[Subject], error_is_fine: bool) -> Absent | None:
    """Why a subject is not there to be checked."""
    for subject in subjects:
        if isinstance(subject, Observation):
            error = subject.error
            is_fine = error_is_fine and subject.attempted and error is not None and not error.fault
            if error is not None and not is_fine:
                return Absent(error.ended(subject.name), subject.attempted, error.fault)
        elif isinstance(as_node(subject), Absent):
            return as_node(subject)
    return None
