"""Runs a program, adopts whatever it leaves behind, and tells what that is.

As a program of its own (`python -m tests.faults.warden PLAN`), so that orphans of what it watches
come to it and to nobody else.  The plan says whom to kill and when; the answer is one line of JSON.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TextIO

from autograder.descendants import descendants, end_descendants
from autograder.linux import adopt_orphans

ROOT = Path(__file__).parents[2]
PATIENCE_S = 60.0  # for what takes a second on a machine that is not busy


@dataclass(frozen=True)
class Plan:
    """A program, the victims (see `_VICTIMS`) that are killed one after the other, and the end.

    `after_s`: the program gets `last` that much later.  Without it, as soon as the victims are
    dead.  `last` 0 waits for the program to end by itself.
    """

    command: list[str]
    env: dict[str, str]
    victims: tuple[str, ...] = ()
    last: int = signal.SIGKILL
    to_group: bool = False
    after_s: float = 0.0


@dataclass(frozen=True)
class Report:
    """What is still there, as command lines, the program's exit status, its output and its time."""

    survivors: list[str]
    status: int
    output: str
    seconds: float


def watch(plan: Plan) -> Report:
    """Carry out `plan` in a warden of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.warden", json.dumps(asdict(plan))],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return Report(**json.loads(done.stdout))


def main() -> None:
    """Carry out the plan in the first argument."""
    adopt_orphans()
    # Started in the background, as by `make test &`, it ignores SIGINT, and so would the program.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # A file and no pipe: what survives would hold the pipe open, and nobody could say who that is.
    with tempfile.TemporaryFile("w+") as said:
        try:
            print(json.dumps(asdict(_carried_out(Plan(**json.loads(sys.argv[1])), said))))
        finally:  # also where nothing went by the plan
            end_descendants()


def _carried_out(plan: Plan, said: TextIO) -> Report:
    begun, old = time.monotonic(), set[int]()
    program = subprocess.Popen(
        plan.command,
        env=os.environ | plan.env,
        stdout=said,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    for name in plan.victims:
        victim = _awaited(name, program.pid, old)
        old.update(_checkers(program.pid))
        os.kill(victim, signal.SIGKILL)
    if plan.last:
        with suppress(subprocess.TimeoutExpired):
            program.wait(plan.after_s)
        with suppress(ProcessLookupError):
            (os.killpg if plan.to_group else os.kill)(program.pid, plan.last)
    status = program.wait(PATIENCE_S)
    seconds = time.monotonic() - begun
    survivors = _survivors()
    said.seek(0)
    return Report(survivors, status, said.read(), seconds)


def _survivors() -> list[str]:
    """What has not ended by itself after a while."""
    until = time.monotonic() + PATIENCE_S
    while (left := _left()) and time.monotonic() < until:
        time.sleep(0.05)
    return [_command(pid)[:300] for pid in left]


def _left() -> list[int]:
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    return descendants(os.getpid())


def _awaited(name: str, main: int, old: Collection[int]) -> int:
    """The process called `name`; `old` checkers are those of calls that have seen a victim."""
    until = time.monotonic() + PATIENCE_S
    while time.monotonic() < until:
        if name not in _CALLS or set(_checkers(main)) - set(old):
            for pid in _VICTIMS[name](main):
                return pid
        time.sleep(0.01)
    there = "\n".join(f"{pid} of {_parent(pid)}: {_command(pid)[:300]}" for pid in _left())
    raise TimeoutError(f"no {name} appeared beside\n{there}")


def _command(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    return "gone"


def _name(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip()
    return "gone"


def _children(pid: int) -> list[int]:
    return [one for one in descendants(pid) if _parent(one) == pid]


def _parent(pid: int) -> int:
    with suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/stat") as stat:
        return int(stat.read().rpartition(")")[2].split()[1])
    return 0


def _graders(parent: int) -> list[int]:
    """Its children that belong to the engine's trusted side."""
    return [pid for pid in _children(parent) if "engine.worker" in _command(pid)]


def _workers(main: int) -> list[int]:
    return [worker for pool in _graders(main) for worker in _graders(pool)]


def _checkers(main: int) -> list[int]:
    """Children of a worker, or of the process that it has ready to fork them from."""
    below = [
        pid
        for worker in _workers(main)
        for one in _graders(worker)
        for pid in (one, *_graders(one))
    ]
    return [pid for pid in below if _name(pid) == "checker"]


def _sandboxes(main: int) -> list[int]:
    """What the pool or a worker starts for learners: bubblewrap, or the first fork server."""
    below = [pid for pid in descendants(main) if "engine.worker" in _command(_parent(pid))]
    return [pid for pid in below if "engine.forkserver" in _command(pid)]


def _fork_servers(main: int) -> list[int]:
    return [child for pid in _sandboxes(main) for child in _children(pid)]


def _asked(main: int) -> list[int]:
    """The process that runs the call: it has begun where a child of it has ended, unawaited."""
    ended = [
        pid for sandbox in _sandboxes(main) for pid in descendants(sandbox) if not _command(pid)
    ]
    return [_parent(pid) for pid in ended]


def _owner_of_a_kernel(main: int) -> list[int]:
    return [main] if any("ipykernel" in _command(pid) for pid in descendants(main)) else []


def _server_with_a_trial(main: int) -> list[int]:
    servers = [pid for pid in _children(main) if "answer_bank.notebook_process" in _command(pid)]
    return [pid for pid in servers if _children(pid)]


def _starter_of_a_trial(main: int) -> list[int]:
    return [main] if _server_with_a_trial(main) else []


def _starter_of_a_proof(main: int) -> list[int]:
    """The program, once a proof of it has started a process of its own."""
    servers = [pid for pid in _children(main) if "proofs.proof_process" in _command(pid)]
    return [main] if any(descendants(pid) for pid in servers) else []


_VICTIMS: dict[str, Callable[[int], list[int]]] = {
    "worker pool": _graders,
    "worker": _workers,
    "checker": _checkers,
    "sandbox": _sandboxes,
    "fork server": _fork_servers,
    "asked": _asked,
    "starting worker pool": _graders,
    "starting sandbox": _sandboxes,
    "stock grader": _owner_of_a_kernel,
    "trial server": _server_with_a_trial,
    "starter of a trial": _starter_of_a_trial,
    "starter of a proof": _starter_of_a_proof,
}
# Those that are killed while a call of a test cell does not return.
_CALLS = ("worker", "checker", "sandbox", "fork server", "asked", "worker pool")

if __name__ == "__main__":
    main()
