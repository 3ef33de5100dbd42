"""One life of a submission: its cells run in order, its twins answer, and then all of it ends.

Nothing here believes what the processes say about themselves: times are taken here, sizes are
bounded here, and how a process ended is told by its init and by the zygote.
"""

from __future__ import annotations

import codecs
import os
import signal
import socket
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any

from autograder.engine.forkserver.client import Exit, Zygote, ZygoteError
from autograder.engine.limits import Limits
from autograder.engine.outputs import Outputs
from autograder.engine.protocol.channel import Channel, Closed, Late, Listener, drain
from autograder.engine.protocol.frames import Frame, FrameError, Kind
from autograder.engine.sandbox.init import OUT_OF_MEMORY

_PAGE_NBYTES = os.sysconf("SC_PAGESIZE")
_FILE_BLOCK_NBYTES = 32 * 2**20
_REPORT_S = 2.0


class Fate(StrEnum):
    """Why a process came to no good end; the values are those of a record's status."""

    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out-of-memory"
    CRASHED = "crashed"
    TAMPERED = "tampered"
    INFRASTRUCTURE = "infrastructure"


class Lost(Exception):
    """The process that was asked is gone, or cannot be believed."""

    def __init__(self, fate: Fate, reason: str) -> None:
        """`reason` completes a sentence that begins with the name of the cell."""
        super().__init__(reason)
        self.fate, self.reason = fate, reason


@dataclass(frozen=True)
class CellEnd:
    """How a cell ended: `error` names the exception that left it, None without one.

    `nbytes` is the address space in use beyond that of the prepared process.
    """

    error: str | None = None
    value: str = ""
    count: int | None = None
    nbytes: int = 0


@dataclass
class Twin:
    """A process that waits beside the notebook's state of one moment."""

    socket: socket.socket
    pid: int


@dataclass(frozen=True)
class Line:
    """The worker's hold on the line between a checker and a twin."""

    life: Life
    twin: Twin

    def fileno(self) -> int:
        """The grader's end of the line, to be handed to the checker."""
        return self.twin.socket.fileno()

    def gone(self) -> bool:
        """Whether the twin has ended; processes that it left may still hold its end."""
        return self.life.gone(self.twin.pid)

    def cut(self) -> None:
        """End the twin; whoever waits for its answer hears that the line is closed."""
        self.life.kill(self.twin.pid)
        with suppress(OSError):
            self.twin.socket.shutdown(socket.SHUT_RDWR)

    def why(self) -> Lost:
        """What is to be said of the twin's end."""
        return self.life.death(self.twin.pid)


class Life:
    """A student process and its twins, from fork to end."""

    def __init__(self, zygote: Zygote, limits: Limits, listener: Listener) -> None:
        """Fork the student process and listen to it."""
        self._zygote, self._limits, self._listener = zygote, limits, listener
        self._lines = zygote.fork()
        self._main = Channel(self._lines.channel)
        self._init = Channel(self._lines.init)
        self._outputs: Outputs | None = None
        self._twins: list[Twin] = []
        self._statuses: dict[int, int] = {}
        self._whole: Exit | None = None
        self._pid = 0
        self._baseline_pages = 0
        self._decoders = {
            fd: (name, codecs.getincrementaldecoder("utf-8")("replace"))
            for name, fd in (("stdout", self._lines.stdout), ("stderr", self._lines.stderr))
        }
        for fd in self._decoders:
            listener.look_after(fd, partial(self._drain, fd))
        listener.look_after(self._init.fileno(), self._hear_init)
        listener.look_after(zygote.control.fileno(), self._hear_zygote)

    def begin(self, setup: str, files: Mapping[str, bytes], until: float) -> None:
        """Lay out the lesson's files, and tell which names probes may use.

        No learner code has run yet: whatever goes wrong here is a `ZygoteError`.
        """
        self._outputs = Outputs(self._limits)  # what the init has to say
        try:
            self._baseline_pages = _whole(self._expect(Kind.READY, until).get("pages"))
            self._lay_out(setup, files)
        except (Lost, FrameError) as lost:
            self._drain_all()
            said = " ".join(one["text"].strip() for one in self._outputs.as_list())
            raise ZygoteError(f"a student process could not be prepared: {lost}. {said}") from None
        finally:
            self._outputs = None

    def _lay_out(self, setup: str, files: Mapping[str, bytes]) -> None:
        for name, content in files.items():
            for start in range(0, max(1, len(content)), _FILE_BLOCK_NBYTES):
                block = content[start : start + _FILE_BLOCK_NBYTES]
                self._tell(Kind.FILE, {"name": name}, (block,))
        if setup:
            self._tell(Kind.SETUP, {"source": setup})

    def run(self, source: str, outputs: Outputs, until: float, *, plain: bool = False) -> CellEnd:
        """Run a cell in the main process; raises `Lost` where it does not come to its end."""
        self._outputs = outputs
        try:
            self._tell(Kind.RUN, {"source": source, "plain": plain})
            end = self._expect(Kind.DONE, until)
            self._drain_all()
            return self._cell_end(end)
        except FrameError as error:
            raise Lost(Fate.TAMPERED, f"sent what is no frame: {error}") from None
        finally:
            self._drain_all()
            self._outputs = None

    def park(self, until: float) -> Twin:
        """Keep the notebook's state of this moment in a process that waits for requests."""
        ours, theirs = socket.socketpair()
        with theirs:
            self._tell(Kind.PARK, {})
            try:
                self._main.send_fd(theirs.fileno())
            except Closed:
                raise self.death(self._pid) from None
        twin = Twin(ours, _whole(self._expect(Kind.PARKED, until).get("pid")))
        self._twins.append(twin)
        return twin

    def finish(self) -> None:
        """End the main process; the twins live on. From here on nothing is shown any more."""
        with suppress(Closed, Late):
            self._main.send(Kind.FINISH, 0, {})
        self._listener.pause(time.monotonic() + _REPORT_S, lambda: self.gone(self._pid))
        if not self.gone(self._pid):
            self.kill(self._pid)

    def line(self, twin: Twin) -> Line:
        """The line on which a checker asks this twin."""
        return Line(self, twin)

    def gone(self, pid: int) -> bool:
        """Whether this process has ended."""
        return pid in self._statuses or self._whole is not None

    def kill(self, pid: int) -> None:
        """Have the init end a process."""
        with suppress(Closed, Late):
            self._init.send(Kind.FINISH, 0, {"kill": pid})

    def death(self, pid: int) -> Lost:
        """What is to be said of a process that closed its channel."""
        self._listener.pause(time.monotonic() + _REPORT_S, lambda: self.gone(pid))
        if self._whole is not None and self._whole.out_of_memory:
            return Lost(Fate.OUT_OF_MEMORY, "took more memory than a submission may")
        return Lost(*_reading(self._statuses.get(pid)))

    def end(self) -> None:
        """End the submission with all its processes, and let go of it."""
        for fd in (*self._decoders, self._init.fileno(), self._zygote.control.fileno()):
            self._listener.forget(fd)
        try:
            if self._whole is None:
                self._whole = self._zygote.end()
        finally:
            self._main.close()
            self._init.close()
            for twin in self._twins:
                twin.socket.close()
            for fd in self._decoders:
                os.close(fd)

    def _tell(self, kind: Kind, body: Any, buffers: tuple[bytes, ...] = ()) -> None:
        try:
            self._main.send(kind, 0, body, buffers)
        except Closed:
            raise self.death(self._pid) from None
        except Late:
            raise Lost(Fate.TIMEOUT, "did not take what it was sent") from None

    def _expect(self, kind: Kind, until: float) -> dict[str, Any]:
        """The body of the next frame of this kind; events before it are taken as outputs."""
        try:
            while True:
                frame = self._listener.wait(self._main, until, lambda: self.gone(self._pid))
                body = frame.body()
                if frame.kind == Kind.EVENT:
                    self._take_event(body, frame)
                elif frame.kind == kind and isinstance(body, dict):
                    return body
                else:
                    raise FrameError(f"a frame of kind {frame.kind} out of turn")
        except Late:
            raise Lost(Fate.TIMEOUT, "ran longer than it may and was stopped") from None
        except Closed:
            raise self.death(self._pid) from None
        except FrameError as error:
            raise Lost(Fate.TAMPERED, f"sent what is no frame: {error}") from None

    def _take_event(self, body: object, frame: Frame) -> None:
        if self._outputs is not None:
            self._outputs.add(body, len(frame.raw))

    def _cell_end(self, end: dict[str, Any]) -> CellEnd:
        error, value, count = end.get("error"), end.get("value"), end.get("count")
        pages = _whole(end.get("pages"))
        if not isinstance(error, str | None) or not isinstance(value, str):
            raise FrameError("the end of a cell in a form that is not known")
        nbytes = max(0, pages - self._baseline_pages) * _PAGE_NBYTES
        return CellEnd(error, value, _whole(count), nbytes)

    def _drain_all(self) -> None:
        for fd in self._decoders:
            self._drain(fd)

    def _drain(self, fd: int) -> None:
        """Take what programs wrote straight to stdout or stderr; it belongs to the running cell."""
        name, decoder = self._decoders[fd]

        def take(data: bytes) -> None:
            if self._outputs is not None:
                self._outputs.add_text(name, decoder.decode(data))

        if not drain(fd, take):
            self._listener.forget(fd)

    def _hear_init(self) -> None:
        try:
            self._init.read()
            while (frame := self._init.next()) is not None:
                body = frame.body()
                if frame.kind == Kind.READY:
                    self._pid = body["pid"]
                else:
                    self._statuses[body["pid"]] = body["status"]
        except (Closed, FrameError):
            self._listener.forget(self._init.fileno())

    def _hear_zygote(self) -> None:
        self._listener.forget(self._zygote.control.fileno())
        self._whole = self._zygote.ended()


def _reading(status: int | None) -> tuple[Fate, str]:
    """What a wait status says, as fate and the end of a sentence."""
    if status is None:
        return Fate.CRASHED, "closed its connection to the grader"
    code = os.waitstatus_to_exitcode(status)
    if code == OUT_OF_MEMORY:
        return Fate.OUT_OF_MEMORY, "took more memory than a submission may"
    if code == -signal.SIGXCPU:
        return Fate.TIMEOUT, "used more processor time than a submission may"
    if code < 0:
        return Fate.CRASHED, f"ended the Python process ({_signal_name(-code)})"
    return Fate.CRASHED, f"ended the Python process with exit status {code}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _whole(value: object) -> int:
    if type(value) is not int:
        raise FrameError("a whole number expected")
    return value
