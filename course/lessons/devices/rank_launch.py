"""Starts ranks, waits for them for a bounded time, and leaves no process behind.

    the process that asks ── fork, in a thread ──▶ supervisor ── fork ──▶ ranks

The thread is a new one because what is recorded of a call (torch's modes, its profiler) belongs to
a thread, and would go on in a fork of the thread that has it. The supervisor adopts whatever ranks
start and leave, as far as the system lets it, and ends it.

A script runs as `torchrun` would run it: `RANK`, `WORLD_SIZE`, `MASTER_ADDR` and the rest are in
its environment, and it makes its process group by itself. Its result is what it leaves under the
name `result`. A function is called as `function(rank, *args)`, or as `function(*each[rank])`, in a
process group over gloo. Once a rank has failed the others have two more seconds. Of each rank one
learns:

    rank      its number
    result    plain data, or None
    exit      its exit code (negative: the signal that ended it), None where it was ended here
    ended     "finished", "failed", "stopped" (another rank had failed) or "timeout"
    error     the exception that left it, in one line
    printed   the end of what it wrote to stdout
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from course.lessons.devices.rank_process import (
    Rank,
    become,
    become_fresh,
    call,
    free_port,
    read_traces,
    run_script,
)
from course.probes.forks import forked

__all__ = ["launch"]

GRACE_S = 2.0  # for the other ranks once one has failed
_USES_COMPILER = re.compile(r"DistributedDataParallel|\boptim\b")
_MOST_CHARS, _MOST_NBYTES = 10_000, 32 << 20
_PAUSE_S, _ROUNDS = 0.005, 400
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of Linux

Work = Callable[[], NoReturn]


def launch(
    program: str | Callable[..., Any],
    ranks: int = 2,
    *,
    args: Sequence[Any] = (),
    each: Sequence[Sequence[Any]] | None = None,
    files: Mapping[str, str] | None = None,
    group: bool | None = None,
    fresh: bool = False,
    timeout_s: float = 20.0,
) -> list[dict[str, Any]]:
    """Run a script or a function in several processes, and say what became of each.

    Args:
        program: The text of a script, or a function.
        ranks: The number of processes.
        args: What a function gets after its rank.
        each: All that a function gets, one sequence a rank.
        files: Text files in the directory where the ranks run, by name.
        group: Whether a function finds a process group; it does if nothing is said.
        fresh: Each rank of a script is a Python of its own, and imports torch for 2 s and more.
        timeout_s: Seconds until the ranks that are left are ended.

    Returns:
        A dict a rank, with the keys that stand at the head of this module.

    Raises:
        ValueError: `ranks` is below 1, `each` has another length, or a function is to be fresh.
        RuntimeError: This system cannot fork.
    """
    _refuse(program, ranks, each, fresh=fresh)
    with tempfile.TemporaryDirectory() as top:
        all_of_them = _prepared(top, program, ranks, timeout_s, files or {})
        if isinstance(program, str):
            work = [_script(rank, fresh=fresh) for rank in all_of_them]
        else:
            given = each if each is not None else [(number, *args) for number in range(ranks)]
            work = _functions(all_of_them, program, given, group=group is None or group)
        ends = _run(work, Path(top, "traces", "ends.json"), timeout_s)
        return [_report_of(rank, *end) for rank, end in zip(all_of_them, ends, strict=True)]


def _refuse(program: object, ranks: int, each: Sequence[Any] | None, *, fresh: bool) -> None:
    if ranks < 1 or (each is not None and len(each) != ranks):
        raise ValueError(f"{ranks} ranks need one sequence each")
    if fresh and not isinstance(program, str):
        raise ValueError("a function cannot be sent to a fresh process; write a script")
    if not hasattr(os, "fork"):
        raise RuntimeError("ranks are forked, and this system cannot; use Linux, macOS or Colab")
    if isinstance(program, str) and not fresh and _USES_COMPILER.search(program):
        import_module("torch._dynamo")  # once, and not in each rank, where it takes 1.3 s


def _prepared(
    top: str, program: object, count: int, timeout_s: float, files: Mapping[str, str]
) -> list[Rank]:
    folder, traces = Path(top, "work"), Path(top, "traces")
    folder.mkdir()
    traces.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    path = ""
    if isinstance(program, str):
        path = str(folder / "script.py")
        Path(path).write_text(program)
    port = free_port()
    about = (str(folder), str(traces), port, path, timeout_s)
    return [Rank(number, count, *about) for number in range(count)]


def _script(rank: Rank, *, fresh: bool) -> Work:
    if fresh:
        return partial(become_fresh, rank)
    return partial(become, rank, partial(run_script, rank))


def _functions(
    ranks: Sequence[Rank],
    function: Callable[..., Any],
    given: Sequence[Sequence[Any]],
    *,
    group: bool,
) -> list[Work]:
    pairs = zip(ranks, given, strict=True)
    calls = [
        (rank, partial(call, rank, partial(function, *one), group=group)) for rank, one in pairs
    ]
    return [partial(become, rank, one) for rank, one in calls]


def _report_of(rank: Rank, code: int | None, why: str) -> dict[str, Any]:
    traces = read_traces(rank, _MOST_CHARS, _MOST_NBYTES)
    error = traces["error"]
    if code is not None and code < 0 and not error:
        with suppress(ValueError):
            error = f"ended by {signal.Signals(-code).name}"
    return {"rank": rank.number, **traces, "error": error, "exit": code, "ended": why}


def _run(work: Sequence[Work], ends: Path, timeout_s: float) -> list[tuple[int | None, str]]:
    """The exit code of each, None where it had to be ended, and how it ended."""
    supervisor = forked(partial(_supervise, work, ends, timeout_s))
    try:
        _await_end(supervisor, timeout_s + GRACE_S + _ROUNDS * _PAUSE_S + 10)
    finally:
        _kill(supervisor)
        with suppress(ChildProcessError):
            os.waitpid(supervisor, 0)
    if not ends.exists():
        return [(None, "stopped")] * len(work)
    return [(code, why) for code, why in json.loads(ends.read_text())]


def _await_end(pid: int, limit_s: float) -> None:
    """Wait until a process ends, but leave its number taken: it is killed by that afterwards."""
    until = time.monotonic() + limit_s
    while time.monotonic() < until:
        with suppress(ChildProcessError):
            if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                time.sleep(_PAUSE_S)
                continue
        return


def _supervise(work: Sequence[Work], ends: Path, timeout_s: float) -> NoReturn:
    """Start the ranks, wait for them, end what is left, write down how each ended."""
    try:
        os.setsid()
        _adopt_orphans()
        until = time.monotonic() + timeout_s
        running: dict[int, int] = {}
        for number, one in enumerate(work):
            pid = os.fork()
            if pid == 0:
                os.setpgid(0, 0)
                one()
            running[pid] = number
        groups = list(running)
        codes, why = _wait(running, until)
        _end_all(groups)
        found = [_end_of_rank(codes.get(number), why) for number in range(len(work))]
        part = ends.with_suffix(".part")
        part.write_text(json.dumps(found))
        part.rename(ends)
    finally:
        os._exit(0)


def _end_of_rank(code: int | None, why: str) -> tuple[int | None, str]:
    if code is None:
        return None, why
    return code, "failed" if code else "finished"


def _wait(running: dict[int, int], until: float) -> tuple[dict[int, int], str]:
    """The exit codes by rank of those that end in time, and why the others are to be ended."""
    codes: dict[int, int] = {}
    why = "timeout"
    while running and time.monotonic() < until:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            time.sleep(_PAUSE_S)
        elif pid in running:
            code = codes[running.pop(pid)] = os.waitstatus_to_exitcode(status)
            if code and why == "timeout" and (soon := time.monotonic() + GRACE_S) < until:
                until, why = soon, "stopped"
    return codes, why


def _end_all(groups: Sequence[int]) -> None:
    """Kill the groups of the ranks, and what else became a child of this process, until none is."""
    for _ in range(_ROUNDS):
        for group in groups:
            with suppress(OSError):
                os.killpg(group, signal.SIGKILL)
        for pid in _children():
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(_PAUSE_S)


def _children() -> list[int]:
    """The children of this process, those that it adopted among them; none without /proc."""
    found, own = [], os.getpid()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            if int(path.read_text().rpartition(")")[2].split()[1]) == own:
                found.append(int(path.parent.name))
    return found


def _adopt_orphans() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


def _kill(supervisor: int) -> None:
    with suppress(OSError):
        os.killpg(supervisor, signal.SIGKILL)
    with suppress(OSError):
        os.kill(supervisor, signal.SIGKILL)
