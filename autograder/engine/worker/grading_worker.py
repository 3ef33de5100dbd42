"""Grading workers: each takes jobs from the grader's main process, one at a time, and answers.

Started as `python -m autograder.engine.worker.grading_worker SETTINGS`.  That process loads torch,
has fork servers load it inside the sandbox too, and then forks the workers; it runs no job.
All of them end when the main process does.
"""

from __future__ import annotations

import gc
import json
import os
import socket
import sys
import time
import traceback
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from autograder.descendants import wait_for_end
from autograder.engine.limits import Limits
from autograder.engine.own_resources import check_memory
from autograder.engine.worker.fork_server_client import StudentForkServer, StudentForkServers
from autograder.engine.worker.siblings import Siblings
from autograder.errors import AutograderError
from autograder.fork_server import Forks, fork, ready
from autograder.import_speed import skip_unused_grammar


@dataclass(frozen=True)
class WorkerSettings:
    """How workers are started: one for each of the sockets `controls`."""

    controls: tuple[int, ...]
    limits: Limits
    sandbox: bool
    hide: tuple[Path, ...]
    every_cell: bool
    scratch: Path  # a directory made here; the process that ends last removes it
    modules: tuple[str, ...] = ()  # what all workers share of the first lesson's

    def as_text(self) -> str:
        """The settings as the argument that starts the workers."""
        return json.dumps(asdict(self), default=str)

    @classmethod
    def read(cls, text: str) -> WorkerSettings:
        """The settings that `as_text` wrote."""
        data = json.loads(text)
        hide = tuple(Path(path) for path in data["hide"])
        controls, limits = tuple(data["controls"]), Limits(**data["limits"])
        every_cell, scratch = data["every_cell"], Path(data["scratch"])
        modules = tuple(data["modules"])
        return cls(controls, limits, data["sandbox"], hide, every_cell, scratch, modules)


def main() -> None:
    """Start the workers and wait for their ends."""
    gc.disable()  # nothing that is imported becomes garbage; the workers turn it on again
    settings = WorkerSettings.read(sys.argv[1])
    settings.scratch.mkdir(mode=0o700)
    forks = Forks(scratch=settings.scratch)
    try:
        _start_and_wait(settings)
    except BaseException:
        traceback.print_exc()
        forks.leave(1)
    forks.leave()  # also bubblewrap that was killed before its child could know


def _start_and_wait(settings: WorkerSettings) -> None:
    skip_unused_grammar()
    try:
        fork_servers = StudentForkServers(  # they load torch while this process does too
            settings.limits,
            len(settings.controls),
            sandbox=settings.sandbox,
            hide=settings.hide,
            scratch=str(settings.scratch),
            modules=settings.modules,
        )
        shell = _prepared_shell(settings.modules)
        check_memory(settings.limits)
    except AutograderError as error:
        for control in settings.controls:
            Connection(control).send(error)
        return
    if all(map(_is_abandoned, settings.controls)):  # the main process ended meanwhile
        fork_servers.close()
        return
    workers = []
    family = Siblings.family(len(settings.controls), settings.scratch)
    each = zip(settings.controls, fork_servers.servers, family, strict=True)
    for control, fork_server, siblings in each:
        others = [one for one in settings.controls if one != control]
        others += [one.fileno() for one in fork_servers.servers if one is not fork_server]
        its = control, others, settings, shell, fork_server, siblings
        workers.append(fork(partial(_run_worker, *its)))
    _close(settings.controls)
    fork_servers.release()
    for worker in workers:
        wait_for_end(worker)
    fork_servers.close()


def _run_worker(
    control: int,
    others: Sequence[int],
    settings: WorkerSettings,
    shell: Any,
    fork_server: StudentForkServer,
    siblings: Siblings,
) -> None:
    """Be one worker until the main process ends; `others` are the sockets of its siblings."""
    _close(others)
    gc.enable()
    _serve(Connection(control), settings, shell, fork_server, siblings)


def _serve(
    connection: Connection,
    settings: WorkerSettings,
    shell: Any,
    fork_server: StudentForkServer,
    siblings: Siblings,
) -> None:
    from autograder.engine.worker.grader import Grader

    try:
        grader = Grader(
            *(settings.limits, shell, fork_server),
            sandbox=settings.sandbox,
            hide=settings.hide,
            scratch=settings.scratch,
            every_cell=settings.every_cell,
            siblings=siblings,
        )
    except AutograderError as error:
        connection.send(error)
        return
    connection.send(ready())
    grader.listener.watch(connection.fileno(), lambda: _exit_if_abandoned(connection.fileno()))
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            _answer(connection, _grade(grader, connection.recv(), settings.sandbox))
    grader.close()


def _prepared_shell(modules: Sequence[str]) -> Any:
    from autograder.engine.worker.grader import prepared_shell

    return prepared_shell(modules)


def _grade(grader: Any, job: Any, sandboxed: bool) -> Any:
    from autograder.records.model import Status
    from autograder.records.runner import unrun

    begun = time.monotonic()
    try:
        return grader.grade(job)
    except Exception as error:  # a fault of the grader must not stop the others
        reason = f"The grader failed: {type(error).__name__}: {error}"
        seconds = time.monotonic() - begun
        return unrun(job, Status.INFRASTRUCTURE, reason, seconds=seconds, sandboxed=sandboxed)


def _answer(connection: Connection, outcome: Any) -> None:
    """Send the outcome; where its notebook cannot travel, the record goes without it."""
    from autograder.records.runner import without_notebook

    try:
        connection.send(outcome)
    except OSError:
        raise
    except Exception as error:
        connection.send(without_notebook(outcome, f"{type(error).__name__}: {error}"))


def _exit_if_abandoned(control: int) -> None:
    """End at once where the main process has ended; the fork server then ends too."""
    if _is_abandoned(control):
        os._exit(1)


def _is_abandoned(control: int) -> bool:
    """Whether the main process has ended, or has closed its connection to this worker."""
    with suppress(OSError), socket.socket(fileno=os.dup(control)) as sock:
        try:
            return not sock.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:  # no job has come yet
            return False
    return True


def _close(fds: Sequence[int]) -> None:
    for fd in fds:
        os.close(fd)


if __name__ == "__main__":
    main()
