"""The answers gate: whether the test cells tell right answers from wrong ones.

Every answer of a bank is put into the notebook and graded.  A right one must get all points; a
wrong one must lose some, and the misconception it was written for must be among those that the
failed checks name; the first wrong one, that of the exercise's main misconception, must fail a
check that learners see; the untouched stub must get nothing and count as not attempted; the
source's own solution must get everything, and so must what the bank calls the same.  Eleven
answers that do no work are tried on every exercise, and get a fifth of its points at most.

A share of the wrong answers, of those that do no work and of the mutants that change nothing can be
tried, always the same ones, and three times that share of the right answers; solutions and stubs
are tried in any case.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from autograder.answer_bank.bank import BankAnswer, bank_path, check_bank, read_bank
from autograder.answer_bank.constant_answers import MOST_SHARE, NAMES, constant_answer
from autograder.answer_bank.expectations import Case, judge, told_beliefs
from autograder.answer_bank.mutation.first_failure import without_beliefs
from autograder.answer_bank.notebook_runner import LIMIT_S, AnswerRun, AnswerRunResult, run_answers
from autograder.answer_bank.share import EVERY, LeftOut, is_in_share
from autograder.errors import BankError, UsageError, did_you_mean
from autograder.lessons.claims import misconceptions
from autograder.lessons.lint.lesson import SETUP
from autograder.lessons.lint.thresholds import LEAST_RIGHT, LEAST_WRONG
from autograder.lessons.model import (
    Lesson,
    find_lesson,
    lesson_paths,
    read_lesson,
)
from autograder.lessons.regions import without_markers

RunCases = Callable[[Sequence[Case]], Sequence[AnswerRunResult]]


@dataclass(frozen=True)
class Miss:
    """A demand that was not met: by which answer, where it stands, and what happened instead."""

    kind: str
    title: str
    place: str
    reason: str


_Judged = tuple[Case, Miss | None, AnswerRunResult]


@dataclass(frozen=True)
class ExerciseGate:
    """What the gate found for one exercise; counts are (met, all).

    `constant` is the most that an answer which does no work gets, as a share of the points, and
    which one that is. `beliefs` are those that learners with the wrong answers would be told of:
    how many are the ones that the bank names, and how many in all.
    """

    lesson: str
    exercise: str
    right: tuple[int, int]
    wrong: tuple[int, int]
    misses: tuple[Miss, ...]
    constant: tuple[float, str] = (0.0, "")
    beliefs: tuple[int, int] = (0, 0)

    @property
    def ok(self) -> bool:
        """Whether every demand was met."""
        return not self.misses


@dataclass(frozen=True)
class GateReport:
    """What the gate found, exercise by exercise; `left_out` counts what was not tried."""

    exercises: tuple[ExerciseGate, ...]
    left_out: tuple[LeftOut, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every demand was met."""
        return all(one.ok for one in self.exercises)

    @property
    def closing(self) -> str:
        """The last line that `check-answers` prints."""
        right, wrong = (
            self._sum(one.right for one in self.exercises),
            self._sum(one.wrong for one in self.exercises),
        )
        return (
            f"exercises {len(self.exercises)} · right accepted {right[0]}/{right[1]} · "
            f"wrong rejected {wrong[0]}/{wrong[1]}"
        )

    @property
    def constants(self) -> str:
        """What answers that do no work get at most, and where; a line of `check-answers`."""
        most = max(self.exercises, key=lambda one: one.constant[0], default=None)
        if most is None or not most.constant[1]:
            return "constant answers: none gets a point"
        share, name = most.constant
        return f"constant answers: most {100 * share:.0f} % ({most.exercise}, {name})"

    @property
    def precision(self) -> str:
        """How often a wrong answer is told of its own belief; a line of `check-answers`."""
        rightly, told = self._sum(one.beliefs for one in self.exercises)
        share = f" ({100 * rightly / told:.1f} %)" if told else ""
        return f"beliefs told {told} · rightly {rightly}{share}"

    def to_json(self) -> dict[str, Any]:
        """The report as plain data, with its closing lines."""
        found = {"ok": self.ok, "closing": self.closing, "constants": self.constants}
        found["precision"] = self.precision
        return {**asdict(self), **found}

    @staticmethod
    def _sum(counts: Iterable[tuple[int, int]]) -> tuple[int, int]:
        pairs = list(counts)
        return sum(met for met, _ in pairs), sum(all_ for _, all_ in pairs)


@dataclass(frozen=True)
class Gate:
    """The answers to one lesson, checked against it, and how strictly to judge them.

    `complete` demands enough answers for every exercise; it holds for the lesson's own bank. Of
    the answers that are not right, `share` are tried; of the exercises, all but `without`.
    """

    lesson: Lesson
    answers: tuple[BankAnswer, ...]
    known: frozenset[str]
    complete: bool = True
    share: float = EVERY
    without: frozenset[str] = frozenset()
    cases: tuple[Case, ...] = field(init=False)
    left_out: tuple[LeftOut, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Lay out the cases: the bank's answers, and each exercise's stub and solution."""
        every = list(_cases(self))
        tried = [one for one in every if _is_tried(self, one)]
        numbers = [Counter(str(one.kind) for one in cases) for cases in (every, tried)]
        left = [LeftOut(said, *(n[kind] for n in numbers)) for kind, said in _SHARED.items()]
        object.__setattr__(self, "left_out", tuple(left))
        object.__setattr__(
            self, "cases", tuple(one for one in tried if one.exercise.name not in self.without)
        )


# What is called what where a share of it is tried.
_SHARED = {
    "right": "right answers",
    "wrong": "wrong answers",
    "constant": "answers that do no work",
    "same": "mutants that change nothing",
}


_TIMES = {"right": 3}  # the share; a right answer that's refused is the worse mistake


def _is_tried(gate: Gate, case: Case) -> bool:
    if case.kind not in _SHARED:
        return True
    share = gate.share * _TIMES.get(case.kind, 1)
    return is_in_share(share, gate.lesson.slug, case.exercise.name, case.title, case.source)


def lesson_gate(course: Path, lesson: Lesson, *, share: float = EVERY) -> Gate:
    """The gate of a lesson with its own bank; raises `BankError` where it has none.

    A lesson without exercises needs none. Of the answers that are not right, `share` are tried.
    """
    path = bank_path(course, lesson.slug)
    if path is None and not lesson.exercises:
        return Gate(lesson, (), frozenset())
    if path is None:
        raise BankError(
            f"{lesson.slug} has no answers",
            place=f"autograder/answers/{lesson.slug}.py",
            remedy=f"Write at least {LEAST_RIGHT} right and {LEAST_WRONG} wrong ones for each "
            "exercise; `autograder new-exercise` begins them.",
        )
    return _gate(course, lesson, path, complete=True, share=share)


def bank_gate(course: Path, path: Path, words: Sequence[str] = ()) -> Gate:
    """The gate of an outside bank.

    The lesson is the one that `words` name, else the one the file is named after, else the only
    one that has all exercises of the file.
    """
    if len(words) > 1:
        raise UsageError("--bank takes one lesson", remedy="Name one lesson, or none.")
    answers = read_bank(path)
    lesson = find_lesson(course, words[0]) if words else _lesson_of(course, path, answers)
    return _gate(course, lesson, path, complete=False)


def only_exercise(gates: Sequence[Gate], name: str) -> list[Gate]:
    """The gates with the answers to this exercise alone.

    Raises:
        UsageError: None of the lessons has an exercise of this name.
    """
    names = [frozenset(one.name for one in gate.lesson.exercises) for gate in gates]
    every = sorted(frozenset().union(*names))
    if name not in every:
        raise UsageError(
            f"there is no exercise '{name}' here.{did_you_mean(name, every)}",
            remedy=f"There are: {', '.join(every) or 'none'}.",
        )
    return [
        replace(gate, without=several - {name})
        for gate, several in zip(gates, names, strict=True)
        if name in several
    ]


def run_gates(
    gates: Iterable[Gate], run: RunCases, *, run_alone: RunCases | None = None
) -> GateReport:
    """Try every case of `gates` and judge what comes out.

    What misses is tried once more by `run_alone`, where there is one: another answer of the same
    submission may have disturbed it.
    """
    gates = list(gates)
    pairs = [(gate, case) for gate in gates for case in gate.cases]
    results = list(run([case for _, case in pairs]))
    alone = run_alone is None
    reasons = [_reason(*pair, one, alone) for pair, one in zip(pairs, results, strict=True)]
    if run_alone is not None:
        again = _worth_another_try(pairs, reasons)
        for n, result in zip(again, run_alone([pairs[n][1] for n in again]), strict=True):
            results[n], reasons[n] = result, _reason(*pairs[n], result, True)
    judged: dict[int, list[_Judged]] = {id(gate): [] for gate in gates}
    for (gate, case), reason, result in zip(pairs, reasons, results, strict=True):
        miss = Miss(case.kind, case.title, case.place, reason) if reason else None
        judged[id(gate)].append((case, miss, result))
    found = tuple(one for gate in gates for one in _by_exercise(gate, judged[id(gate)]))
    return GateReport(found, LeftOut.summed(one for gate in gates for one in gate.left_out))


def _reason(gate: Gate, case: Case, result: AnswerRunResult, alone: bool) -> str:
    return judge(case, result, gate.known, complete=gate.complete, alone=alone)


def _worth_another_try(pairs: Sequence[tuple[Gate, Case]], reasons: Sequence[str]) -> list[int]:
    """The misses of exercises that some answer passes: where none does, the test is broken."""
    sound = {
        (case.lesson.slug, case.exercise.name)
        for (_, case), reason in zip(pairs, reasons, strict=True)
        if not reason
    }
    return [
        n
        for n, ((_, case), reason) in enumerate(zip(pairs, reasons, strict=True))
        if reason and (case.lesson.slug, case.exercise.name) in sound
    ]


def run_as_notebook(
    cases: Sequence[Case],
    *,
    limit_s: float = LIMIT_S,
    done: Callable[[int], None] = lambda count: None,
) -> list[AnswerRunResult]:
    """What each case comes to where a notebook runs it; `done` hears how many are through."""
    return run_answers([answer_run_of(case, limit_s) for case in cases], done=done)


def answer_run_of(case: Case, limit_s: float = LIMIT_S) -> AnswerRun:
    """The run of a case in its notebook."""
    setup = next((cell["source"] for cell in case.lesson.cells() if cell.get("id") == SETUP), "")
    data = str(case.lesson.source.parent) if case.lesson.data_files else ""
    one = case.exercise
    return AnswerRun(setup, case.source, one.test_source, one.points, data, limit_s)


def _gate(
    course: Path, lesson: Lesson, path: Path, *, complete: bool, share: float = EVERY
) -> Gate:
    answers = read_bank(path)
    known = misconceptions(course, lesson.slug)
    check_bank(answers, lesson, known)
    return Gate(lesson, answers, frozenset(known), complete, share)


def _lesson_of(course: Path, path: Path, answers: Iterable[BankAnswer]) -> Lesson:
    paths = lesson_paths(course)
    if path.stem in paths:
        return read_lesson(paths[path.stem])
    wanted = {one.exercise for one in answers}
    lessons = [read_lesson(source) for source in paths.values()]
    fitting = [one for one in lessons if wanted <= {exercise.name for exercise in one.exercises}]
    if len(fitting) != 1:
        fits = " and ".join(one.slug for one in fitting) or "none"
        raise UsageError(
            f"it is not clear which lesson these answers belong to: {fits} would fit",
            place=str(path),
            remedy="Name the lesson before --bank.",
        )
    return fitting[0]


def _cases(gate: Gate) -> Iterable[Case]:
    asked = {one.exercise for one in gate.answers}
    for exercise in gate.lesson.exercises:
        if exercise.manual or not (gate.complete or exercise.name in asked):
            continue
        of_it = [one for one in gate.answers if one.exercise == exercise.name]
        wrong = [one for one in of_it if one.kind == "wrong"]
        for one in of_it:
            if one.kind == "constant":
                continue
            told = one.kind, one.title, one.place, one.source, one.misconception
            first = gate.complete and one in wrong[:1]
            yield Case(gate.lesson, exercise, *told, first=first)
        place = f"{gate.lesson.source}, cell {exercise.answer_id}"
        stub, solution = exercise.stub, without_markers(exercise.answer_source)
        yield Case(gate.lesson, exercise, "stub", "the untouched stub", place, stub)
        yield Case(gate.lesson, exercise, "solution", "the source's own solution", place, solution)
        excused = any(one.kind == "constant" for one in of_it)
        place = f"{gate.lesson.source}, cell {exercise.test_id}"
        # Of these only the points count, and looking for what they believe takes most of the time.
        tested = replace(exercise, test_source=without_beliefs(exercise.test_source))
        for name in NAMES if gate.complete else ():
            source = constant_answer(exercise, name)
            yield Case(gate.lesson, tested, "constant", name, place, source, excused=excused)


def _by_exercise(gate: Gate, judged: list[_Judged]) -> Iterable[ExerciseGate]:
    for name in dict.fromkeys(case.exercise.name for case, *_ in judged):
        of_it = [one for one in judged if one[0].exercise.name == name]
        counts = {}
        for kind in ("right", "wrong"):
            one_kind = [miss for case, miss, _ in of_it if case.kind == kind]
            counts[kind] = (one_kind.count(None), len(one_kind))
        most = _most_constant(of_it)
        misses = _without_repeats([(case, miss) for case, miss, _ in of_it])
        if gate.complete:
            misses += _too_few(gate, name)
            misses += _needless(gate, name, most[0])
        right, wrong = counts["right"], counts["wrong"]
        beliefs = _told_of(of_it)
        yield ExerciseGate(gate.lesson.slug, name, right, wrong, tuple(misses), most, beliefs)


def _told_of(judged: Iterable[_Judged]) -> tuple[int, int]:
    """How many beliefs wrong answers are told of: rightly, and in all."""
    wrong = [(case, result.record) for case, _, result in judged if case.kind == "wrong"]
    told = [(case, told_beliefs(record)) for case, record in wrong if record is not None]
    rightly = sum(case.misconception in beliefs for case, beliefs in told)
    return rightly, sum(len(beliefs) for _, beliefs in told)


def _most_constant(judged: Iterable[_Judged]) -> tuple[float, str]:
    """The largest share of the points that an answer without work gets, and its name."""
    shares = [
        (result.record.score / result.record.max, case.title)
        for case, _, result in judged
        if case.kind == "constant" and result.record is not None and result.record.score > 0
    ]
    return max(shares, default=(0.0, ""))


def _needless(gate: Gate, name: str, most: float) -> list[Miss]:
    """The exception for constants of an exercise that needs none."""
    return [
        Miss(
            "bank", one.title, one.place, f"no constant gets more than {MOST_SHARE:.0%}: remove it"
        )
        for one in gate.answers
        if one.kind == "constant" and one.exercise == name and most <= MOST_SHARE
        # Where only a share was tried, it may be another one that needs the exception.
        if gate.share == EVERY
    ]


def _without_repeats(judged: Sequence[tuple[Case, Miss | None]]) -> list[Miss]:
    """The misses of an exercise; one alone where every answer misses for the same reason."""
    misses = [miss for _, miss in judged if miss]
    answers = [miss for case, miss in judged if case.kind not in ("stub", "constant")]
    if len(answers) < 2 or None in answers or len({miss.reason for miss in misses}) > 1:
        return misses
    case = judged[0][0]
    place = f"{case.lesson.source}, cell {case.exercise.test_id}"
    count = sum(case.kind != "constant" for case, _ in judged)
    return [Miss("test", f"all {count} answers", place, misses[0].reason)]


def _too_few(gate: Gate, name: str) -> list[Miss]:
    place = str(gate.answers[0].path)
    there = Counter(str(one.kind) for one in gate.answers if one.exercise == name)
    return [
        Miss(
            "bank",
            f"{kind} answers",
            place,
            f"it has {there[kind]} {kind} answers, {least} are needed",
        )
        for kind, least in (("right", LEAST_RIGHT), ("wrong", LEAST_WRONG))
        if there[kind] < least
    ]
