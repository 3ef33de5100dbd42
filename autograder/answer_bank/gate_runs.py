"""How the gate runs its answers: through the grading engine, or as a notebook would.

The engine is what learners meet, so it is what counts.  A notebook keeps everything in one
process and namespace, and accepts test cells that the grader cannot run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Literal, TypeVar

from autograder.answer_bank.gate import Gate, GateReport, RunCases, run_as_notebook, run_gates
from autograder.answer_bank.mutants import MutantReport, Plan, run_mutants
from autograder.answer_bank.notebook_runner import LIMIT_S
from autograder.errors import UsageError

GateRunner = Literal["engine", "notebook"]
Done = Callable[[int], None]
Found = TypeVar("Found")
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
) -> tuple[GateReport, str]:
    """What the gates find, and a note where it was not the engine that found it.

    Without `runner` it is the engine wherever there is a sandbox.  `done` hears how many answers
    are through. With `all_cells` each answer stands in the whole lesson and is graded twice: the
    cells that only show must change nothing.

    Raises:
        UsageError: A notebook was asked for, and `all_cells`: it runs every cell in any case.
        LessonError: Cells that only show change what an answer comes to.
    """

    def use(run: RunCases, alone: RunCases | None) -> GateReport:
        return run_gates(gates, run, run_alone=alone)

    if all_cells and runner == "notebook":
        raise UsageError(
            "a notebook runs every cell: there is nothing to compare",
            remedy="Leave out --runner, or --all-cells.",
        )
    if all_cells:
        return _in_whole_lessons(course, limit_s, done, use), ""
    return _run(course, runner, limit_s, done, use)


def try_mutants(
    course: Path,
    plans: Sequence[Plan],
    *,
    runner: GateRunner | None = None,
    limit_s: float = LIMIT_S,
    done: Done = lambda count: None,
) -> tuple[MutantReport, str]:
    """What becomes of the mutants, and a note, as `try_answers` gives it."""

    def use(run: RunCases, alone: RunCases | None) -> MutantReport:
        return run_mutants(plans, run, run_alone=alone)

    return _run(course, runner, limit_s, done, use)


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
    with closing(EngineRunner(limits=limits, hide=(course,))) as engine:
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
