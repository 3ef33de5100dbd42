"""How the gate runs its answers: through the grading engine, or as a notebook would.

The engine is what learners meet, so it is what counts.  A notebook keeps everything in one
process and namespace, and accepts test cells that the grader cannot run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal, TypeVar

from autograder.answer_bank.gate import (
    ExerciseGate,
    Gate,
    GateReport,
    RunCases,
    run_as_notebook,
    run_gates,
)
from autograder.answer_bank.kept import KeptExercises, digests_of_gates, digests_of_plans
from autograder.answer_bank.mutants import ExerciseMutants, MutantReport, Plan, run_mutants
from autograder.answer_bank.notebook_runner import LIMIT_S
from autograder.answer_bank.share import LeftOut
from autograder.errors import UsageError
from autograder.kept_results import KeptResults

GateRunner = Literal["engine", "notebook"]
Done = Callable[[int], None]
Found = TypeVar("Found")
NOTHING_KEPT = KeptResults(None)
_Use = Callable[
    [RunCases, RunCases | None], Found
]  # gets what runs cases, and what runs each alone


def try_answers(
    course: Path,
    gates: Sequence[Gate],
    *,
    runner: GateRunner | None = None,
    limit_s: float = LIMIT_S,
    done: Done = lambda count: None,
    all_cells: bool = False,
    results: KeptResults = NOTHING_KEPT,
) -> tuple[GateReport, str]:
    """What the gates find, and a note where it was not the engine that found it.

    Without `runner` it is the engine wherever there is a sandbox.  `done` hears how many answers
    are through. With `all_cells` each answer stands in the whole lesson and is graded twice: the
    cells that only show must change nothing. What `results` know is not tried again.

    Raises:
        UsageError: A notebook was asked for, and `all_cells`: it runs every cell in any case.
        LessonError: Cells that only show change what an answer comes to.
    """
    if all_cells and runner == "notebook":
        raise UsageError(
            "a notebook runs every cell: there is nothing to compare",
            remedy="Leave out --runner, or --all-cells.",
        )
    if all_cells:
        return _in_whole_lessons(course, limit_s, done, partial(_gated, gates)), ""
    digests = digests_of_gates(gates, f"{runner} {limit_s}")
    known = KeptExercises(results, ExerciseGate, digests)
    left = [replace(one, without=one.without.union(_names(one, known.known))) for one in gates]
    before = sum(len(gate.cases) for gate in gates) - sum(len(gate.cases) for gate in left)
    report, note = _run(
        course, runner, limit_s, _counting_from(before, done), partial(_gated, left)
    )
    return replace(report, exercises=known.completed(report.exercises, keep=not note)), note


def try_mutants(
    course: Path,
    plans: Sequence[Plan],
    *,
    runner: GateRunner | None = None,
    limit_s: float = LIMIT_S,
    done: Done = lambda count: None,
    results: KeptResults = NOTHING_KEPT,
) -> tuple[MutantReport, str]:
    """What becomes of the mutants, and a note, as `try_answers` gives it."""
    known = KeptExercises(results, ExerciseMutants, digests_of_plans(plans, f"{runner} {limit_s}"))
    left = [one for one in plans if (one.lesson, one.exercise.name) not in known.known]
    before = sum(len(plan.cases) for plan in plans) - sum(len(plan.cases) for plan in left)

    def use(run: RunCases, alone: RunCases | None) -> MutantReport:
        return run_mutants(left, run, run_alone=alone)

    report, note = _run(course, runner, limit_s, _counting_from(before, done), use)
    exercises = known.completed(report.exercises, keep=not note)
    return MutantReport(exercises, LeftOut.summed(plan.left_out for plan in plans)), note


def _gated(gates: Sequence[Gate], run: RunCases, alone: RunCases | None) -> GateReport:
    return run_gates(gates, run, run_alone=alone)


def _names(gate: Gate, known: Iterable[tuple[str, str]]) -> Iterator[str]:
    return (name for slug, name in known if slug == gate.lesson.slug)


def _counting_from(before: int, done: Done) -> Done:
    """Tells `done` of what is through when so many were through before."""
    done(before)
    return lambda count: done(before + count)


def _run(
    course: Path, runner: GateRunner | None, limit_s: float, done: Done, use: _Use[Found]
) -> tuple[Found, str]:
    from autograder.engine.sandbox.bubblewrap import SandboxError

    try:
        if runner != "notebook":
            return _through_the_engine(course, limit_s, done, use), ""
        note = ""
    except SandboxError as error:
        if runner == "engine":
            raise
        note = f"the answers ran as in a notebook, which accepts more than the grader: {error}"
    return use(partial(run_as_notebook, limit_s=limit_s, done=done), None), note


def _through_the_engine(course: Path, limit_s: float, done: Done, use: _Use[Found]) -> Found:
    from autograder.answer_bank.engine_runner import run_alone, run_batched
    from autograder.engine import EngineRunner, Limits

    limits = Limits(cell_s=limit_s)
    # Wrong answers wait and hang more than learners do: one worker more keeps all cores busy.
    jobs = len(os.sched_getaffinity(0)) + 1
    with closing(EngineRunner(jobs, limits=limits, hide=(course,))) as engine:
        return use(
            lambda cases: run_batched(cases, engine, done=done),
            lambda cases: run_alone(cases, engine),
        )


def _in_whole_lessons(course: Path, limit_s: float, done: Done, use: _Use[Found]) -> Found:
    from autograder.answer_bank.engine_runner import run_with_all_cells
    from autograder.engine import EngineRunner, Limits

    limits = Limits(cell_s=limit_s)
    with (
        closing(EngineRunner(limits=limits, hide=(course,))) as engine,
        closing(EngineRunner(limits=limits, hide=(course,), every_cell=True)) as every,
    ):
        return use(lambda cases: run_with_all_cells(cases, engine, every, done=done), None)
