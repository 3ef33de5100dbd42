"""The runner that grades with the engine: a pool of workers, one for each core."""

from __future__ import annotations

import os
import select
import shutil
import signal
import socket
import tempfile
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import TracebackType
from typing import Self

from autograder.engine.forkserver.process_usage import own_cpu_s
from autograder.engine.limits import Limits
from autograder.engine.own_resources import raise_own_limits
from autograder.engine.sandbox.bubblewrap import ONE_THREAD, bubblewrap
from autograder.engine.worker.grading_worker import WorkerSettings
from autograder.errors import AutograderError, LessonError
from autograder.fork_server import ForkServer
from autograder.lessons.autotests import with_autotests
from autograder.lessons.imported_modules import slow_modules
from autograder.records.model import Status
from autograder.records.runner import Job, Outcome, unrun

_ATTEMPTS = 2
_END_S = 2.0
_LOOKS = 12  # at what a worker uses, until it has used all that it may


class WorkerError(AutograderError):
    """A grading worker cannot be started."""


class EngineRunner:
    """Grades submissions in parallel, each in a sandbox; one instance may be used many times."""

    def __init__(
        self,
        jobs: int | None = None,
        *,
        sandbox: bool = True,
        limits: Limits | None = None,
        hide: Iterable[Path] = (),
        every_cell: bool = False,
    ) -> None:
        """Prepare; the workers start with the first job.

        Args:
            jobs: The number of workers; by default one for each core.
            sandbox: False runs submissions without isolation, under limits alone.
            limits: What one submission may use; `Limits()` by default.
            hide: Directories that no submission may see, even below one that is visible.
            every_cell: Run those cells of a lesson, too, that only show.

        Raises:
            SandboxError: There is no bubblewrap here.
            ResourceError: This process may open too few files, or take too little memory.
        """
        if sandbox:
            bubblewrap()
        self._size = jobs or len(os.sched_getaffinity(0))
        self._limits, self._sandbox = limits or Limits(), sandbox
        raise_own_limits(self._limits, self._size)
        self._every_cell = every_cell
        self._hide = tuple(Path(path).resolve() for path in hide)
        self._pools: list[_WorkerPool] = []
        self._idle: list[_Worker] = []
        self._busy: dict[Connection, _Task] = {}

    @property
    def workers(self) -> tuple[int, ...]:
        """The process ids of the workers that have started, busy ones first."""
        busy = [task.worker for task in self._busy.values()]
        return tuple(worker.pid for worker in (*busy, *self._idle) if worker.pid is not None)

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
        while self._pools and not self._busy:
            self._pools.pop().close()

    def run_many(self, jobs: Iterable[Job]) -> Iterator[Outcome]:
        """Grade jobs in parallel.

        Args:
            jobs: Consumed lazily, one for each worker that is free.

        Yields:
            One outcome a job, in the order in which they end.

        Raises:
            WorkerError: A worker does not start.
            AutograderError: A worker could not load the course or start its sandbox.
        """
        waiting = map(_with_tests, jobs)
        busy = self._busy = {}
        try:
            self._fill(busy, waiting)
            while busy:
                for connection in wait(list(busy), self._limits.worker_s / _LOOKS):
                    assert isinstance(connection, Connection)
                    outcome = self._collect(busy, busy.pop(connection))
                    if outcome is not None:
                        self._fill(busy, waiting)
                        yield outcome
                for task in [one for one in busy.values() if one.used() > self._limits.worker_s]:
                    outcome = self._give_up(busy, task)
                    self._fill(busy, waiting)
                    yield outcome
        finally:
            while busy:
                busy.popitem()[1].worker.close()

    def _fill(self, busy: dict[Connection, _Task], waiting: Iterator[Job]) -> None:
        while len(busy) < self._size:
            job = next(waiting, None)
            if job is None:
                return
            self._start(busy, job, attempt=1)

    def _start(self, busy: dict[Connection, _Task], job: Job, *, attempt: int) -> None:
        worker = self._idle_worker(job)
        task = _Task(worker, job, attempt, time.monotonic(), worker.cpu_s())
        busy[worker.connection] = task
        if worker.pid is not None:
            worker.send(job)

    def _collect(self, busy: dict[Connection, _Task], task: _Task) -> Outcome | None:
        """The outcome that a worker sent, None where it only started or its job is tried again."""
        worker = task.worker
        try:
            message = worker.connection.recv()
        except (EOFError, OSError):
            return self._worker_ended(busy, task)
        if isinstance(message, AutograderError):
            raise message
        if not isinstance(message, Outcome):
            worker.has_started(message["ready"])
            worker.send(task.job)
            busy[worker.connection] = task
            return None
        self._idle.append(worker)
        return message

    def _worker_ended(self, busy: dict[Connection, _Task], task: _Task) -> Outcome | None:
        """A worker died: its job is tried once more, then given up."""
        task.worker.close()
        if task.worker.pid is None:
            raise WorkerError(
                f"a grading worker does not start: it {task.worker.pool.how_it_ended()}",
                remedy="`autograder doctor` says what this machine offers.",
            )
        self._close_ended_pools()
        if task.attempt < _ATTEMPTS:
            self._start(busy, task.job, attempt=task.attempt + 1)
            return None
        return self._unrun(task, f"The grading worker ended {_ATTEMPTS} times; grade it again.")

    def _give_up(self, busy: dict[Connection, _Task], task: _Task) -> Outcome:
        """End a worker that something in a submission keeps busy, wherever in our code that is."""
        del busy[task.worker.connection]
        task.worker.close()
        return self._unrun(
            task,
            f"The grader needed more than {self._limits.worker_s:g} s of processor time of its own "
            "for this notebook, and gave it up; look at what it holds.",
        )

    def _unrun(self, task: _Task, reason: str) -> Outcome:
        seconds = time.monotonic() - task.begun
        return unrun(
            task.job, Status.INFRASTRUCTURE, reason, seconds=seconds, sandboxed=self._sandbox
        )

    def _close_ended_pools(self) -> None:
        """Remove what killed pools have left, at once: this process may be killed too."""
        for pool in [one for one in self._pools if one.has_ended]:
            self._pools.remove(pool)
            pool.close()

    def _idle_worker(self, job: Job) -> _Worker:
        if not self._idle:
            # All at first; later one in place of one that died.
            count = 1 if self._pools else self._size
            about = self._limits, self._sandbox, self._hide, self._every_cell
            pool = _WorkerPool(count, *about, _shared_modules(job))
            self._pools.append(pool)
            self._idle += pool.workers
        return self._idle.pop()

    def __del__(self) -> None:
        with suppress(Exception):
            self.close()


def _shared_modules(job: Job) -> tuple[str, ...]:
    """What all workers load once; most classes hand in one lesson at a time."""
    try:
        cells = job.lesson.cells()
    except LessonError:  # the job's own outcome will say so
        return ()
    return slow_modules(one["source"] for one in cells if one["cell_type"] == "code")


def _with_tests(job: Job) -> Job:
    return replace(job, lesson=with_autotests(job.lesson))


@dataclass
class _Task:
    worker: _Worker
    job: Job
    attempt: int
    begun: float
    used_before: float  # seconds of processor time, by the worker itself

    def used(self) -> float:
        """The same for this job."""
        return self.worker.cpu_s() - self.used_before


class _WorkerPool:
    """The process that starts the workers; they share what it has loaded."""

    def __init__(
        self,
        count: int,
        limits: Limits,
        sandbox: bool,
        hide: tuple[Path, ...],
        every_cell: bool,
        modules: tuple[str, ...],
    ) -> None:
        self._scratch = Path(tempfile.gettempdir(), f"grader-{uuid.uuid4().hex}")
        pairs = [socket.socketpair() for _ in range(count)]
        numbers = tuple(theirs.fileno() for _, theirs in pairs)
        about = limits, sandbox, hide, every_cell, self._scratch, modules
        self._server = ForkServer.of_module(
            "autograder.engine.worker.grading_worker",
            WorkerSettings(numbers, *about).as_text(),
            theirs=[theirs for _, theirs in pairs],
            env={
                "NBGRADER_EXECUTION": "autograde",
                "MPLBACKEND": "module://matplotlib_inline.backend_inline",
                **ONE_THREAD,
            },
        )
        self.workers = [_Worker(self, Connection(ours.detach())) for ours, _ in pairs]

    @property
    def has_ended(self) -> bool:
        """Whether its process has ended, and its workers with it."""
        return self._server.has_ended

    def how_it_ended(self) -> str:
        """Its exit code and its last words."""
        return self._server.how_it_ended()

    def close(self) -> None:
        """End it; its workers have been closed."""
        self._server.close()
        shutil.rmtree(self._scratch, ignore_errors=True)


class _Worker:
    """The connection to a worker process, and its id once it has started."""

    def __init__(self, pool: _WorkerPool, connection: Connection) -> None:
        self.pool, self.connection = pool, connection
        self.pid: int | None = None
        self._pidfd = -1

    def has_started(self, pid: int) -> None:
        """It waits for its first job."""
        with suppress(ProcessLookupError):  # it has ended already, its connection then is closed
            self._pidfd = os.pidfd_open(pid)
        self.pid = pid

    def send(self, job: Job) -> None:
        """Hand it a job; whether it arrived shows when its answer is awaited."""
        with suppress(OSError):
            self.connection.send(job)

    def cpu_s(self) -> float:
        """Seconds of processor time that the process itself has used; 0 before it has started."""
        return own_cpu_s(self.pid) if self.pid is not None else 0.0

    def close(self) -> None:
        """End the process."""
        self.connection.close()
        if self._pidfd < 0:
            return
        ended = select.select([self._pidfd], [], [], _END_S)[0]
        if not ended:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)
            select.select([self._pidfd], [], [], _END_S)
        os.close(self._pidfd)
        self._pidfd = -1
