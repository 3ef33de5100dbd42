"""The prepared process behind `notebook_runner`: it imports once and forks for each answer run.

It reads one line of JSON a run from its standard input and writes one to its standard output.
SIGTERM ends it together with the one that runs, as does the end of the program that started it.

It shares with the engine's fork server what is loaded before the fork and how processes end.  It
forks by itself, as it has to work without Linux, and runs cells in IPython's own shell, as a
notebook does.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import sys
import tempfile
import time
from typing import Any

from autograder.descendants import end_descendants
from autograder.engine.forkserver.preload import modules_needed
from autograder.engine.outcomes import TABLE_KEY
from autograder.environment import adopt_orphans, end_with_parent

_LOOK_S = 0.5
_NOTHING: dict[str, Any] = {"errors": [None] * 3, "table": None, "value": None, "stderr": False}


def main() -> None:
    """Answer every line of standard input until it ends."""
    replies = os.fdopen(os.dup(1), "w")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # by way of the `finally` of a run
    os.dup2(2, 1)  # what an import prints must not mix with the replies
    end_with_parent(int(sys.argv[1]))
    adopt_orphans()
    shell = _prepared_shell()
    for line in sys.stdin:
        question = json.loads(line)
        if "prepare" in question:
            _load(question["prepare"])
        else:
            replies.write(json.dumps(_in_a_fork(shell, question)) + "\n")
            replies.flush()


def _prepared_shell() -> Any:
    import torch
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    from course.figures import draw_nothing

    draw_nothing()  # nobody looks at the pictures of a run
    torch.set_num_threads(1)
    config = Config()
    config.HistoryManager.enabled = False  # no file, and no thread before the fork
    config.InteractiveShell.colors = "nocolor"
    return InteractiveShell.instance(config=config)


def _load(setups: list[str]) -> None:
    """Import what the set-up cells import, so that no fork pays for it."""
    from autograder.engine.student.trusted_modules import load_modules

    load_modules(modules_needed(setups))


def _in_a_fork(shell: Any, request: dict[str, Any]) -> dict[str, Any]:
    started = time.monotonic()
    with tempfile.TemporaryDirectory(
        prefix="autograder-answer-", ignore_cleanup_errors=True
    ) as home:
        if request["data"]:
            ignore = shutil.ignore_patterns("*.ipynb", "__pycache__", ".*")
            shutil.copytree(request["data"], home, ignore=ignore, dirs_exist_ok=True)
        reading, writing = os.pipe()
        server, child = os.getpid(), os.fork()
        if child == 0:
            end_with_parent(server, signal.SIGKILL)
            _run_and_leave(shell, request, home, writing)
        os.close(writing)
        try:
            reply = _await(reading, started + request["limit_s"])
        finally:
            os.close(reading)
            _end(child)
    return {**reply, "seconds": round(time.monotonic() - started, 4)}


def _end(child: int) -> None:
    """End a run with everything that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)  # before it led a group of its own
    os.waitpid(child, 0)
    end_descendants()  # what left the group and was adopted


def _await(reading: int, deadline: float) -> dict[str, Any]:
    """Return the child's line; what the child started may hold the pipe open after it."""
    received = bytearray()
    while not received.endswith(b"\n"):
        left = deadline - time.monotonic()
        # Never for long: a signal that comes just before is handled only afterwards.
        if not select.select([reading], [], [], max(0.0, min(left, _LOOK_S)))[0]:
            if left <= 0:
                return {**_NOTHING, "ended": "timeout"}
            continue
        part = os.read(reading, 1 << 16)
        if not part:
            return {**_NOTHING, "ended": "died"}
        received += part
    reply: dict[str, Any] = json.loads(received)
    return reply


def _run_and_leave(shell: Any, request: dict[str, Any], home: str, writing: int) -> None:
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.setsid()
        os.chdir(home)
        with open(os.devnull, "r+b", buffering=0) as nothing:
            for stream in (0, 1, 2):
                os.dup2(nothing.fileno(), stream)
        sys.stdin = open(os.devnull)  # noqa: SIM115 - lives as long as the process
        reply = _run(shell, [request["setup"], request["answer"], request["test"]])
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(json.dumps(reply).encode() + b"\n")
    finally:
        os._exit(0)


def _run(shell: Any, cells: list[str]) -> dict[str, Any]:
    errors: list[str | None] = []
    table, value, stderr = None, None, False
    for source in cells:
        execution, captured = _run_cell(shell, source)
        error = execution.error_before_exec or execution.error_in_exec
        errors.append(f"{type(error).__name__}: {error!s:.300}" if error is not None else None)
        tables = [output.metadata.get(TABLE_KEY) for output in captured.outputs]
        table = next((one for one in reversed(tables) if one), None)
        value = None if execution.result is None else repr(execution.result)
        stderr = bool(captured.stderr)
    return {"ended": "finished", "errors": errors, "table": table, "value": value, "stderr": stderr}


def _run_cell(shell: Any, source: str) -> tuple[Any, Any]:
    from IPython.utils.capture import capture_output

    with capture_output() as captured:
        execution = shell.run_cell(source, store_history=True)
    return execution, captured


if __name__ == "__main__":
    main()
