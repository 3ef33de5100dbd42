"""The worker's side of a checker process: test cells go in, tables and points come out."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from autograder.engine.frames import FrameError, Kind
from autograder.engine.life import Fate, Lost
from autograder.engine.limits import Limits
from autograder.engine.listening import Channel, Closed, Late, Listener
from autograder.engine.outputs import Output, Outputs
from autograder.engine.shell import Shell

Ask = Callable[[bytes], bytes]


@dataclass(frozen=True)
class TestRun:
    """What a test cell showed; `lost` says why it could not come to its end."""

    outputs: tuple[Output, ...]
    error: str | None
    count: int | None
    lost: Lost | None = None
    memory_error: bool = False


class CheckerBroken(Exception):
    """The checker process died or misbehaved: a fault of the grader."""


class Checker:
    """A forked process that runs the test cells of one submission."""

    def __init__(self, shell: Shell, folder: str, limits: Limits, listener: Listener) -> None:
        """Fork it from this process, which has the course loaded and runs no learner code."""
        self._limits, self._listener = limits, listener
        ours, theirs = socket.socketpair()
        self._pid = os.fork()
        if self._pid == 0:
            ours.close()
            _be_checker(theirs.fileno(), shell, folder, limits)
        theirs.close()
        self._channel = Channel(ours)

    def run(self, source: str, ask: Ask, until: float) -> TestRun:
        """Run a test cell; `ask` passes its requests on and raises `Lost` where nobody answers."""
        outputs, lost = Outputs(self._limits), None
        try:
            self._channel.send(Kind.TEST, 0, {"source": source})
            while True:
                frame = self._listener.wait(self._channel, until)
                if frame.kind == Kind.EVENT:
                    outputs.add(frame.body(), len(frame.raw))
                elif frame.kind == Kind.ASK:
                    lost = self._pass_on(frame.raw, ask, until) or lost
                else:
                    return _test_run(outputs, frame.body(), lost)
        except Late:
            lost = lost or Lost(Fate.TIMEOUT, "ran longer than it may and was stopped")
            self.close()
            return TestRun(tuple(outputs.as_list()), None, None, lost)
        except (Closed, FrameError) as error:
            raise CheckerBroken(f"the checker process stopped: {error!r}") from error

    def _pass_on(self, raw: bytes, ask: Ask, until: float) -> Lost | None:
        try:
            self._channel.send_raw(ask(raw), until)
        except Lost as lost:
            self._channel.send(Kind.GONE, 0, {})
            return lost
        return None

    @property
    def closed(self) -> bool:
        """Whether another checker is needed for the next test cell."""
        return self._pid == 0

    def close(self) -> None:
        """End the process."""
        if self._pid:
            self._channel.close()
            with suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGKILL)
            os.waitpid(self._pid, 0)
            self._pid = 0


def _test_run(outputs: Outputs, end: dict[str, Any], lost: Lost | None) -> TestRun:
    if end["tampered"]:
        lost = Lost(Fate.TAMPERED, f"reported what cannot be: {end['tampered']}")
    elif end["failed"]:
        lost = Lost(Fate.CRASHED, f"could not be observed ({end['failed']})")
    return TestRun(tuple(outputs.as_list()), end["error"], end["count"], lost, end["memory"])


def _be_checker(channel: int, shell: Shell, folder: str, limits: Limits) -> None:
    from autograder.engine.checker import check

    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        check(channel, shell, folder, limits.text_chars)
    except BaseException:
        os._exit(1)
    finally:
        os._exit(0)
