"""The runner behind `grade --scheduler`: Dask workers grade, and the records come back.

    ClusterRunner (here)  ── bytes of lesson and notebook ──▶  Dask worker ─ engine worker ─ sandbox
       journal, gradebook ◀── record and notebook as JSON ──   dask_worker.py

Names stay here.  A submission whose worker dies is sent to another one; one whose
workers die again and again gets the status infrastructure.  Whoever can reach a Dask scheduler can
run programs on its workers, so keep its port to yourself or use `tls://`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import nbformat
from msgspec.structs import replace

from autograder.engine.limits import Limits
from autograder.errors import AutograderError
from autograder.records.model import RecordError, Status, SubmissionRecord
from autograder.records.runner import Job, Outcome, unrun
from autograder.runners import dask_worker
from autograder.runners.dask_worker import GradingSettings, edition, pack_lesson
from autograder.submissions.discovery import NOTEBOOK_LIMIT_NBYTES

_CONNECT_S = 15.0
_PATIENCE_S = 300.0  # batch systems and autoscalers take minutes to bring the first worker
_ASK_S = 5.0
_RETRIES = 2
_AHEAD = 2  # submissions under way for each thread of a worker: one runs, one waits
_LARGE = "1 GiB"  # Dask warns of tasks above 10 MB, which a notebook may have
_AGAIN = "What was graded is in the journal; run the same command again for the rest."


class ClusterError(AutograderError):
    """The Dask cluster cannot be used, or went away."""


class ClusterRunner:
    """Grades on the workers of a Dask scheduler; several runs may share one cluster."""

    def __init__(
        self,
        address: str,
        jobs: int | None = None,
        *,
        sandbox: bool = True,
        limits: Limits | None = None,
        hide: Iterable[Path] = (),
        connect_s: float = _CONNECT_S,
        patience_s: float = _PATIENCE_S,
    ) -> None:
        """Connect to the scheduler.

        Args:
            address: Of the scheduler, such as tcp://host:8786.
            jobs: The most submissions that are under way at a time.
            sandbox: False runs submissions without isolation, under limits alone.
            limits: What one submission may use; `Limits()` by default.
            hide: Directories that no submission may see.
            connect_s: Seconds to wait for the scheduler.
            patience_s: Seconds to wait for a cluster without any worker.
        """
        hidden = tuple(Path(path).resolve() for path in hide)
        self._settings = GradingSettings.of(
            limits or Limits(), sandbox=sandbox, hide=hidden
        ).to_text()
        self._address, self._sandbox, self._jobs = address, sandbox, jobs
        self._patience_s = patience_s
        self._client = _connect(address, connect_s)

    def close(self) -> None:
        """End the engine workers on the cluster, as far as nobody uses them, and disconnect."""
        with suppress(Exception):  # a cluster that is gone has nothing left to end
            self._client.run(dask_worker.release, on_error="ignore")
        self._client.close()

    def run_many(self, jobs: Iterable[Job]) -> Iterator[Outcome]:
        """One outcome a job, as soon as it is there; `jobs` is consumed lazily."""
        waiting = iter(jobs)
        under_way = _UnderWay({}, {}, SimpleQueue())
        try:
            while True:
                yield from self._send(waiting, under_way)
                if not under_way.tasks:
                    return
                task = under_way.tasks.pop(self._next(under_way.finished))
                yield self._outcome(task)
        finally:
            with suppress(Exception):
                self._client.cancel([task.future for task in under_way.tasks.values()], force=True)

    def _send(self, waiting: Iterator[Job], under_way: _UnderWay) -> Iterator[Outcome]:
        """Submit as many jobs as there is room for; gives the outcomes of unreadable ones."""
        while len(under_way.tasks) < self._room():
            job = next(waiting, None)
            if job is None:
                return
            try:
                with job.notebook.open("rb") as file:
                    notebook = file.read(NOTEBOOK_LIMIT_NBYTES + 1)
            except FileNotFoundError:
                yield self._unrun(job, Status.MISSING, f"{job.notebook.name} is not there.")
            except OSError as error:
                yield self._unrun(job, Status.MALFORMED, str(error))
            else:
                self._submit(job, notebook, under_way)

    def _submit(self, job: Job, notebook: bytes, under_way: _UnderWay) -> None:
        import dask

        key = f"{job.lesson.source}\0{job.lesson.digest}"
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": _LARGE}):
            if key not in under_way.lessons:
                packed = pack_lesson(job.lesson)
                under_way.lessons[key] = self._client.submit(dask_worker.hold, packed, pure=False)
            future = self._client.submit(
                dask_worker.grade_bytes,
                under_way.lessons[key],
                job.lesson.source.stem,
                notebook,
                self._settings,
                pure=False,
                retries=_RETRIES,
            )
        under_way.tasks[future.key] = _Task(job, future, time.monotonic())
        future.add_done_callback(lambda done: under_way.finished.put(done.key))

    def _room(self) -> int:
        """How many submissions may be under way, by the workers that are there now."""
        room = max(1, _AHEAD * self._threads())
        return room if self._jobs is None else min(room, self._jobs)

    def _threads(self) -> int:
        try:
            return sum(self._client.nthreads().values())
        except Exception as error:
            raise self._gone(error) from error

    def _next(self, finished: SimpleQueue[str]) -> str:
        """The key of the next task that is done."""
        idle_since = time.monotonic()
        while True:
            with suppress(Empty):
                return finished.get(timeout=min(_ASK_S, self._patience_s))
            if self._threads():
                idle_since = time.monotonic()
            elif time.monotonic() - idle_since > self._patience_s:
                raise ClusterError(
                    f"the scheduler had no worker for {self._patience_s:.0f} s",
                    place=self._address,
                    remedy=f"Start some: `dask worker {self._address} --nthreads 1`. Those that "
                    f"ended say why in their own log. {_AGAIN}",
                )

    def _outcome(self, task: _Task) -> Outcome:
        from concurrent.futures import CancelledError

        from distributed import KilledWorker

        try:
            text = task.future.result()
        except KilledWorker as error:
            ended, last = error.allowed_failures + 1, error.last_worker.address
            return self._lost(task, f"Its Dask worker ended {ended} times, last {last}")
        except CancelledError as error:
            raise self._gone(error) from error
        except Exception as error:
            if isinstance(error, ImportError) or "deserializ" in str(error):  # Dask's own words
                raise _not_installed(self._address, error) from error
            return self._lost(task, f"The Dask worker failed: {type(error).__name__}: {error}")
        try:
            return _read_outcome(text, task.job)
        except RecordError as error:
            return self._lost(task, f"The Dask worker's record cannot be read: {error}")

    def _lost(self, task: _Task, reason: str) -> Outcome:
        seconds = time.monotonic() - task.begun
        return self._unrun(task.job, Status.INFRASTRUCTURE, f"{reason}; grade it again.", seconds)

    def _unrun(self, job: Job, status: Status, reason: str, seconds: float = 0.0) -> Outcome:
        return unrun(job, status, reason, seconds=seconds, sandboxed=self._sandbox)

    def _gone(self, error: BaseException) -> ClusterError:
        return ClusterError(
            f"the scheduler went away ({type(error).__name__})",
            place=self._address,
            remedy=f"Start it and its workers again. {_AGAIN}",
        )


@dataclass(frozen=True)
class _Task:
    job: Job
    future: Any
    begun: float


@dataclass(frozen=True)
class _UnderWay:
    """What a run has sent: tasks by key, lessons by place and digest, keys of what is done."""

    tasks: dict[str, _Task]
    lessons: dict[str, Any]
    finished: SimpleQueue[str]


def _connect(address: str, limit_s: float) -> Any:
    try:
        from distributed import Client
        from distributed.comm import get_address_host_port
    except ImportError as error:
        raise ClusterError(
            f"--scheduler needs the package {error.name}, which is not installed",
            remedy="Install it with `pip install '.[cluster]'` in the course's repository.",
        ) from error
    try:
        get_address_host_port(address)  # a Client that stumbles over it takes 30 s to go away
        client = Client(address, timeout=limit_s, set_as_default=False, name="autograder")
    except ValueError as error:
        raise ClusterError(
            f"is not the address of a Dask scheduler: {error}",
            place=address,
            remedy="Give it as the scheduler prints it, such as tcp://127.0.0.1:8786.",
        ) from error
    except OSError as error:
        raise ClusterError(
            f"no Dask scheduler answers within {limit_s:.0f} s",
            place=address,
            remedy="Start one with `dask scheduler`, and give the address that it prints "
            "(not that of its dashboard).",
        ) from error
    _refuse_other_version(client, address)
    # A Dask worker that lacks the package would end at its first task, with a word in its log only.
    for found in client.run(edition, on_error="return").values():
        if isinstance(found, Exception):
            client.close()
            raise _not_installed(address, found) from found
    return client


def _refuse_other_version(client: Any, address: str) -> None:
    theirs = client.get_versions()["scheduler"]["packages"]
    found = {
        "Python": ".".join(str(theirs.get("python")).split(".")[:2]),
        "distributed": str(theirs.get("distributed")),
    }
    mine = edition()
    differing = [name for name in found if found[name] != mine[name]]
    if differing:
        client.close()
        versions = ", ".join(f"{name} {found[name]}, here it is {mine[name]}" for name in differing)
        raise ClusterError(
            f"the scheduler has {versions}",
            place=address,
            remedy="Install the same versions on both; constraints.txt names them.",
        )


def _not_installed(address: str, error: Exception) -> ClusterError:
    cause = str(error.__cause__ or error).strip().splitlines()[0]
    return ClusterError(
        f"a machine of the cluster lacks what the grader needs: {cause}",
        place=address,
        remedy="Install the course with `.[teach,cluster]` for the scheduler and each worker.",
    )


def _read_outcome(text: str, job: Job) -> Outcome:
    """What a worker answered, with the name that never left this machine."""
    data = json.loads(text)
    if "error" in data:
        cause, place, remedy = data["error"]
        raise ClusterError(cause, place=place, remedy=remedy)
    record = replace(SubmissionRecord.from_json(data["record"]), student=job.student)
    notebook = data["notebook"]
    return Outcome(record, None if notebook is None else nbformat.from_dict(notebook))
