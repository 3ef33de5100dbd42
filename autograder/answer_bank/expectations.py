"""What one tried answer came to, held against what it must come to.

Pure decisions: a case and the result of its run go in, the reason of a miss comes out.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from autograder.answer_bank.constant_answers import MOST_SHARE
from autograder.answer_bank.notebook_runner import AnswerRunResult
from autograder.lessons.lint.thresholds import LEAST_CHECKS, LEAST_HIDDEN
from autograder.lessons.lint.travel import defined_names
from autograder.lessons.model import Exercise, Lesson
from autograder.lessons.regions import without_markers
from autograder.records.model import UNJUDGED, ExerciseRecord

Kind = Literal["right", "wrong", "stub", "solution", "same", "constant", "mutant"]


@dataclass(frozen=True)
class Case:
    """One answer to be tried, and what it must come to.

    A constant that is `excused` may get any points: the bank says why. The `first` of an exercise's
    wrong answers has its main misconception, so a learner has to see it fail.
    """

    lesson: Lesson
    exercise: Exercise
    kind: Kind
    title: str
    place: str
    source: str
    misconception: str | None = None
    excused: bool = False
    first: bool = False


def judge(
    case: Case,
    result: AnswerRunResult,
    known: Collection[str],
    *,
    complete: bool = True,
    alone: bool = False,
) -> str:
    """Why `result` is not what `case` must come to; empty where it is.

    `known` are the misconceptions of the lesson; with `complete`, a wrong answer has to run, and
    the solution has to be put to enough checks.
    """
    if case.kind == "mutant":
        return _survives(result)
    if case.kind == "constant" and alone and result.ended != "finished":
        return ""  # it got nothing, and that is all that is asked of it
    trouble = _asks_amiss(case) or _no_record(result) or _wrong_record(case, result, known)
    if trouble:
        return trouble
    record = result.record
    assert record is not None
    match case.kind:
        case "right" | "same":
            return _not_full(record, result.answer_error)
        case "solution":
            few = _too_few_checks(case.exercise, record) if complete else ""
            return _not_full(record, result.answer_error) or few
        case "stub":
            return _not_untouched(record, result.answer_error)
        case "constant":
            return _too_much(case, record)
        case "wrong":
            raised = result.answer_error if complete else None
            return _not_caught(case, record, raised) or _out_of_sight(case, record)


def _survives(result: AnswerRunResult) -> str:
    """Why no check has seen a change: a mutant that hangs, ends its process or loses a point is."""
    record = result.record
    full = record is not None and record.attempted and record.score == record.max
    return f"it gets all {record.max:g} points" if record and full else ""


def _asks_amiss(case: Case) -> str:
    """Why no answer can be found, where the test cell asks for a name that none will have."""
    one = case.exercise
    made = defined_names(without_markers(one.answer_source))
    lacking = next((name for name in one.asked if name not in made), None)
    if case.kind == "stub" or not made or lacking is None:
        return ""
    defined = " and ".join(sorted(made))
    return f"the test cell asks for answer({lacking!r}), but cell {one.answer_id} defines {defined}"


def _no_record(result: AnswerRunResult) -> str:
    if result.ended == "timeout":
        return "it ran past the time limit"
    if result.ended == "died":
        return "its process died"
    if result.setup_error:
        return f"the set-up cell raised {result.setup_error}"
    if result.test_error:
        return f"the test cell raised {result.test_error}"
    if result.record is None:
        return "the test cell showed no check table; does it end with check.score(…)?"
    return ""


def _wrong_record(case: Case, result: AnswerRunResult, known: Collection[str]) -> str:
    record, one = result.record, case.exercise
    assert record is not None
    if record.id != one.name or record.max != one.points:
        return (
            f"the check table is for '{record.id}' and {record.max:g} points, "
            f"not for '{one.name}' and {one.points:g}"
        )
    if abs(record.score - result.points) > 1e-9:
        return (
            f"the check table says {record.score:g} points, stock nbgrader would read "
            f"{result.points:g} from the cell's outputs"
        )
    named = {name for one in record.checks for name in (one.misconception, one.suspected)}
    unknown = sorted({name for name in named if name} - {*known})
    return f"the test cell names unknown misconceptions: {', '.join(unknown)}" if unknown else ""


def _not_full(record: ExerciseRecord, raised: str | None) -> str:
    why = f" (the cell raised {raised})" if raised else ""
    if not record.attempted:
        return f"it counts as not attempted{why}"
    if record.score == record.max:
        return ""
    failed = "; ".join(check.name for check in record.failed) or "no check failed"
    return f"it gets {record.score:g} of {record.max:g}{why}: {failed}"


def _too_few_checks(one: Exercise, record: ExerciseRecord) -> str:
    hidden = sum(check.hidden for check in record.checks)
    enough = len(record.checks) >= LEAST_CHECKS and hidden >= LEAST_HIDDEN
    if enough or one.few_checks:
        return ""
    return (
        f"it is put to {len(record.checks)} checks, {hidden} of them hidden; {LEAST_CHECKS} and "
        f"{LEAST_HIDDEN} are needed, or metadata.course.few_checks of the task that says why not"
    )


def _not_untouched(record: ExerciseRecord, raised: str | None) -> str:
    if record.score:
        return f"it gets {record.score:g} of {record.max:g}"
    if record.attempted:
        return "it counts as attempted"
    return f"its cell raises before anybody has written anything: {raised}" if raised else ""


def _too_much(case: Case, record: ExerciseRecord) -> str:
    if record.status in UNJUDGED:
        return f"it does no work and counts as {record.status}: {' '.join(record.notes)}"
    if case.excused or record.score <= MOST_SHARE * record.max + 1e-9:
        return ""
    held = "; ".join(check.name for check in record.checks if check.passed)
    return (
        f"it does no work and gets {record.score:g} of {record.max:g}; {MOST_SHARE:.0%} are the "
        f"most. These checks hold: {held}. Say `guard=True` where doing nothing passes, or "
        f"`# %% constant {case.exercise.name}: why` in the bank"
    )


def _not_caught(case: Case, record: ExerciseRecord, raised: str | None) -> str:
    if raised:
        return f"it does not even run ({raised}), so it shows no misconception"
    if record.score >= record.max:
        return f"it gets all {record.max:g} points"
    told, suspected = told_beliefs(record), {one.suspected for one in record.failed}
    if case.misconception in told | suspected:
        return ""
    named = sorted(name for name in told | suspected if name)
    return f"'{case.misconception}' is not among the failed checks: {', '.join(named) or 'none'}"


def told_beliefs(record: ExerciseRecord) -> set[str]:
    """What the learner is told to believe perhaps."""
    return {check.misconception for check in record.failed if check.misconception}


def _out_of_sight(case: Case, record: ExerciseRecord) -> str:
    """Why a learner with the main misconception sees nothing but green; empty where they don't."""
    if not case.first or any(not check.hidden for check in record.failed):
        return ""
    visible = sum(not check.hidden for check in record.checks)
    return (
        f"all {visible} visible checks hold, though the first wrong answer is that of the main "
        f"misconception, '{case.misconception}': let a visible check of '{case.exercise.name}' "
        "catch it, or put the wrong answer first that has what the unit teaches wrong"
    )
