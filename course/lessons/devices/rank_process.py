"""One rank: a process that runs a script or a function and writes down what came of it.

A rank is a fork of the process that asks for it, so torch is there already: 0.1 s of processor time
instead of the 2 s and more that a Python of its own takes to import it. What a fork would hand on
is put back to what a new process has: the seed, the default dtype, the streams, the arguments.
"""

from __future__ import annotations

import json
import os
import random
import socket
import sys
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

import torch

# What a process draws from that seeds nothing (`default_rng_seed_val` in ATen/core/Generator.h).
_TORCHS_SEED = 67280421310721
_INTERFACES = {"linux": "lo", "darwin": "lo0"}


@dataclass(frozen=True)
class Rank:
    """One rank among `world`, and where its traces lie.

    Attributes:
        number: Its rank, from 0.
        world: How many there are.
        folder: The directory in which it runs.
        traces: The directory for what it prints and returns.
        port: A free port of 127.0.0.1, the same for all.
        script: The path of the script that it runs; "" for a function.
        timeout_s: How long it waits for the others.
    """

    number: int
    world: int
    folder: str
    traces: str
    port: int
    script: str
    timeout_s: float

    def trace(self, kind: str) -> Path:
        """The file for what it printed (`out`, `err`), returned (`pt`) or failed with (`error`)."""
        return Path(self.traces, f"{self.number}.{kind}")

    def environment(self) -> dict[str, str]:
        """What `torchrun` tells a rank, and the interface of 127.0.0.1 for gloo."""
        number, world = str(self.number), str(self.world)
        told = {"RANK": number, "LOCAL_RANK": number, "WORLD_SIZE": world}
        told |= {"LOCAL_WORLD_SIZE": world, "GROUP_RANK": "0", "OMP_NUM_THREADS": "1"}
        told |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(self.port)}
        interface = _INTERFACES.get(sys.platform)
        return told | ({"GLOO_SOCKET_IFNAME": interface} if interface else {})


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on at this moment; 0 where there is no network."""
    with suppress(OSError), socket.socket() as asked:
        asked.bind(("127.0.0.1", 0))
        return int(asked.getsockname()[1])
    return 0


def become(rank: Rank, work: Callable[[], Any]) -> NoReturn:
    """Be this rank, in a process that was forked for it, until `work` ends."""
    code = 1
    try:
        _begin(rank)
        code = _worked(rank, work)
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)


def become_fresh(rank: Rank) -> NoReturn:
    """Be this rank with a Python of its own, which imports torch anew."""
    root = str(Path(__file__).parents[3])
    start = f"import sys; sys.path.insert(0, sys.argv[1]); from {__name__} import main; main()"
    words = [sys.executable, "-c", start, root, json.dumps(asdict(rank))]
    os.execve(sys.executable, words, {**os.environ, **rank.environment()})


def main() -> None:
    """Start as `become_fresh` does: the rank is the last argument."""
    rank = Rank(**json.loads(sys.argv[-1]))
    become(rank, lambda: run_script(rank))


def run_script(rank: Rank) -> Any:
    """Run the script as a program; return what it leaves under the name `result`."""
    module = ModuleType("__main__")
    module.__file__ = rank.script
    sys.modules["__main__"] = module
    sys.argv[:] = [rank.script]
    sys.path.insert(0, rank.folder)
    text = Path(rank.script).read_text()
    exec(compile(text, rank.script, "exec"), vars(module))
    return vars(module).get("result")


def call(rank: Rank, function: Callable[[], Any], *, group: bool) -> Any:
    """Call a function, in a process group of all ranks where `group` says so."""
    if not group:
        return function()
    import torch.distributed as dist

    store, limit = dist.FileStore(f"{rank.traces}/meeting-point"), timedelta(seconds=rank.timeout_s)
    dist.init_process_group(
        "gloo", store=store, rank=rank.number, world_size=rank.world, timeout=limit
    )
    # Whoever ends while others are still connecting would break their connection.
    store.set(f"connected/{rank.number}", "")
    store.wait([f"connected/{number}" for number in range(rank.world)], limit)
    return function()


def _begin(rank: Rank) -> None:
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    for number, kind in ((1, "out"), (2, "err")):
        file = os.open(rank.trace(kind), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(file, number)
        os.close(file)
    sys.stdout, sys.stderr = (os.fdopen(fd, "w", buffering=1, closefd=False) for fd in (1, 2))
    sys.__stdout__, sys.__stderr__ = sys.stdout, sys.stderr  # type: ignore[misc]
    os.chdir(rank.folder)
    os.environ.update(rank.environment())
    torch.set_num_threads(1)  # the threads of the process that was forked are not here
    torch.set_default_dtype(torch.float32)
    torch.manual_seed(_TORCHS_SEED)
    random.seed()


def _worked(rank: Rank, work: Callable[[], Any]) -> int:
    """The exit code after the work; its result, or its error, is written down."""
    try:
        result = work()
        torch.save(result, rank.trace("part"))
        rank.trace("part").rename(rank.trace("pt"))
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException as error:
        traceback.print_exc()
        said = (str(error).strip().splitlines() or [""])[0]
        rank.trace("error").write_text(f"{type(error).__name__}: {said}".removesuffix(": "))
        return 1
    return 0


def read_traces(rank: Rank, most_chars: int, most_nbytes: int) -> Mapping[str, Any]:
    """What a rank left behind: `result`, `error` and `printed`, bounded, as plain data."""
    printed = _end_of(rank.trace("out"), most_chars)
    error = _end_of(rank.trace("error"), most_chars)
    path, result = rank.trace("pt"), None
    try:
        if path.exists() and path.stat().st_size <= most_nbytes:
            result = torch.load(path, weights_only=True)
        elif path.exists():
            error = f"the result takes more than {most_nbytes >> 20} MiB"
    except Exception:  # what weights_only refuses, or no file of torch's
        error = "the result is not plain data: tensors, numbers, text, lists and dicts of them"
    return {"result": result, "error": error, "printed": printed}


def _end_of(path: Path, most_chars: int) -> str:
    return path.read_text(errors="replace")[-most_chars:] if path.exists() else ""
