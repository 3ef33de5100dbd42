"""Which exercises need not be tried again: nothing has changed since every demand was met.

What an exercise came to is kept under a digest of its cells, its part of the bank, the modules
behind these and the grader itself; see `autograder.kept_results`.  A miss is never kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from autograder.answer_bank.gate import ExerciseGate, Gate
from autograder.answer_bank.mutants import ExerciseMutants, Plan
from autograder.kept_results import ROOT, KeptResults, digest_of, modules_behind
from autograder.lessons.lint.lesson import SETUP
from autograder.lessons.model import Exercise, Lesson

__all__ = ["KeptExercises", "digests_of_gates", "digests_of_plans"]

Key = tuple[str, str]  # a lesson's slug, an exercise's name
Found = TypeVar("Found", ExerciseGate, ExerciseMutants)


class KeptExercises(Generic[Found]):
    """What exercises came to.

    Attributes:
        known: What need not be found out again, by lesson and exercise.
    """

    def __init__(self, results: KeptResults, form: type[Found], digests: Mapping[Key, str]) -> None:
        """Look up what is known.

        Args:
            results: Where it is kept.
            form: What is kept of an exercise.
            digests: The exercises that are asked for, each with what it depends on.
        """
        self._results, self._digests = results, digests
        self._kind = "answers" if form is ExerciseGate else "mutants"
        read = {key: results.find(self._name(key), digest) for key, digest in digests.items()}
        self.known: dict[Key, Found] = {
            key: msgspec.convert(data, form) for key, data in read.items() if data is not None
        }

    def completed(self, found: Iterable[Found], *, keep: bool) -> tuple[Found, ...]:
        """What was asked for, in its order; with `keep`, what is found and sound is kept."""
        new = {(one.lesson, one.exercise): one for one in found}
        for key, one in new.items():
            if keep and one.ok:
                self._results.keep(self._name(key), self._digests[key], asdict(one))
        whole = new | self.known
        return tuple(whole[key] for key in self._digests if key in whole)

    def _name(self, key: Key) -> str:
        return "-".join((self._kind, *key))


def digests_of_gates(gates: Sequence[Gate], how: str) -> dict[Key, str]:
    """What the exercises of these gates depend on; `how` says how their answers are run."""
    found = {}
    for gate in gates:
        for one in gate.lesson.exercises:
            if one.name in gate.without:
                continue
            answers = [answer for answer in gate.answers if answer.exercise == one.name]
            told = [(each.kind, each.title, each.misconception, each.source) for each in answers]
            about = (how, told, sorted(gate.known), gate.complete, gate.share)
            sources = [answer.source for answer in answers]
            found[gate.lesson.slug, one.name] = _digest(gate.lesson, one, about, sources)
    return found


def digests_of_plans(plans: Sequence[Plan], how: str) -> dict[Key, str]:
    """What the fate of these mutants depends on; `how` says how they are run."""
    found = {}
    for plan in plans:
        tried = [(mutant.words, case.kind, case.title, case.source) for mutant, case in plan.tried]
        about = (how, tried, [answer.title for answer in plan.stale])
        key = plan.lesson, plan.exercise.name
        found[key] = _digest(plan.solution.lesson, plan.exercise, about)
    return found


def _digest(lesson: Lesson, one: Exercise, about: Any, sources: Sequence[str] = ()) -> str:
    setup = next((cell["source"] for cell in lesson.cells() if cell.get("id") == SETUP), "")
    cells = (setup, one.answer_source, one.test_source)
    asked = (lesson.slug, one.name, one.points, one.few_checks)
    behind = modules_behind(*cells, *sources)
    return digest_of(
        json.dumps([cells, asked, about]), files=behind | _grader() | set(lesson.data_files)
    )


@cache
def _grader() -> frozenset[Path]:
    """The modules that run and judge answers."""
    package = ROOT / "autograder"
    folders = (package / "engine", package / "answer_bank")
    own = [*package.glob("*.py"), *(path for one in folders for path in one.rglob("*.py"))]
    return frozenset(own) | modules_behind(*(path.read_text(encoding="utf-8") for path in own))
