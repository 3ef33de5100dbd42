"""The runner that grades with the engine: a pool of workers, one for each core."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import TracebackType
from typing import Self

from autograder.engine.limits import Limits
from autograder.engine.sandbox import ONE_THREAD, bubblewrap
from autograder.engine.worker import orders
from autograder.errors import AutograderError, UsageError
from autograder.runner import Job, Outcome

_START_S = 180.0
_ATTEMPTS = 2


class WorkerError(AutograderError):
    """A grading worker cannot be started."""


class EngineRunner:
    """Grades submissions in parallel, each in a sandbox; one instance may be used many times."""

    def __init__(
        self,
        jobs: int | None = None,
        *,
        sandbox: bool = True,
        scheduler: str | None = None,
        limits: Limits | None = None,
        hide: Iterable[Path] = (),
    ) -> None:
        """`jobs` workers, as many as there are cores by default; they start when needed.

        `hide` names directories that no submission may see even where Python lives above them.
        """
        if scheduler is not None:
            raise UsageError(
                "a scheduler is not served by this runner",
                remedy="Use autograder.cluster for `--scheduler`.",
            )
        if sandbox:
            bubblewrap()
        self._size = jobs or len(os.sched_getaffinity(0))
        self._limits, self._sandbox = limits or Limits(), sandbox
        self._hide = tuple(Path(path).resolve() for path in hide)
        self._idle: list[_Worker] = []
        self._busy: dict[Connection, _Task] = {}

    @property
    def workers(self) -> tuple[int, ...]:
        """The process ids of the workers, busy ones first."""
        busy = [task.worker for task in self._busy.values()]
        return tuple(worker.pid for worker in (*busy, *self._idle))

    def __enter__(self) -> Self:
        """Use as a context manager to end the workers in time."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the workers."""
        self.close()

    def close(self) -> None:
        """End the workers; the next job starts new ones."""
        while self._idle:
            self._idle.pop().close()

    def run_many(self, jobs: Iterable[Job]) -> Iterator[Outcome]:
        """One outcome a job, as soon as it is there; `jobs` is consumed lazily."""
        waiting = iter(jobs)
        busy = self._busy = {}
        try:
            self._fill(busy, waiting)
            while busy:
                for connection in wait(list(busy)):
                    assert isinstance(connection, Connection)
                    outcome = self._collect(busy, busy.pop(connection))
                    if outcome is not None:
                        self._fill(busy, waiting)
                        yield outcome
        finally:
            for task in busy.values():
                task.worker.close()

    def _fill(self, busy: dict[Connection, _Task], waiting: Iterator[Job]) -> None:
        while len(busy) < self._size:
            job = next(waiting, None)
            if job is None:
                return
            self._start(busy, job, attempt=1)

    def _start(self, busy: dict[Connection, _Task], job: Job, *, attempt: int) -> None:
        worker = self._idle.pop() if self._idle else self._new_worker()
        task = _Task(worker, job, attempt, time.monotonic())
        busy[worker.connection] = task
        if worker.ready:
            worker.send(job)

    def _collect(self, busy: dict[Connection, _Task], task: _Task) -> Outcome | None:
        """What a worker has to say: an outcome, or nothing yet."""
        worker = task.worker
        try:
            message = worker.connection.recv()
        except (EOFError, OSError):
            return self._lost(busy, task)
        if isinstance(message, AutograderError):
            raise message
        if not isinstance(message, Outcome):
            worker.ready = True
            worker.send(task.job)
            busy[worker.connection] = task
            return None
        self._idle.append(worker)
        return message

    def _lost(self, busy: dict[Connection, _Task], task: _Task) -> Outcome | None:
        """A worker died: its job is tried once more, then given up."""
        code = task.worker.close()
        if not task.worker.ready:
            raise WorkerError(
                f"a grading worker does not start (exit status {code}): {task.worker.last_words}",
                remedy="`autograder doctor` says what this machine offers.",
            )
        if task.attempt < _ATTEMPTS:
            self._start(busy, task.job, attempt=task.attempt + 1)
            return None
        return _given_up(task, code, self._sandbox)

    def _new_worker(self) -> _Worker:
        return _Worker(self._limits, self._sandbox, self._hide)

    def __del__(self) -> None:
        with suppress(Exception):
            self.close()


@dataclass
class _Task:
    worker: _Worker
    job: Job
    attempt: int
    begun: float


class _Worker:
    """A worker process and the connection to it."""

    def __init__(self, limits: Limits, sandbox: bool, hide: tuple[Path, ...]) -> None:
        ours, theirs = socket.socketpair()
        self.connection = Connection(ours.detach())
        root = str(Path(__file__).resolve().parents[2])
        paths = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH", "")]))
        own = {"PYTHONPATH": paths, "NBGRADER_EXECUTION": "autograde"}
        own |= dict.fromkeys(ONE_THREAD, "1")
        own |= {"MPLBACKEND": "module://matplotlib_inline.backend_inline"}
        argument = orders(theirs.fileno(), limits, sandbox=sandbox, hide=hide)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "autograder.engine.worker", argument],
            env={**os.environ, **own},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )
        theirs.close()
        self.ready = False
        self.last_words = ""

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    def send(self, job: Job) -> None:
        """Hand it a job; whether it arrived shows when its answer is awaited."""
        with suppress(OSError):
            self.connection.send(job)

    def close(self) -> int:
        """End the process; its exit status."""
        self.connection.close()
        try:
            self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
        if self._process.stderr is not None:
            with suppress(OSError, ValueError):
                text = self._process.stderr.read()[-2_000:]
                self.last_words = text.decode("utf-8", "replace").strip()
                self._process.stderr.close()
        return self._process.wait()


def _given_up(task: _Task, code: int, sandboxed: bool) -> Outcome:
    from autograder.records import ExerciseRecord, Status, SubmissionRecord, total

    status = Status.INFRASTRUCTURE
    exercises = tuple(
        ExerciseRecord(one.name, status, 0.0, one.points, attempted=False, manual=one.manual)
        for one in task.job.lesson.exercises
    )
    reason = f"The grading worker ended {_ATTEMPTS} times (exit status {code}); grade it again."
    score, points = total(exercises)
    return Outcome(
        SubmissionRecord(
            student=task.job.student,
            lesson=task.job.lesson.slug,
            status=status,
            score=score,
            max=points,
            seconds=time.monotonic() - task.begun,
            exercises=exercises,
            runner="engine",
            sandboxed=sandboxed,
            notes=(reason,),
            submission_digest=task.job.submission_digest,
            source_digest=task.job.source_digest,
            submitted_at=task.job.submitted_at,
        )
    )
