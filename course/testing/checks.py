"""Check: named comparisons of facts with what must hold, a table of them, and the points.

A check never raises: it records whether it holds and what to tell the learner. The line that it
is written on decides whether it is hidden, and `course.testing.points` what it is worth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import torch

from course.inspection.facts import TensorFacts, overlap, same_memory, same_storage
from course.serialization.received import Absent, AbsentError, Value, read_in_vain
from course.testing import attempts
from course.testing.agreement.check import USUAL_ASPECTS, Called, agrees
from course.testing.answers import handle
from course.testing.check_log import CheckLog, Subject
from course.testing.compare import (
    brief,
    difference,
    either,
    facts_of,
    is_other_kind,
    is_true,
    mutation,
    says,
    says_many,
    where_of,
)
from course.testing.inputs.cases import Case
from course.testing.nbgrader_validate import tell_validator
from course.testing.observe import Observation
from course.testing.points import GUARD, RAISING, idle_ways, said_again, same_everywhere
from course.testing.results import Failure, Points, TestResult
from course.testing.table import About, show_table
from course.testing.tolerance import ANY_KIND, Tolerance

__all__ = ["Check"]

_EARLY = 300  # characters of a message that may say what is wanted of it
Rtol = float | Mapping[torch.dtype, float]
# Of the facts of two tensors and what these are called: the failure, None where all is well.
_Relation = Callable[[TensorFacts, TensorFacts, str, str], Failure | None]


class Check:
    """Collects the checks of one test cell.

    Every method takes, beside its subjects: `name` (the check in words), `message` (cause and
    remedy, shown when it fails), `misconception` (the id of what the learner may believe, or a
    dict of ids, each with the value, exception or condition that it leads to), `weight`
    (its share of the points, 1 unless said otherwise) and `guard` (True: doing nothing passes it).

    Points are for the work. A check that an idle answer passes counts in full once half of the
    checks hold that this answer fails, and for less before. A guard is such a check for every
    idle answer: `unchanged`, `avoids`, `allocates`, `saves`, `silent` and `runs` are guards
    unless you say `guard=False`, and so is what says that an argument is as it was. Other checks
    find out by themselves which constants (None, True, False, 0, 1, [], an empty tensor, the
    argument, an error, a word that several checks expect) would pass them. What they cannot
    know is what a condition, or a probe's result, is for an idle answer: there say `guard=True`.

    Args:
        exercise: The name of the exercise, which the table of the checks bears.
    """

    def __init__(self, exercise: str) -> None:
        """Begin the checks of the exercise with this name."""
        self.exercise = exercise
        self._log = CheckLog(exercise)

    def result(self, points: float) -> TestResult:
        """The checks so far as a frozen record, with the points they give out of `points`."""
        return self._log.result(points)

    def score(self, points: float, **about: Any) -> float:
        """Show the table and return the points: all of them only when every check holds.

        `about` is what the table says beside its checks: the fields of `About`, among them `why`,
        one sentence on why they hold, and `hidden`, the kinds of things that hidden ones try.
        """
        result = self.result(points)
        attempts.note(result)
        show_table(result, About(**about))
        tell_validator(result)
        return Points(result.score)

    # -- values ---------------------------------------------------------------------------

    def equal(
        self,
        actual: Subject,
        expected: Subject,
        *,
        allow: str | tuple[str, ...] = (),
        **how: Any,
    ) -> None:
        """The values are equal: shape, dtype and every element, without tolerance.

        An int is an int and a tuple a tuple, unless `allow` says otherwise, for what a task's text
        leaves open: "int or float", "list or tuple", or both of them.
        """
        self._compare(actual, expected, Tolerance(allow=allow), "the values are right", how)

    def close(
        self,
        actual: Subject,
        expected: Subject,
        *,
        rounding: float = 1.0,
        rtol: Rtol | None = None,
        atol: float | None = None,
        precision: torch.dtype | None = None,
        allow: str | tuple[str, ...] = (),
        **how: Any,
    ) -> None:
        """The values are equal up to `rounding` times the usual rounding of the expected dtype.

        `precision` is the dtype that Python numbers were computed in, if not float64. `rtol` and
        `atol` say it by hand, `atol + rtol * |expected|`, where digits were typed; an `rtol` for
        each dtype is a share of the largest number. `allow` is that of `equal`.
        """
        tolerance = Tolerance(rounding, rtol, atol, precision, allow)
        self._compare(actual, expected, tolerance, "the values are right, up to rounding", how)

    def _compare(
        self, actual: Subject, expected: Subject, tolerance: Tolerance, name: str, how: Any
    ) -> None:
        def test() -> Failure | None:
            found = difference(actual, expected, tolerance)
            if found is None:
                return None
            words = f"{where_of(actual)}: {found}"
            other = isinstance(actual, Value) and is_other_kind(actual, expected)
            shown = brief(actual), brief(expected)
            return Failure(words, *shown, value=actual, other_kind=other)

        def idly(value: Any) -> bool:
            # Nor does it take work to say 0.0 for 0, or () for [].
            return same_everywhere(value, expected, replace(tolerance, allow=ANY_KIND.allow))

        ways = [*idle_ways(actual, idly), *said_again(expected)]
        self._log.record(test, name, how, [actual], ways)

    def that(self, condition: bool | Callable[[], Any], **how: Any) -> None:
        """A condition of the author's own; a callable is called, and an error in it fails it.

        It fails, too, where it read something that is not there: `plain is not None` holds of that.
        """
        read = None if callable(condition) else read_in_vain()  # while it was worked out

        def test() -> Failure | None:
            holds = condition() if callable(condition) else condition
            if not is_true(holds):
                return Failure("this does not hold")
            absent = read_in_vain() if callable(condition) else read
            if absent is not None:
                raise AbsentError(absent)
            return None

        self._log.record(test, "the condition holds", how, [])

    def agrees(
        self,
        reference: Callable[..., Any],
        cases: Sequence[Case],
        of: Called | None = None,
        compare: Sequence[str] = USUAL_ASPECTS,
        *,
        rounding: float = 0.0,
        rtol: Rtol | None = None,
        atol: float | None = None,
        precision: torch.dtype | None = None,
        allow: str | tuple[str, ...] = (),
        **how: Any,
    ) -> None:
        """The answer does for every case what a reference in the hidden part does.

        `cases` come from `course.inputs` or are your own, 40 or more. `of` is the answer, or a
        probe `through` one; left out, the answer named like the exercise. What is compared may be
        "values", "graph", "exact graph", "layout", "offset", "memory", "identity", "arguments" and
        "gradients", without tolerance, or up to `rounding` times the usual rounding of the
        expected dtype, and Python numbers of the coarsest dtype that they were computed from;
        `precision`, `rtol`, `atol` and `allow` are those of `close`. Where the reference raises,
        the same class of exception is wanted. Of several misconceptions each may
        be a wrong implementation, an exception class or kinds of input: the one is named that
        explains most of what differs.
        """
        called = handle(self.exercise.replace("-", "_")) if of is None else of
        tolerance = Tolerance(rounding, rtol, atol, precision, allow)
        agrees(self._log, reference, cases, called, compare, tolerance, how)

    # -- facts of one tensor --------------------------------------------------------------

    def shape(self, subject: Subject, expected: tuple[int, ...], **how: Any) -> None:
        """The tensor has this shape."""
        self._fact(subject, "shape", tuple(expected), "the shape is right", how)

    def dtype(self, subject: Subject, expected: torch.dtype, **how: Any) -> None:
        """The tensor has this dtype."""
        name = str(expected).removeprefix("torch.")
        self._fact(subject, "dtype", name, "the dtype is right", how)

    def contiguous(self, subject: Subject, **how: Any) -> None:
        """The tensor is contiguous."""
        self._fact(subject, "is_contiguous", True, "it is contiguous", how, layout=True)

    def requires_grad(self, subject: Subject, expected: bool = True, **how: Any) -> None:
        """The tensor requires grad, or does not."""
        self._fact(subject, "requires_grad", expected, "requires_grad is right", how)

    def leaf(self, subject: Subject, expected: bool = True, **how: Any) -> None:
        """The tensor is a leaf, or is not."""
        self._fact(subject, "is_leaf", expected, "is_leaf is right", how)

    def _fact(
        self, subject: Subject, fact: str, expected: Any, name: str, how: Any, layout: bool = False
    ) -> None:
        def test(subject: Subject = subject) -> Failure | None:
            seen = facts_of(subject)
            if isinstance(seen, Absent):
                return Failure(seen.reason)
            actual = getattr(seen, fact)
            if actual == expected:
                return None
            words = f"{where_of(subject)} has {fact} {actual}; {expected} was expected"
            shown = (seen,) if layout else ()
            return Failure(words, str(actual), str(expected), shown, actual)

        ways = idle_ways(subject, lambda value: test(value) is None)
        self._log.record(test, name, how, [subject], ways)

    # -- memory of two tensors --------------------------------------------------------------

    def shares_storage(self, a: Subject, b: Subject, **how: Any) -> None:
        """Both tensors live in one storage: nothing was copied."""
        self._pair(a, b, _unless_shared, "it lives in the same storage", how)

    def copies(self, a: Subject, b: Subject, **how: Any) -> None:
        """The tensors live in different storages: the elements were copied."""
        self._pair(a, b, _unless_copied, "it has a storage of its own", how)

    def disjoint(self, a: Subject, b: Subject, **how: Any) -> None:
        """The tensors have no byte of memory in common; they may share a storage."""
        self._pair(a, b, _unless_disjoint, "the two do not overlap in memory", how)

    def _pair(self, a: Subject, b: Subject, relation: _Relation, name: str, how: Any) -> None:
        names = where_of(a), where_of(b)

        def test(a: Subject = a) -> Failure | None:
            one, other = facts_of(a), facts_of(b)
            for seen in (one, other):
                if isinstance(seen, Absent):
                    return Failure(seen.reason)
            return relation(cast(TensorFacts, one), cast(TensorFacts, other), *names)

        ways = idle_ways(a, lambda value: test(value) is None)
        self._log.record(test, name, how, [a, b], ways)

    # -- what a run did ---------------------------------------------------------------------

    def runs(self, seen: Observation, **how: Any) -> None:
        """The call ended without an exception."""
        self._run(seen, lambda: None, "it runs without an error", how, GUARD)

    def raises(
        self,
        seen: Observation,
        error: type[BaseException],
        match: str = "",
        among: Iterable[str] = (),
        **how: Any,
    ) -> None:
        """The call raised this class of exception, and its message says `match`.

        It says that early, in its first 300 characters, and does not say the same of many other
        numbers. Of the other possibilities `among` which the answer has to choose it names none.
        """
        wanted = f"{error.__module__}.{error.__qualname__}"
        others = [one for one in among if one != match]

        def test() -> Failure | None:
            expected = error.__name__ + (f" mentioning {match!r}" if match else "")
            if seen.error is None:
                return Failure(f"`{seen.name}` raised nothing", "no error", expected)
            words = f"`{seen.name}` ended with {seen.error}"
            early = seen.error.message[:_EARLY]  # or a message could list whatever may be right
            if wanted not in seen.error.bases or not says(early, match):
                return Failure(words, str(seen.error), expected)
            if says_many(early, match) or any(says(seen.error.message, one) for one in others):
                more = f"{expected}, and nothing else of the kind"
                return Failure(f"{words}, which names more than one", str(seen.error), more)
            return None

        # A message that several checks ask for is no work to find, as a word is not.
        ways = (f"raising {error.__name__} with {match!r}" if match else RAISING,)
        name = f"it raises {error.__name__}"
        self._log.record(test, name, how, [seen], ways, error_is_fine=True)

    def unchanged(self, seen: Observation, index: int | str | None = None, **how: Any) -> None:
        """The call left its arguments (or one of them) as they were, elements and layout."""

        def test() -> Failure | None:
            found = mutation(seen, index)
            return None if found is None else Failure(found)

        self._run(seen, test, "the arguments are left unchanged", how, GUARD)

    def uses(self, seen: Observation, *names: str, **how: Any) -> None:
        """One of these torch functions ("reshape") or operators ("aten::clone") was called."""

        def test() -> Failure | None:
            if any(seen.calls(name) for name in names):
                return None
            return Failure(f"`{seen.name}` never calls {either(names)}")

        self._run(seen, test, f"it uses {either(names)}", how)

    def avoids(self, seen: Observation, *names: str, **how: Any) -> None:
        """None of these torch functions ("reshape") or operators ("aten::clone") was called."""

        def test() -> Failure | None:
            found = [name for name in names if seen.calls(name)]
            if found:
                return Failure(f"`{seen.name}` calls {either(found)}")
            return _unseen(seen)

        self._run(seen, test, f"it does not use {either(names)}", how, GUARD)

    def allocates(self, seen: Observation, at_most: int = 0, **how: Any) -> None:
        """Operators created at most this many bytes of new storages, temporaries included."""

        def test() -> Failure | None:
            if seen.new_nbytes <= at_most:
                return _unseen(seen)
            words = f"`{seen.name}` made {seen.new_nbytes} bytes of new storages"
            return Failure(words, f"{seen.new_nbytes} bytes", f"at most {at_most} bytes")

        name = "it allocates nothing" if at_most == 0 else f"it allocates at most {at_most} bytes"
        self._run(seen, test, name, how, GUARD, hidden_name="it allocates no more than it may")

    def saves(self, seen: Observation, at_most: int, **how: Any) -> None:
        """The graph behind the result keeps at most this many bytes for backward."""

        def test() -> Failure | None:
            if seen.saved_nbytes <= at_most:
                return None
            words = f"the graph of `{seen.name}` keeps {seen.saved_nbytes} bytes for backward"
            return Failure(words, f"{seen.saved_nbytes} bytes", f"at most {at_most} bytes")

        name = f"it keeps at most {at_most} bytes for backward"
        hidden_name = "it keeps no more for backward than it may"
        self._run(seen, test, name, how, GUARD, hidden_name=hidden_name)

    def silent(self, seen: Observation, **how: Any) -> None:
        """The call printed nothing and warned of nothing."""

        def test() -> Failure | None:
            if seen.printed_count:
                return Failure(f"`{seen.name}` printed {seen.printed_count} characters")
            return (
                Failure(f"`{seen.name}` warned: {seen.warnings[0][1]}") if seen.warnings else None
            )

        self._run(seen, test, "it prints nothing and does not warn", how, GUARD)

    def _run(
        self,
        seen: Observation,
        test: Callable[[], Failure | None],
        name: str,
        how: Any,
        *ways: str,
        hidden_name: str = "",
    ) -> None:
        self._log.record(test, name, how, [seen], ways, hidden_name=hidden_name)


def _unseen(seen: Observation) -> Failure | None:
    reason = seen.out_of_sight()
    return None if reason is None else Failure(reason)


def _unless_shared(one: TensorFacts, other: TensorFacts, a: str, b: str) -> Failure | None:
    """Both live in one storage."""
    if same_storage(one, other):
        return None
    words = (
        f"{a} has its own storage ({one.storage_nbytes} bytes) and not that of {b}: "
        "the elements were copied"
    )
    return Failure(words, "another storage", "the same storage", (one, other))


def _unless_copied(one: TensorFacts, other: TensorFacts, a: str, b: str) -> Failure | None:
    """They live in different storages, which lie over different memory."""
    if not same_memory(one, other):
        return None
    same = "storage" if same_storage(one, other) else "memory"
    words = f"{a} still lives in the {same} of {b}"
    return Failure(words, f"the same {same}", "a storage of its own", (one, other))


def _unless_disjoint(one: TensorFacts, other: TensorFacts, a: str, b: str) -> Failure | None:
    """They have no byte of memory in common."""
    if not overlap(one, other):
        return None
    words = f"{a} and {b} have elements of memory in common"
    return Failure(words, "a common element", "no common element", (one, other))
