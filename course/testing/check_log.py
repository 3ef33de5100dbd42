"""The log of a test cell's checks: what each came to, and the points of all together."""

from __future__ import annotations

import dis
import math
import re
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from types import FunctionType
from typing import Any

import torch

from course.inspection.error_origin import is_misspelt
from course.inspection.global_state import RANDOM_STATE
from course.serialization.received import (
    Absent,
    AbsentError,
    Handle,
    SeenTensor,
    Value,
    as_node,
    looking,
    take_missed,
)
from course.testing import answers
from course.testing.answers import Call, CallOutcome
from course.testing.compare import brief, difference
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
        self._evident: set[int] = set()  # and of those that what came back shows
        self._since = len(answers.outcomes())
        self._told: set[Any] = set()  # the exceptions that a line of the table has told
        take_missed()  # what another cell looked at in vain

    def record(
        self,
        test: Callable[[], Failure | None],
        name: str,
        how: dict[str, Any],
        subjects: list[Subject],
        ways: Iterable[str] = (),
        error_is_fine: bool = False,
        ended: ErrorFacts | None = None,
        evident: bool = False,
        right_share: float | None = None,
        hidden_name: str = "",
    ) -> None:
        """Run one check and keep its result.

        `how` is what the author said of it: name, message, misconception, weight, guard. It is not
        tried where one of its `subjects` is absent, or ended in an exception unless
        `error_is_fine`. `ways` are those to pass it without work; `ended` is the exception that
        ended everything it compares; `evident` says that what came back is what the misconception
        predicts; `right_share` is how much of a comparison of many cases came out right;
        `hidden_name` takes the place of a `name` that would tell what is expected. Raises
        TypeError where `how` holds anything else, ValueError for a weight below 0.

        An exception is told once: a check that it took, after another one has told of it, was not
        reached, unless the exception shows what its author believes.
        """
        _refuse_unknown(how)
        missed = take_missed()  # while the arguments of the check were worked out
        lost = absent = _lost(subjects, error_is_fine)
        looked = list[Value]()
        try:
            failure = _tested(test, looked) if absent is None else Failure(absent.reason)
        except AbsentError as error:  # a condition met it: what it shows is the author's to say
            absent = error.absent
            failure = Failure(absent.reason)
        suspected = None
        later = take_missed()
        missed = later if missed is None else missed
        fault = absent is not None and absent.fault  # that shows nothing of what a learner believes
        gone = missed if absent is None else absent
        attempted = absent is None or absent.attempted
        named = how.get("misconception")
        belief = None if fault else _which(named, failure, lost)
        hidden = answers.is_hidden(sys._getframe(1))
        by_class = belief is not None and isinstance(named, dict) and _is_exception(named[belief])
        if by_class:  # the exception itself is what the belief leads to
            self._proven.add(len(self._results))
        if belief is not None and (evident or _is_shown(named, belief)):
            self._evident.add(len(self._results))
        elif failure is not None and failure.other_kind:
            belief, suspected = None, belief
        raised_by = ended or (None if fault or gone is None else self._error_behind(gone.reason))
        told_before = raised_by is not None and failure and attempted and self._was_told(raised_by)
        told = bool(told_before) and not by_class
        # What the author says is about what came back, and of an exception nothing came back.
        told_by_author = absent is None and not (failure and failure.other_kind and belief is None)
        if failure and absent is None and missed is not None and raised_by is not None:
            failure = replace(failure, words=f"{failure.words}: {missed.reason}")
            told_by_author = False
        self._subjects.append([] if belief and isinstance(named, dict) else subjects)
        self._results.append(
            CheckResult.of(
                failure,
                name=how.get("name") or (hidden_name if hidden else "") or name,
                message=how.get("message"),
                misconception=belief,
                weight=float(how.get("weight", 1.0)),
                attempted=attempted,
                hidden=hidden,
                shown=_asks_what_is_shown([*subjects, *looked]),
                explain=told_by_author,
                idle_ways=_guarded(frozenset(ways), how.get("guard")),
                reached=not told,
                call=None if hidden else self._call_behind(absent) or _call_of(failure, subjects),
                suspected=suspected,
                right_share=right_share,
            )
        )
        take_missed()  # what a belief's condition looked at is nothing to the next check

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
        checks = _with_the_likeliest(checks, self._evident)
        return TestResult.of(self.exercise, checks, points, attempted)


def _with_the_likeliest(
    checks: Sequence[CheckResult], evident: Collection[int]
) -> list[CheckResult]:
    """The checks, with the one belief that has the best evidence; where two have it, with none.

    What came back weighs more than that a check failed, which may have many reasons.
    """
    failed = [(n, one.misconception) for n, one in enumerate(checks) if not one.passed]
    shown = {belief for n, belief in failed if belief is not None and n in evident}
    named = shown or {belief for _, belief in failed if belief is not None}
    told = next(iter(named)) if len(named) == 1 else None
    return [
        one
        if one.passed or one.misconception == told
        else replace(one, misconception=None, suspected=one.misconception or one.suspected)
        for one in checks
    ]


def _is_shown(named: Any, belief: str) -> bool:
    """Whether a misconception says what it leads to: a value, an exception, or a condition.

    `lambda: True` and `lambda: seen.ok` look at nothing that came back.
    """
    if not isinstance(named, dict):
        return False
    condition = named[belief]
    if not isinstance(condition, FunctionType):
        return True
    return any(
        one.opname.startswith(_LOOKS) or (one.opname.startswith(_READS) and one.argval != "ok")
        for one in dis.get_instructions(condition)
    )


def _refuse_unknown(how: dict[str, Any]) -> None:
    unknown = how.keys() - {*_KNOWN}
    if unknown:
        raise TypeError(f"a check takes {', '.join(_KNOWN)}; not {unknown}")
    if not 0 <= float(how.get("weight", 1.0)) < math.inf:
        raise ValueError(f"a check weighs 0 or more, not {how['weight']}")


def _mostly_misspelt(outcomes: Iterable[CallOutcome]) -> bool:
    """Whether more than half of what ran the answers ended for a name that does not exist."""
    ran = [one.misspelt for one in outcomes if one.side_effects is not None and one.attempted]
    return sum(ran) > len(ran) / 2


_READS = ("LOAD_ATTR", "LOAD_METHOD")
_LOOKS = ("BINARY_", "CALL", "COMPARE_OP", "CONTAINS_OP", "IS_OP")
_TOLD = re.compile(r"`[^`]+` ended with (\w+)(?:: (.*?))?(?: \(line \d+: `.*`\))?$", re.DOTALL)
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
    if _is_exception(leads_to):
        return lost is not None and _ended_so(leads_to, lost.reason)
    if lost is not None:
        return False
    if isinstance(leads_to, FunctionType):
        with suppress(AbsentError):
            return _tested(lambda: None if leads_to() else Failure("no"), []) is None
        return False
    return difference(failure.value, leads_to) is None


def _is_exception(leads_to: Any) -> bool:
    """Whether a misconception leads to an exception: a class, or one with part of a message."""
    is_class = isinstance(leads_to, type) and issubclass(leads_to, BaseException)
    return is_class or isinstance(leads_to, BaseException)


def _ended_so(leads_to: type[BaseException] | BaseException, reason: str) -> bool:
    """Whether a message tells of this exception.

    A name that does not exist is a slip of the pen: it shows a belief only where the belief says
    which name that is.
    """
    found = _TOLD.match(reason)
    kind, message = (found[1], found[2] or "") if found is not None else ("", "")
    if isinstance(leads_to, BaseException):
        return kind == type(leads_to).__name__ and str(leads_to) in message
    return kind == leads_to.__name__ and not is_misspelt(kind, message)


def _tested(test: Callable[[], Failure | None], looked: list[Value]) -> Failure | None:
    """What a test finds; the values that it has looked at are `looked` afterwards."""
    with looking(looked):
        try:
            failure = test()
        except AbsentError:
            raise
        except Exception as error:
            return _not_of_the_kind(error, looked)
    if failure is None or not looked or failure.actual is not None or failure.call is not None:
        return failure
    only = {one.where for one in looked if as_node(one) is not None}
    return replace(
        failure,
        actual=brief(looked[-1]) if len(only) == 1 else None,
        call=looked[-1].call,
    )


def _not_of_the_kind(error: Exception, looked: Sequence[Value]) -> Failure:
    """Why a condition ended in an exception: what it last looked at is not what it takes."""
    why = f"{type(error).__name__}: {str(error)[:300]}"
    if not looked:
        return Failure(f"this could not be checked: {why}", other_kind=True)
    last = looked[-1]
    words = f"{last.where} is {_kind_of(last)}, which isn't what the check expects here ({why})"
    return Failure(words, brief(last), call=last.call, other_kind=True)


def _kind_of(value: Value) -> str:
    """What kind of thing a value is, as a learner would say it."""
    match as_node(value):
        case None:
            return "None"
        case SeenTensor() | torch.Tensor():
            return "a tensor"
        case Handle() as handle:
            return f"a live {handle.kind}"
        case bool() | float() | complex() | str() | list() | tuple() | set() | dict() as plain:
            return f"a {type(plain).__name__}"
        case int():
            return "an int"
    return "another kind of object"


def _call_of(failure: Failure | None, subjects: Sequence[Subject]) -> str | None:
    """The call that led to a failure, as code."""
    if failure is None:
        return None
    known = (one.call for one in subjects if isinstance(one, Value | Observation))
    call = failure.call or next((one for one in known if one is not None), None)
    return None if call is None else call()


def _asks_what_is_shown(about: Iterable[Subject]) -> bool:
    """Whether all that a check is about comes from calls that a visible line makes, too."""
    known = [one.call for one in about if isinstance(one, Value | Observation)]
    return bool(known) and all(isinstance(one, Call) and one.shown for one in known)


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
