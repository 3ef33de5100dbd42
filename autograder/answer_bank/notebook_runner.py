"""Answer runs: one answer in its notebook, as JupyterLab runs it, and its check table read.

A run executes the set-up cell, one answer and the test cell in a process of its own, forked from
one that has torch and the course imported already; that makes hundreds of them cheap.  It has no
sandbox: it is for answers that the authors wrote.  Learners' work goes through a `Runner` of
`autograder.records.runner`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from queue import SimpleQueue
from typing import Any, Literal

from autograder.errors import AutograderError
from autograder.fork_server import AnsweringServer
from autograder.records.model import ExerciseRecord, RecordError
from autograder.records.points import PointsRefused, points_of

Ended = Literal["finished", "timeout", "died"]
LIMIT_S = 20.0


@dataclass(frozen=True)
class AnswerRun:
    """One answer to be tried: the cells to run, and the folder whose files lie beside them."""

    setup: str
    answer: str
    test: str
    points: float
    data: str = ""
    limit_s: float = LIMIT_S


@dataclass(frozen=True)
class AnswerRunResult:
    """What a run showed.

    `points` is what stock nbgrader reads from the test cell's outputs; `record` is the check
    table; the errors are those that ended a cell, as `Type: message`.
    """

    ended: Ended
    points: float
    record: ExerciseRecord | None
    setup_error: str | None = None
    answer_error: str | None = None
    test_error: str | None = None
    seconds: float = 0.0


class AnswerRunError(AutograderError):
    """The process that runs answers cannot be started, or broke down."""


def run_answers(
    runs: Sequence[AnswerRun],
    *,
    workers: int = 2,
    done: Callable[[int], None] = lambda count: None,
) -> list[AnswerRunResult]:
    """The results of `runs`, in their order; `done` hears how many are through."""
    if not runs:
        return []
    size = min(workers, len(runs))
    idle: SimpleQueue[AnsweringServer] = SimpleQueue()
    servers = [_server({one.setup for one in runs}) for _ in range(size)]
    for server in servers:
        idle.put(server)

    def result_of(one: AnswerRun) -> AnswerRunResult:
        server = idle.get()
        try:
            return _read_result(server.ask(asdict(one)), one)
        except EOFError as error:
            raise AnswerRunError(
                f"the process that runs answers {error}",
                remedy="`autograder doctor` says what this machine offers.",
            ) from error
        finally:
            idle.put(server)

    pool = ThreadPoolExecutor(size)
    try:
        results = []
        for result in pool.map(result_of, runs):
            results.append(result)
            done(len(results))
        return results
    finally:  # also when interrupted, or when one server broke down
        pool.shutdown(wait=False, cancel_futures=True)
        for server in servers:
            server.terminate()
        for server in servers:
            server.close()  # after all were asked, so that they end at the same time


def _server(setups: Iterable[str]) -> AnsweringServer:
    return AnsweringServer(
        "autograder.answer_bank.notebook_process",
        json.dumps(sorted(setups)),
        env={"OMP_NUM_THREADS": "1", "MPLBACKEND": "agg", "PYTHONDONTWRITEBYTECODE": "1"},
    )


def _read_result(reply: dict[str, Any], run: AnswerRun) -> AnswerRunResult:
    test_error = reply["errors"][2]
    record, points = None, 0.0
    try:
        points = points_of(_outputs(reply), run.points)
        if reply["table"] is not None:
            record = ExerciseRecord.from_table(reply["table"], isolated=False)
    except (PointsRefused, RecordError) as error:
        test_error = f"{type(error).__name__}: {error}"
    return AnswerRunResult(
        ended=reply["ended"],
        points=points if reply["ended"] == "finished" else 0.0,
        record=record,
        setup_error=reply["errors"][0],
        answer_error=reply["errors"][1],
        test_error=test_error,
        seconds=reply["seconds"],
    )


def _outputs(reply: dict[str, Any]) -> list[dict[str, Any]]:
    """The outputs of the test cell, as far as its points depend on them."""
    outputs: list[dict[str, Any]] = []
    if reply["errors"][2]:
        outputs.append({"output_type": "error"})
    if reply["stderr"]:
        outputs.append({"output_type": "stream", "name": "stderr"})
    if reply["value"] is not None:
        outputs.append({"output_type": "execute_result", "data": {"text/plain": reply["value"]}})
    return outputs
