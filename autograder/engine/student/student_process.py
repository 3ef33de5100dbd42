"""The student process: runs the learner's cells and answers requests about what they made.

It serves one channel.  Everything it needs is captured in closures before the first cell runs, so
that a cell which replaces functions of torch, json, os or of this package changes only what the
learner's own code sees.

The cells run in the main process of the submission.  Where a test cell stands, or the last one of
several that may look at one moment, that process forks a *snapshot*: a process that keeps the
notebook's state of that moment and waits.  Requests go to the snapshots only after all cells have
run and their outputs are final, so no input of a hidden test can reach an output; and a call that
crashes costs its own exercise, not the notebook's state.

Code in this process can try to change the measuring code itself.  `audit.py` keeps secrets from it
and takes down who reaches for frames and memory, `integrity.py` compares what measures with what
it was, and `verify.py` refuses facts that contradict each other or the values that were sent.  No
expected value ever enters the process, and nothing in it can touch the score.  docs/trust.md says
what remains possible.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from autograder.engine.kernel.output_recorder import TOO_LARGE, Emit, Recorder
from autograder.engine.kernel.shell import Shell, record_with
from autograder.engine.protocol.frames import (
    Kind,
    Receive,
    Send,
    TooLarge,
    endpoint_maker,
    fd_taker,
)
from autograder.engine.student.capabilities import Capabilities
from autograder.engine.student.cell_modes import cell_modes
from autograder.engine.student.integrity import IntegrityCheck
from autograder.engine.student.thread_pools import pool_ender
from autograder.engine.student.trusted_modules import Trusted

Serve = Callable[[Any, list[bytes]], tuple[Any, list[bytes]]]


@dataclass(frozen=True)
class Prepared:
    """What the fork server has ready before it forks."""

    shell: Shell
    trusted: Trusted
    integrity: IntegrityCheck
    text_chars: int


def run_student(channel: int, prepared: Prepared) -> None:
    """Serve the channel until it closes; never returns to the caller's code in the fork server."""
    open_endpoint = endpoint_maker()
    send, receive = open_endpoint(channel)
    recorder = record_with(prepared.shell, _emitter(send), prepared.text_chars)
    probe_names: dict[str, Any] = {"__name__": "probes", "__builtins__": prepared.trusted.builtins}
    known: list[tuple[str, Any]] = []  # a class of the set-up cell leads to the dictionary itself
    shorten = _shortener(prepared)
    held = prepared.trusted.capabilities
    serve_snapshot = _snapshot_server(
        open_endpoint, recorder, _server(prepared, lambda: dict(known)), shorten, held
    )
    hooks, take_fd = _Hooks(prepared.shell), fd_taker(channel)
    run_cell, fork, leave, close = prepared.shell.run, os.fork, os._exit, os.close
    address_space, write, define = _address_space_reader(), _write_file, _define
    modes, draw_numbers, end_pools = cell_modes(), _number_drawer(), pool_ender()
    use_key, begin, asked_in = held.use_key, held.begin, _asked_in_reader(modes.asked_in)

    def write_file(body: Any, buffers: list[bytes]) -> None:
        write(body["name"], buffers[0])

    def set_up(body: Any, buffers: list[bytes]) -> None:
        use_key(buffers[0], body["cells"])
        define(body["source"], probe_names)
        known[:] = probe_names.items()

    def run(body: Any, buffers: list[bytes]) -> None:
        begin(body["name"])
        if body["plain"]:
            hooks.restore()
        end = run_cell(body["source"])
        modes.look(body["own"])
        about = {"error": end.error, "value": end.value[:500], "count": end.count}
        send(DONE, 0, {**about, "pages": address_space(), "modes": asked_in()})

    def draw(body: Any, buffers: list[bytes]) -> None:
        draw_numbers(body["numbers"])

    def take_snapshot(body: Any, buffers: list[bytes]) -> None:
        snapshot_channel = take_fd()
        end_pools()
        pid = fork()
        if pid == 0:
            close(channel)
            modes.put_back()
            serve_snapshot(snapshot_channel)
        close(snapshot_channel)
        send(SNAPSHOT_TAKEN, 0, {"pid": pid, "put_back": modes.left_on()})

    def finish(body: Any, buffers: list[bytes]) -> None:
        leave(0)

    # Plain numbers as keys: an enum's members can be replaced, and lookups would go through it.
    handlers = {FILE: write_file, SETUP: set_up, RUN: run, DRAW: draw}
    handlers |= {SNAPSHOT: take_snapshot, FINISH: finish}
    send(READY, 0, {"pages": address_space()})
    while True:
        kind, _, body, buffers = receive()
        handlers[kind](body, buffers)


FILE, SETUP, RUN, DRAW, SNAPSHOT, ASK, FINISH = (
    int(kind)
    for kind in (
        *(Kind.FILE, Kind.SETUP, Kind.RUN, Kind.DRAW),
        *(Kind.SNAPSHOT, Kind.ASK, Kind.FINISH),
    )
)
READY, EVENT, DONE, SNAPSHOT_TAKEN, REPLY, FAILED = (
    int(kind)
    for kind in (Kind.READY, Kind.EVENT, Kind.DONE, Kind.SNAPSHOT_TAKEN, Kind.REPLY, Kind.FAILED)
)


def _snapshot_server(
    open_endpoint: Callable[[int], tuple[Send, Receive]],
    recorder: Recorder,
    serve: Serve,
    shorten: Serve,
    capabilities: Capabilities,
) -> Callable[[int], None]:
    """A function that answers requests on a channel until it ends, and then ends the process."""
    leave, silence, nowhere, Large = os._exit, _silencer(), _nowhere, TooLarge
    replied, failed, sign = REPLY, FAILED, capabilities.sign

    def serve_snapshot(channel: int) -> None:
        try:
            send, receive = open_endpoint(channel)
            recorder._emit = nowhere  # what is printed meanwhile goes nowhere
            silence()
            while True:
                _, number, body, buffers = receive()
                try:
                    reply, reply_buffers = serve(body, buffers)
                except BaseException as error:  # whatever the learner's objects raise
                    name = type(error).__name__
                    about = {"error": name if type(name) is str else "error"}
                    send(failed, number, about, (), sign)
                else:
                    try:
                        send(replied, number, reply, reply_buffers, sign)
                    except Large:
                        send(replied, number, *shorten(reply, reply_buffers), sign)
        finally:
            leave(70)

    return serve_snapshot


def _server(prepared: Prepared, probe_names: Callable[[], dict[str, Any]]) -> Serve:
    """One function that runs a request beside the answer, over the shell's names."""
    names, find = prepared.shell.user_ns, prepared.trusted.get
    capabilities = prepared.trusted.capabilities
    intact, last_pid = prepared.integrity.verifier(), _pid_reader()
    capabilities.use_verifier(intact)
    beside = _beside_reader(last_pid)
    monitor = find("course.testing.recording", "Monitor")(
        intact, capabilities.profiler, last_pid, beside
    )
    backend = find("course.testing.answers", "LocalBackend")(lambda: names, probe_names, monitor)
    run, notices = backend.serve, capabilities.notices

    def library_probe(target: Any, source: str | None) -> Any:
        if target[0] != "probe" or source is not None:
            return None
        module, _, function = target[1].partition(":")
        return find(module, function).procedure

    def serve(body: Any, buffers: list[bytes]) -> tuple[Any, list[bytes]]:
        if not intact():  # before any of it is used
            about = {"intact": False, "notices": notices(), "beside": 0}
            return {"header": {}, "before": 0, **about}, []
        header, (before, after) = run(body, buffers, library_probe(body["target"], body["source"]))
        about = {"intact": header["intact"], "notices": notices(), "beside": beside()}
        return {"header": header, "before": len(before), **about}, [*before, *after]

    return serve


def _shortener(prepared: Prepared) -> Serve:
    """A function that makes a reply which fits of one that is too large."""
    without_values = prepared.trusted.get("course.testing.observe", "without_values")

    def shorten(reply: Any, buffers: list[bytes]) -> tuple[Any, list[bytes]]:
        at = reply["before"]
        header, (before, _) = without_values(reply["header"], [buffers[:at], buffers[at:]])
        return {**reply, "header": header}, before

    return shorten


def _emitter(send: Send) -> Emit:
    """A function that reports an event, in short where all of it does not fit into a frame."""
    Large, shortened, kind = TooLarge, _shortened, EVENT

    def emit(event: dict[str, Any]) -> None:
        try:
            send(kind, 0, event)
        except Large:
            send(kind, 0, shortened(event))

    return emit


def _shortened(event: dict[str, Any]) -> dict[str, Any]:
    if "error" in event:
        lines = [line[:_SHORT_CHARS] for line in event["traceback"][-_SHORT_LINES:]]
        value = event["value"][:_SHORT_CHARS]
        return {"error": event["error"][:200], "value": value, "traceback": lines}
    what = "result" if "result" in event else "display"
    return {**event, what: {"text/plain": TOO_LARGE}, "metadata": {}}


_SHORT_CHARS, _SHORT_LINES = 2_000, 100


class _Hooks:
    """IPython's hooks as they were before the learner's first cell."""

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._transforms = list(shell.input_transformers_post)
        self._cleanup = list(shell.input_transformer_manager.cleanup_transforms)
        self._events = {name: list(found) for name, found in shell.events.callbacks.items()}

    def restore(self) -> None:
        """Put them back, so that a test cell which runs here is compiled as it was written."""
        shell = self._shell
        shell.ast_transformers = []
        shell.input_transformers_post = list(self._transforms)
        shell.input_transformer_manager.cleanup_transforms = list(self._cleanup)
        for name, found in self._events.items():
            if name.startswith("pre_"):
                shell.events.callbacks[name] = list(found)


def _define(source: str, names: dict[str, Any]) -> None:
    """Run the set-up cell once more in a namespace of its own: the names that probes may use."""
    try:
        exec(compile(source, "<set-up>", "exec"), names)
    except Exception:  # it says so when it runs as a cell; a probe then misses the name
        return


def _write_file(name: str, content: bytes) -> None:
    folder = os.path.dirname(name)
    if folder:
        os.makedirs(folder, exist_ok=True)
    with open(name, "ab") as file:
        file.write(content)


def _silencer() -> Callable[[], None]:
    """A function that sends what programs write to nowhere."""
    opened, duplicate, close, path, mode = os.open, os.dup2, os.close, os.devnull, os.O_WRONLY

    def silence() -> None:
        nothing = opened(path, mode)
        duplicate(nothing, 1)
        duplicate(nothing, 2)
        close(nothing)

    return silence


def _number_drawer() -> Callable[[int], None]:
    """A function that draws so many numbers of 32 bits from torch's default generator."""
    import torch

    draw, place, number_type = torch.Tensor.random_, torch.empty, torch.int32

    def draw_numbers(numbers: int) -> None:
        try:
            draw(place(numbers, dtype=number_type, device="cpu"))
        except BaseException:  # a mode that a learner's cell has left on may refuse any operator
            return

    return draw_numbers


def _nowhere(event: object) -> None:
    pass


def _pid_reader() -> Callable[[], int]:
    """A function that tells the last process id that was given out, 0 where it cannot.

    In the sandbox, where no other process is, it counts threads and processes: each has one.
    """
    read, opened, mode = os.pread, os.open, os.O_RDONLY
    path = "/proc/sys/kernel/ns_last_pid"

    def last_pid() -> int:
        if not fds:
            return 0
        return int(read(fds[0], 20, 0))

    try:
        fds = [opened(path, mode)] if os.getpid() < 100 else []
    except OSError:
        fds = []
    return last_pid


def _beside_reader(last_pid: Callable[[], int]) -> Callable[[], int]:
    """A function that tells how many threads and processes run beside the one that asks.

    What runs when it first asks is the grader's, but for threads: a fork takes none along.
    """
    listed, opened, read, close, mode = os.listdir, os.open, os.read, os.close, os.O_RDONLY
    first: list[tuple[int, set[str]]] = []

    def is_running(pid: str) -> bool:
        try:
            fd = opened(f"/proc/{pid}/stat", mode)
        except OSError:
            return False
        try:
            return read(fd, 4096).rpartition(b") ")[2][:1] not in b"ZX"
        except OSError:
            return False
        finally:
            close(fd)

    def beside() -> int:
        last = last_pid()
        if not last:  # without namespaces nobody can tell whose a process is
            return 0
        if not first:
            first.append((last, set(listed("/proc"))))
        count = len(listed("/proc/self/task")) - 1
        if last != first[0][0]:
            others = [name for name in listed("/proc") if name not in first[0][1]]
            count += len([name for name in others if name.isdigit() and is_running(name)])
        return count

    return beside


def _asked_in_reader(modes: Callable[[], str]) -> Callable[[], str]:
    """A function that tells what later calls depend on beside the notebook's names.

    The modes in which an exercise is asked, and the folder, which is left as it is. Without random
    generators, which most cells leave elsewhere, and variables of the environment, which libraries
    set when they are imported.
    """
    folder = os.getcwd

    def asked_in() -> str:
        try:
            return f"{modes()} {folder()!r}"
        except OSError:  # it has been removed
            return modes()

    return asked_in


def _address_space_reader() -> Callable[[], int]:
    """A function that tells the pages of address space in use, 0 where it cannot."""
    opened, read, close, mode = os.open, os.read, os.close, os.O_RDONLY

    def address_space() -> int:
        try:
            fd = opened("/proc/self/statm", mode)
            try:
                return int(read(fd, 100).split()[0])
            finally:
                close(fd)
        except OSError:  # no descriptor is left, or no /proc
            return 0

    return address_space
