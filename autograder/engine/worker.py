"""Grading workers: each takes jobs from the grader's main process, one at a time, and answers.

Started as `python -m autograder.engine.worker ORDERS`.  That process loads torch and the course,
has zygotes load them too inside the sandbox, and then forks the workers; it runs no job itself.
All of them end when the main process does.
"""

from __future__ import annotations

import gc
import json
import os
import shutil
import socket
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NoReturn

from autograder import linux
from autograder.engine.allowance import check_memory
from autograder.engine.forkserver.client import Zygote, Zygotes
from autograder.engine.forkserver.descendants import end_descendants
from autograder.engine.limits import Limits
from autograder.errors import AutograderError
from autograder.import_speed import skip_unused_grammar


@dataclass(frozen=True)
class Orders:
    """How workers are started: one for each of the sockets `controls`."""

    controls: tuple[int, ...]
    limits: Limits
    sandbox: bool
    hide: tuple[Path, ...]
    scratch: Path  # made here; whoever outlives the others removes it

    def as_text(self) -> str:
        """The argument that starts them."""
        return json.dumps(asdict(self), default=str)

    @classmethod
    def read(cls, text: str) -> Orders:
        """The orders in that argument."""
        data = json.loads(text)
        hide = tuple(Path(path) for path in data["hide"])
        controls, limits = tuple(data["controls"]), Limits(**data["limits"])
        return cls(controls, limits, data["sandbox"], hide, Path(data["scratch"]))


def main() -> None:
    """Start the workers and wait for their ends."""
    gc.disable()  # nothing that is imported becomes garbage; the workers turn it on again
    orders = Orders.read(sys.argv[1])
    orders.scratch.mkdir(mode=0o700)
    linux.adopt_orphans()
    try:
        _outlive_workers(orders)
    finally:
        end_descendants()  # bubblewrap that was killed before its child could know
        shutil.rmtree(orders.scratch, ignore_errors=True)


def _outlive_workers(orders: Orders) -> None:
    skip_unused_grammar()
    try:
        zygotes = Zygotes(  # they load torch while this process does too
            orders.limits,
            len(orders.controls),
            sandbox=orders.sandbox,
            hide=orders.hide,
            scratch=str(orders.scratch),
        )
        shell = _prepared_shell()
        check_memory(orders.limits)
    except AutograderError as error:
        for control in orders.controls:
            Connection(control).send(error)
        return
    if all(map(_is_alone, orders.controls)):  # killed, or interrupted, while all of this started
        zygotes.close()
        return
    workers, own = [], os.getpid()
    for control, zygote in zip(orders.controls, zygotes.each, strict=True):
        workers.append(os.fork())
        if workers[-1] == 0:
            linux.die_with_parent(own)
            _close([one for one in orders.controls if one != control])
            _close([one.control.fileno() for one in zygotes.each if one is not zygote])
            _work(control, orders, shell, zygote)
    _close(orders.controls)
    zygotes.let_go()
    for worker in workers:
        os.waitpid(worker, 0)
    zygotes.close()


def _work(control: int, orders: Orders, shell: Any, zygote: Zygote) -> NoReturn:
    """Be one worker until the main process goes away."""
    try:
        gc.enable()
        _serve(Connection(control), orders, shell, zygote)
        os._exit(0)
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
    finally:
        os._exit(70)


def _serve(connection: Connection, orders: Orders, shell: Any, zygote: Zygote) -> None:
    from autograder.engine.submission import Grader

    try:
        grader = Grader(
            *(orders.limits, shell, zygote),
            sandbox=orders.sandbox,
            hide=orders.hide,
            scratch=orders.scratch,
        )
    except AutograderError as error:
        connection.send(error)
        return
    connection.send(os.getpid())
    grader.listener.look_after(connection.fileno(), lambda: _leave_if_alone(connection.fileno()))
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            _answer(connection, _grade(grader, connection.recv(), orders.sandbox))
    grader.close()


def _prepared_shell() -> Any:
    from autograder.engine.submission import prepared_shell

    return prepared_shell()


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


def _leave_if_alone(control: int) -> None:
    """End at once where the main process is gone; the zygote hears it."""
    if _is_alone(control):
        os._exit(1)


def _is_alone(control: int) -> bool:
    """Whether the main process is gone, or has let go of this worker."""
    with suppress(OSError), socket.socket(fileno=os.dup(control)) as sock:
        try:
            return not sock.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:  # it has nothing to say yet
            return False
    return True


def _close(fds: Sequence[int]) -> None:
    for fd in fds:
        os.close(fd)


if __name__ == "__main__":
    main()
    os._exit(0)  # at once: there is nothing to tidy up
