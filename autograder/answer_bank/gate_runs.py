"""How the gate runs its answers: through the grading engine, or as a notebook would.

The engine is what learners meet, so it is what counts.  A notebook keeps everything in one
process and namespace, and accepts test cells that the grader cannot run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Literal

from autograder.answer_bank.gate import Gate, GateReport, run_as_notebook, run_gates
from autograder.answer_bank.notebook_runner import LIMIT_S

GateRunner = Literal["engine", "notebook"]
Done = Callable[[int], None]


def try_answers(
    course: Path,
    gates: Sequence[Gate],
    *,
    runner: GateRunner | None = None,
    limit_s: float = LIMIT_S,
    done: Done = lambda count: None,
) -> tuple[GateReport, str]:
    """What the gates find, and a note where it was not the engine that found it.

    Without `runner` it is the engine wherever there is a sandbox.  `done` hears how many answers
    are through.
    """
    from autograder.engine.sandbox.bubblewrap import SandboxError

    try:
        if runner != "notebook":
            return _through_the_engine(course, gates, limit_s, done), ""
        note = ""
    except SandboxError as error:
        if runner == "engine":
            raise
        note = f"the answers ran as in a notebook, which accepts more than the grader: {error}"
    return run_gates(gates, lambda cases: run_as_notebook(cases, limit_s=limit_s, done=done)), note


def _through_the_engine(
    course: Path, gates: Sequence[Gate], limit_s: float, done: Done
) -> GateReport:
    from autograder.answer_bank.engine_runner import run_alone, run_packed
    from autograder.engine import EngineRunner, Limits

    limits = Limits(cell_s=limit_s)
    with closing(EngineRunner(limits=limits, hide=(course,))) as engine:
        return run_gates(
            gates,
            lambda cases: run_packed(cases, engine, done=done),
            run_alone=lambda cases: run_alone(cases, engine),
        )
