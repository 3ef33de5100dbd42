"""What a class's records say: how hard an exercise is, what it separates, what is misunderstood."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from autograder.lessons.model import Exercise, Lesson
from autograder.records.model import UNJUDGED, ExerciseRecord, SubmissionRecord
from autograder.reporting.misconceptions import Explanation, explain, ranked, revealing_checks

FEWEST = 5  # below this many learners a correlation says nothing
MANY = 10  # below this many a correlation is shown, but no conclusion is drawn from it


@dataclass(frozen=True)
class ExerciseMeasure:
    """One exercise over a class.

    `ease` is the mean share of its points, 0 to 1; `discrimination` the correlation of its share
    with the share of all other points, None where too few or all alike.
    """

    exercise: Exercise
    judged: int
    attempted: int
    full: int
    ease: float | None
    discrimination: float | None

    @property
    def verdict(self) -> str:
        """What an instructor should make of it, in a few words."""
        if self.exercise.manual:
            return "points by hand"
        if self.ease is None:
            return "nobody yet"
        separates = self.discrimination if self.judged >= MANY else None
        if separates is not None and separates < -0.2:
            return "look at it: the better the learner, the fewer points here"
        if self.ease >= 0.9:
            return "easy"
        if self.ease < 0.4:
            return "hard"
        if separates is not None and separates < 0.1:
            return "says little about the rest"
        return "fits"


@dataclass(frozen=True)
class BeliefMeasure:
    """One misconception over a class: who shows it, and in which exercises."""

    explanation: Explanation
    learners: tuple[str, ...]
    exercises: tuple[str, ...]
    share: float  # of the learners who were judged


def judged(records: Sequence[SubmissionRecord]) -> list[SubmissionRecord]:
    """The records whose points are a judgement of the answers."""
    return [one for one in records if one.status not in UNJUDGED]


def share(record: SubmissionRecord) -> float:
    """Points as a share of the maximum, 0 to 1; questions that a person grades are left out."""
    most = record.max - sum(one.max for one in record.exercises if one.manual)
    return record.score / most if most else 0.0


def exercise_measures(
    lesson: Lesson, records: Sequence[SubmissionRecord]
) -> tuple[ExerciseMeasure, ...]:
    """Every exercise of `lesson`, measured over those that were judged."""
    return tuple(_measure(one, judged(records)) for one in lesson.exercises)


@dataclass(frozen=True)
class SectionMeasure:
    """One section of a lesson over a class: who showed a misconception that it puts right."""

    heading: str
    learners: tuple[str, ...]
    share: float


def section_measures(beliefs: Sequence[BeliefMeasure]) -> tuple[SectionMeasure, ...]:
    """The sections to teach again, that of most learners first."""
    found: dict[str, set[str]] = {}
    for one in beliefs:
        if one.explanation.heading:
            found.setdefault(one.explanation.heading, set()).update(one.learners)
    whole = max((len(one.learners) / one.share for one in beliefs if one.share), default=1.0)
    measures = [
        SectionMeasure(heading, tuple(sorted(who)), len(who) / whole)
        for heading, who in found.items()
    ]
    return tuple(sorted(measures, key=lambda one: (-len(one.learners), one.heading)))


def belief_measures(
    records: Sequence[SubmissionRecord], known: Mapping[str, Explanation]
) -> tuple[BeliefMeasure, ...]:
    """The misconceptions that failed checks point at, those of most learners first."""
    counted = judged(records)
    found: dict[str, dict[str, set[str]]] = {}
    for record in counted:
        for exercise in record.exercises:
            for id_ in ranked(revealing_checks(exercise)):
                found.setdefault(id_, {}).setdefault(record.student, set()).add(exercise.id)
    measures = [
        BeliefMeasure(
            explanation=explain(id_, known),
            learners=tuple(sorted(where)),
            exercises=tuple(sorted(set().union(*where.values()))),
            share=len(where) / len(counted),
        )
        for id_, where in found.items()
    ]
    return tuple(sorted(measures, key=lambda one: (-len(one.learners), one.explanation.id)))


def histogram(shares: Sequence[float], bins: int = 10) -> tuple[int, ...]:
    """How many of `shares` (0 to 1) fall into each of equal bins; 1 belongs to the last.

    >>> histogram([0.0, 0.05, 0.5, 1.0], bins=2)
    (2, 2)
    """
    counts = [0] * bins
    for value in shares:
        counts[min(bins - 1, max(0, int(value * bins)))] += 1
    return tuple(counts)


def middle(shares: Sequence[float]) -> tuple[float, float] | None:
    """Mean and median, None of nothing."""
    return (fmean(shares), median(shares)) if shares else None


def correlation(xs: Sequence[float], ys: Sequence[float]) -> float | None:
    """Pearson's correlation; None of fewer than `FEWEST` pairs or where one side is constant."""
    if len(xs) < FEWEST:
        return None
    mean_x, mean_y = fmean(xs), fmean(ys)
    dx, dy = [x - mean_x for x in xs], [y - mean_y for y in ys]
    spread = math.sqrt(math.fsum(x * x for x in dx) * math.fsum(y * y for y in dy))
    if spread < 1e-12:
        return None
    return math.fsum(x * y for x, y in zip(dx, dy, strict=True)) / spread


def _measure(exercise: Exercise, records: Sequence[SubmissionRecord]) -> ExerciseMeasure:
    pairs = [(one, mine) for one in records if (mine := _judged(one, exercise)) is not None]
    by_machine = [] if exercise.manual else pairs  # points by hand are in the gradebook alone
    shares = [mine.score / mine.max if mine.max else 0.0 for _, mine in by_machine]
    rest = [_share_of_rest(one, mine) for one, mine in by_machine]
    return ExerciseMeasure(
        exercise=exercise,
        judged=len(pairs),
        attempted=sum(mine.attempted for _, mine in pairs),
        full=sum(value >= 1 for value in shares),
        ease=fmean(shares) if shares else None,
        discrimination=correlation(shares, rest),
    )


def _judged(record: SubmissionRecord, exercise: Exercise) -> ExerciseRecord | None:
    mine = record.exercise(exercise.name)
    return None if mine is None or mine.status in UNJUDGED else mine


def _share_of_rest(record: SubmissionRecord, mine: ExerciseRecord) -> float:
    most = record.max - mine.max
    return (record.score - mine.score) / most if most else 0.0
