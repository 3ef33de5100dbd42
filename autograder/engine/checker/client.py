"""The worker's side of a checker process: test cells go in, tables and points come out."""

from __future__ import annotations

import os
import signal
import socket
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from autograder import linux
from autograder.engine.kernel.shell import Shell
from autograder.engine.limits import Limits, limit_memory
from autograder.engine.outputs import Output, Outputs
from autograder.engine.protocol.channel import Channel, Closed, Late, Listener
from autograder.engine.protocol.frames import FrameError, Kind
from autograder.engine.student.client import Fate, Line, Lost

_GRACE_S = 5.0  # for a test cell to end after the line to the answer was cut


@dataclass(frozen=True)
class TestRun:
    """What a test cell showed; `lost` says why it could not come to its end."""

    outputs: tuple[Output, ...]
    error: str | None = None
    count: int | None = None
    lost: Lost | None = None
    memory_error: bool = False


class CheckerBroken(Exception):
    """The checker process died or misbehaved; `died` says that it was the former."""

    def __init__(self, reason: str, *, died: bool = False) -> None:
        """`reason` is for the instructor."""
        super().__init__(reason)
        self.died = died
        self.step: int | None = None  # the number of the test cell, where it was at one


class Stuck(Exception):
    """A test cell does not end although nobody answers it any more.

    What the answer gave is too much for it, and the checker has to be replaced.
    """

    def __init__(self, lost: Lost) -> None:
        """`lost` is what became of the exercise."""
        super().__init__(lost.reason)
        self.lost = lost


class Checker:
    """A forked process that runs the test cells of one submission."""

    def __init__(self, shell: Shell, folder: str, limits: Limits, listener: Listener) -> None:
        """Fork it from this process, which has the course loaded and runs no learner code."""
        self._limits, self._listener = limits, listener
        ours, theirs = socket.socketpair()
        worker = os.getpid()
        self._pid = os.fork()
        if self._pid == 0:
            ours.close()
            _be_checker(theirs.fileno(), shell, folder, limits, worker)
        theirs.close()
        self._channel = Channel(ours)

    def set_up(self, source: str, until: float) -> None:
        """Run the lesson's set-up cell."""
        if source:
            self._run(source, None, until)

    def run(self, source: str, line: Line, until: float) -> TestRun:
        """Run a test cell that asks for answers on `line`."""
        return self._run(source, line, until)

    def _run(self, source: str, line: Line | None, until: float) -> TestRun:
        outputs, lost = Outputs(self._limits), None
        try:
            self._channel.send(Kind.TEST, 0, {"source": source, "asks": line is not None})
            if line is not None:
                self._channel.send_fd(line.fileno())
            while True:
                try:
                    end = self._until_done(outputs, None if lost else line, until)
                    return _test_run(outputs, end, lost, line)
                except (Late, _TwinGone) as reason:
                    if lost is not None:
                        raise Stuck(lost) from None
                    if line is None:
                        raise CheckerBroken("the set-up cell did not come to its end") from None
                    late = isinstance(reason, Late)
                    lost = Lost(Fate.TIMEOUT, "ran longer than it may") if late else line.why()
                    line.cut()
                    until = time.monotonic() + _GRACE_S
        except (Closed, FrameError) as error:
            died = isinstance(error, Closed)
            raise CheckerBroken(f"the checker process stopped: {error!r}", died=died) from error

    def _until_done(self, outputs: Outputs, line: Line | None, until: float) -> dict[str, Any]:
        while True:
            try:
                frame = self._listener.wait(self._channel, until, line.gone if line else _never)
            except Closed:
                if line is not None and line.gone():
                    raise _TwinGone from None
                raise
            body = frame.body()
            if frame.kind != Kind.EVENT:
                found: dict[str, Any] = body
                return found
            outputs.add(body, len(frame.raw))

    def close(self) -> None:
        """End the process."""
        self._channel.close()
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)


class _TwinGone(Exception):
    """The twin ended while a test cell was asking it."""


def _never() -> bool:
    return False


def _test_run(
    outputs: Outputs, end: dict[str, Any], lost: Lost | None, line: Line | None
) -> TestRun:
    if end["broken"]:
        raise CheckerBroken(f"an answer's facts could not be read: {end['broken']}")
    if end["tampered"]:
        lost = Lost(Fate.TAMPERED, f"reported what cannot be: {end['tampered']}")
    elif end["large"]:
        lost = lost or Lost(Fate.OUT_OF_MEMORY, "gave back more than there is memory to check")
    elif end["failed"]:
        lost = lost or Lost(Fate.CRASHED, f"could not be observed ({end['failed']})")
    elif end["gone"] and line is not None:
        lost = lost or line.why()
    shown = tuple(outputs.as_list())
    return TestRun(shown, end["error"], end["count"], lost, end["memory"])


def _be_checker(channel: int, shell: Shell, folder: str, limits: Limits, worker: int) -> None:
    from autograder.engine.checker.process import check

    try:
        # It holds copies of the worker's lines: what waits for their end would wait for ever.
        linux.die_with_parent(worker)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        limit_memory(limits)
        check(channel, shell, folder, limits.text_chars)
    except BaseException:
        os._exit(1)
    finally:
        os._exit(0)
