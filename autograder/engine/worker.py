"""A grading worker: takes jobs from the grader's main process, one at a time, and answers each.

Started as `python -m autograder.engine.worker ORDERS`.  It ends when the main process does.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from contextlib import suppress
from dataclasses import asdict
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from autograder.engine.limits import Limits
from autograder.engine.zygotes import Zygote
from autograder.errors import AutograderError


def orders(control: int, limits: Limits, *, sandbox: bool, hide: tuple[Path, ...]) -> str:
    """The argument that starts a worker."""
    data = {"control": control, "limits": asdict(limits), "sandbox": sandbox}
    return json.dumps({**data, "hide": [str(path) for path in hide]})


def main() -> None:
    """Serve until the main process goes away."""
    told = json.loads(sys.argv[1])
    connection = Connection(told["control"])
    try:
        grader = _grader(told)
    except AutograderError as error:
        connection.send(error)
        return
    connection.send("ready")
    grader.listener.look_after(told["control"], lambda: _leave_if_alone(told["control"]))
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):
        while True:
            connection.send(_grade(grader, connection.recv()))
    grader.close()


def _grader(told: dict[str, Any]) -> Any:
    hide = [Path(path) for path in told["hide"]]
    limits, sandbox = Limits(**told["limits"]), told["sandbox"]
    zygote = Zygote(limits, sandbox=sandbox, hide=hide)  # loads torch while this process does too
    from autograder.engine.grading import Grader

    return Grader(limits, sandbox=sandbox, hide=hide, zygote=zygote)


def _grade(grader: Any, job: Any) -> Any:
    from autograder.engine.grading import unrun
    from autograder.records import Status

    begun = time.monotonic()
    try:
        return grader.grade(job)
    except Exception as error:  # a fault of the grader must not stop the others
        reason = f"The grader failed: {type(error).__name__}: {error}"
        return unrun(job, Status.INFRASTRUCTURE, reason, begun, sandboxed=grader._sandbox)


def _leave_if_alone(control: int) -> None:
    """End at once where the main process is gone; the kernel then ends the zygote."""
    with suppress(OSError), socket.socket(fileno=os.dup(control)) as sock:
        if sock.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT):
            return
    os._exit(1)


if __name__ == "__main__":
    main()
