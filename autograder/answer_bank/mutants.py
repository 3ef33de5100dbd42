"""Which small changes to a solution its test cell notices, and which survive.

Every mutant is graded as an answer.  One that loses a point is killed; so is one that hangs or
ends its process.  One that stands in the bank, as `same` or as a right answer, must be accepted.
What is left has survived: the test cell lacks a check, or the bank an entry that says why the
change does not matter.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from autograder.answer_bank.bank import BankAnswer
from autograder.answer_bank.expectations import Case, judge
from autograder.answer_bank.gate import Gate, Miss
from autograder.answer_bank.mutation.first_failure import until_first_failure
from autograder.answer_bank.mutation.generate import Mutant, mutants_of, same_code
from autograder.answer_bank.notebook_runner import AnswerRunResult
from autograder.answer_bank.share import EVERY, LeftOut, is_in_share
from autograder.errors import UsageError, did_you_mean
from autograder.lessons.model import Exercise
from autograder.lessons.regions import without_markers

_RunCases = Callable[[Sequence[Case]], Sequence[AnswerRunResult]]
_Results = dict[int, AnswerRunResult]  # by the id of the case


@dataclass(frozen=True)
class Survivor:
    """A mutant that gets all points, with its lines beside those of the solution."""

    line: int
    words: str
    place: str
    diff: tuple[str, ...]
    source: str


@dataclass(frozen=True)
class ExerciseMutants:
    """What became of the mutants of one exercise; `killed` is (killed, all but the same)."""

    lesson: str
    exercise: str
    killed: tuple[int, int]
    same: int
    survivors: tuple[Survivor, ...]
    misses: tuple[Miss, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every mutant is killed or accounted for."""
        return not self.survivors and not self.misses


@dataclass(frozen=True)
class MutantReport:
    """What became of all mutants, exercise by exercise; `left_out` counts what was not tried."""

    exercises: tuple[ExerciseMutants, ...]
    left_out: tuple[LeftOut, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every mutant is killed or accounted for."""
        return all(one.ok for one in self.exercises)

    @property
    def closing(self) -> str:
        """The last line that `mutants` prints."""
        killed = sum(one.killed[0] for one in self.exercises)
        every = sum(one.killed[1] for one in self.exercises)
        return f"mutants killed {killed}/{every} · same {sum(one.same for one in self.exercises)}"

    def lines(self) -> Iterator[str]:
        """One line an exercise, below it what survived, and what to do about it."""
        width = max((len(one.exercise) for one in self.exercises), default=0)
        lesson = ""
        for one in self.exercises:
            if one.lesson != lesson:
                lesson = one.lesson
                yield lesson
            counts = f"killed {one.killed[0]}/{one.killed[1]} · same {one.same}"
            yield f"  {'✓' if one.ok else '✗'} {one.exercise:<{width}}  {counts}"
            for miss in one.misses:
                yield f"      {miss.place}: {miss.kind}, {miss.title}: {miss.reason}"
            for survivor in one.survivors:
                yield f"      {survivor.place}, line {survivor.line}: {survivor.words}"
                yield from (f"          {line}" for line in survivor.diff)
        if any(one.survivors for one in self.exercises):
            yield "A survivor needs a check that sees it, or `# %% same EXERCISE: why` in the bank."

    def to_json(self) -> dict[str, Any]:
        """The report as plain data, with the closing line."""
        return {**asdict(self), "ok": self.ok, "closing": self.closing}


@dataclass(frozen=True)
class Plan:
    """The mutants of one exercise, as cases to run.

    Attributes:
        lesson: Its slug.
        exercise: The exercise whose solution is changed.
        solution: The solution as it is: where it loses points, nothing is known of its mutants.
        tried: Each mutant and its case, of the kind "same" where the bank has it.
        stale: Entries of the bank that no mutant is like.
        left_out: How many mutants there are, and how many of them are tried.
    """

    lesson: str
    exercise: Exercise
    solution: Case
    tried: tuple[tuple[Mutant, Case], ...]
    stale: tuple[BankAnswer, ...] = ()
    left_out: LeftOut = field(default_factory=lambda: LeftOut("mutants", 0, 0))

    @property
    def cases(self) -> tuple[Case, ...]:
        """All that is to be run: the solution, then its mutants; nothing where there are none."""
        if not self.tried and self.left_out.count:
            return ()
        return (self.solution, *(case for _, case in self.tried))


def plan_mutants(
    gates: Iterable[Gate],
    *,
    exercise: str | None = None,
    most: int | None = None,
    share: float = EVERY,
) -> list[Plan]:
    """The mutants to try on these lessons.

    Args:
        gates: The lessons with their banks.
        exercise: The only exercise to look at; all by default.
        most: How many mutants of an exercise to try, drawn with a fixed seed; all by default.
        share: Which part of the mutants to try, from 0 to 1; always the same ones.

    Raises:
        UsageError: No lesson has an exercise of this name that a program grades.
    """
    pairs = [(gate, one) for gate in gates for one in gate.lesson.exercises if not one.manual]
    names = [one.name for _, one in pairs]
    if exercise is not None and exercise not in names:
        raise UsageError(
            f"there is no exercise '{exercise}' to change.{did_you_mean(exercise, names)}",
            remedy=f"There are: {', '.join(names) or 'none'}.",
        )
    return [_plan(gate, one, most, share) for gate, one in pairs if exercise in (None, one.name)]


def run_mutants(
    plans: Sequence[Plan], run: _RunCases, *, run_alone: _RunCases | None = None
) -> MutantReport:
    """Try every mutant of `plans`, and tell what became of it.

    What did not finish, what survived, and what should have got all points and did not, is tried
    once more by `run_alone`, where there is one: another answer of the same submission may have
    disturbed it, or lent it a name.
    """
    cases = [case for plan in plans for case in plan.cases]
    results = {id(case): one for case, one in zip(cases, run(cases), strict=True)}
    if run_alone is not None:
        again = [case for case in cases if _worth_another_try(case, results[id(case)])]
        results |= {id(case): one for case, one in zip(again, run_alone(again), strict=True)}
    left_out = LeftOut.summed(plan.left_out for plan in plans)
    return MutantReport(tuple(_judged(plan, results) for plan in plans), left_out)


def _plan(gate: Gate, one: Exercise, most: int | None, share: float) -> Plan:
    place = f"{gate.lesson.source}, cell {one.answer_id}"
    text = without_markers(one.answer_source)
    tested = replace(one, test_source=until_first_failure(one.test_source))
    solution = Case(gate.lesson, tested, "solution", "the source's own solution", place, text)
    banked = dict(_banked(gate, one.name))
    found = mutants_of(one.answer_source)
    told = [banked.get(same_code(mutant.source)) for mutant in found]
    stale = [answer for answer in banked.values() if answer.kind == "same" and answer not in told]
    pairs = [
        (mutant, Case(gate.lesson, tested, "same", answer.title, answer.place, mutant.source))
        if answer is not None
        else (mutant, Case(gate.lesson, tested, "mutant", mutant.title, place, mutant.source))
        for mutant, answer in zip(found, told, strict=True)
    ]
    drawn = _drawn(len(pairs), most, f"{gate.lesson.slug} {one.name}")
    tried = [pairs[k] for k in drawn]
    tried = [
        (m, case) for m, case in tried if is_in_share(share, gate.lesson.slug, one.name, m.source)
    ]
    left_out = LeftOut("mutants", len(pairs), len(tried))
    return Plan(gate.lesson.slug, one, solution, tuple(tried), tuple(stale), left_out)


def _banked(gate: Gate, name: str) -> Iterator[tuple[str, BankAnswer]]:
    """The answers of the bank that a mutant may be, by what their code is."""
    for answer in gate.answers:
        if answer.exercise == name and answer.kind in ("same", "right"):
            try:
                yield same_code(answer.source), answer
            except SyntaxError:  # `check-answers` tells it
                continue


def _drawn(count: int, most: int | None, seed: str) -> list[int]:
    if most is None or most >= count:
        return list(range(count))
    return sorted(random.Random(seed).sample(range(count), most))


def _worth_another_try(case: Case, result: AnswerRunResult) -> bool:
    if case.kind == "mutant" and result.ended != "finished":
        return True
    return bool(judge(case, result, _known(result), complete=False))


def _judged(plan: Plan, results: _Results) -> ExerciseMutants:
    mutants = [(mutant, case) for mutant, case in plan.tried if case.kind == "mutant"]
    same = [case for _, case in plan.tried if case.kind == "same"]
    misses = list(_misses([plan.solution, *same] if plan.cases else [], results))
    if any(miss.kind == "solution" for miss in misses):  # then nothing is known of the others
        return ExerciseMutants(
            plan.lesson, plan.exercise.name, (0, len(mutants)), 0, (), tuple(misses[:1])
        )
    misses += [
        Miss("same", one.title, one.place, "no change to the solution gives this: remove it")
        for one in plan.stale
    ]
    survivors = tuple(
        Survivor(mutant.line, mutant.words, case.place, mutant.diff, mutant.source)
        for mutant, case in mutants
        if judge(case, results[id(case)], ())
    )
    accepted = len(same) - sum(miss.kind == "same" for miss in misses) + len(plan.stale)
    killed = (len(mutants) - len(survivors), len(mutants))
    return ExerciseMutants(
        plan.lesson, plan.exercise.name, killed, accepted, survivors, tuple(misses)
    )


def _misses(cases: Iterable[Case], results: _Results) -> Iterator[Miss]:
    """What must get all points and does not."""
    for case in cases:
        result = results[id(case)]
        reason = judge(case, result, _known(result), complete=False)
        if reason:
            yield Miss(case.kind, case.title, case.place, reason)


def _known(result: AnswerRunResult) -> set[str]:
    """The misconceptions that the checks name: whether they exist is for `check-answers` to say."""
    checks = result.record.checks if result.record else ()
    named = {name for one in checks for name in (one.misconception, one.suspected)}
    return {name for name in named if name}
