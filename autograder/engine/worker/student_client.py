"""The worker's client of a student process: it runs cells, takes snapshots and ends them all.

The processes of a submission are not trusted: times are measured here, sizes are bounded here, and
how a process ended comes from its init and from the fork server.
"""

from __future__ import annotations

import codecs
import os
import signal
import socket
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from autograder.engine.kernel import cell_file_name
from autograder.engine.limits import Limits
from autograder.engine.outcomes import Failure, FailureCause
from autograder.engine.protocol.channel import (
    Channel,
    ChannelClosed,
    DeadlinePassed,
    Listener,
    drain,
)
from autograder.engine.protocol.frames import Frame, FrameError, Kind, renumbered
from autograder.engine.sandbox.init import OUT_OF_MEMORY
from autograder.engine.student.cell_modes import MODES
from autograder.engine.worker.deadline import Deadline, await_frame
from autograder.engine.worker.fork_server_client import (
    Excess,
    Exit,
    ForkServerError,
    StudentForkServer,
)
from autograder.engine.worker.outputs import Outputs, cell_number

_PAGE_NBYTES = os.sysconf("SC_PAGESIZE")
_FILE_BLOCK_NBYTES = 32 * 2**20
_REPORT_S = 2.0  # for init or fork server to report an end


class ProcessFailed(Exception):
    """A process has ended, ran too long, or broke the protocol; `failure` says which."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.reason)
        self.failure = failure


@dataclass(frozen=True)
class CellReport:
    """How a cell ended: `error` names the exception that left it, None without one.

    `nbytes` is the address space in use beyond that of the prepared process.
    """

    error: str | None = None
    value: str = ""
    count: int | None = None
    nbytes: int = 0


@dataclass
class Snapshot:
    """A process that keeps the notebook's state of one moment and serves requests on `socket`."""

    socket: socket.socket
    pid: int
    channel: Channel = field(init=False)

    def __post_init__(self) -> None:
        self.channel = Channel(self.socket)


@dataclass(frozen=True)
class SnapshotConnection:
    """The worker's end of the connection to a snapshot; a checker gets it, too."""

    student: StudentProcess
    snapshot: Snapshot

    def fileno(self) -> int:
        """The file descriptor that the checker gets."""
        return self.snapshot.socket.fileno()

    def ask(self, raw: bytes, number: int, until: Deadline) -> Frame:
        """The frame that comes back for a request.

        Args:
            raw: The request, as a frame.
            number: That of the frame.
            until: The deadline.

        Raises:
            ChannelClosed: The snapshot has ended.
            DeadlinePassed: Nothing came in time.
            FrameError: What came is no frame.
        """
        channel = self.snapshot.channel
        channel.send_raw(renumbered(raw, number))
        return await_frame(self.student.listener, channel, until, self.has_ended)

    def is_silent(self) -> bool:
        """Whether nothing has come that was not asked for."""
        return self.snapshot.channel.is_silent()

    def take_pending(self) -> bytes:
        """What was read from the snapshot and is no whole frame: for the next who reads there."""
        return self.snapshot.channel.take_pending()

    def has_ended(self) -> bool:
        """Whether the snapshot has ended; processes that it started may still hold the socket."""
        return self.student.has_ended(self.snapshot.pid)

    def disconnect(self) -> None:
        """End the snapshot and close the connection, also for a checker that waits on it."""
        self.student.kill(self.snapshot.pid)
        with suppress(OSError):
            self.snapshot.socket.shutdown(socket.SHUT_RDWR)

    def failure(self) -> Failure:
        """How the snapshot ended."""
        return self.student.failure_of(self.snapshot.pid)


class StudentProcess:
    """The worker's client of one student process and its snapshots, from fork to end."""

    def __init__(
        self,
        fork_server: StudentForkServer,
        limits: Limits,
        listener: Listener,
        *,
        loopback: bool = False,
    ) -> None:
        """Fork the student process.

        Args:
            fork_server: The process that forks it; it serves one student process at a time.
            limits: What the submission may use.
            listener: Reads what init and the processes write, while anything is awaited.
            loopback: It gets a network of its own.

        Raises:
            ForkServerError: The fork server does not answer.
            SandboxError: The fork server has ended.
        """
        self._fork_server, self._limits, self.listener = fork_server, limits, listener
        self._connections = fork_server.fork(loopback=loopback)
        self._main = Channel(self._connections.channel)
        self._init = Channel(self._connections.init)
        self._outputs: Outputs | None = None
        self._snapshots: list[Snapshot] = []
        self._statuses: dict[int, int] = {}
        self._exit: Exit | None = None
        self.key = os.urandom(32)  # for the signatures of replies
        self._pid, self._cpu_s = 0, 0.0
        self._own_begun_s = time.process_time()
        self._baseline_pages, self._alone = 0, False
        self.modes = ""  # in which an exercise is asked after the last cell, as the process says
        self.names = set[str]()  # of the cells that were run
        self.put_back = set[str]()  # which of them cells had left otherwise when one was asked
        streams = {"stdout": self._connections.stdout, "stderr": self._connections.stderr}
        self._decoders = {
            fd: (name, codecs.getincrementaldecoder("utf-8")("replace"))
            for name, fd in streams.items()
        }
        for fd in self._decoders:
            listener.watch(fd, partial(self._drain, fd))
        listener.watch(self._init.fileno(), self._handle_init_messages)
        listener.watch(fork_server.fileno(), self._handle_exit_report)

    def prepare(
        self, setup: str, files: Mapping[str, bytes], until: Deadline, *, cells: Iterable[str] = ()
    ) -> None:
        """Write the lesson's files, and define the names that probes may use.

        Args:
            setup: The source of the lesson's set-up cell.
            files: The lesson's data files: path relative to the notebook, and content.
            until: The deadline.
            cells: The lesson's own cells, which may do what a learner's would be asked about.

        Raises:
            ForkServerError: Anything went wrong: no learner code has run yet.
        """
        self._outputs = Outputs(self._limits)  # what the init has to say
        try:
            self._baseline_pages = _whole(self._receive(Kind.READY, until).get("pages"))
            self._send_files(setup, files, cells)
        except (ProcessFailed, FrameError) as error:
            self._drain_all()
            said = " ".join(one["text"].strip() for one in self._outputs.as_list())
            raise ForkServerError(
                f"a student process could not be prepared: {error}. {said}"
            ) from None
        finally:
            self._outputs = None

    def _send_files(self, setup: str, files: Mapping[str, bytes], cells: Iterable[str]) -> None:
        for name, content in files.items():
            for start in range(0, max(1, len(content)), _FILE_BLOCK_NBYTES):
                block = content[start : start + _FILE_BLOCK_NBYTES]
                self._send(Kind.FILE, {"name": name}, (block,))
        names = [cell_file_name(source) for source in cells]
        self._send(Kind.SETUP, {"source": setup, "cells": names}, (self.key,))

    def run(
        self,
        source: str,
        outputs: Outputs,
        until: Deadline,
        *,
        plain: bool = False,
        own: bool = False,
        name: str = "",
    ) -> CellReport:
        """Run a cell in the main process.

        Args:
            source: The cell.
            outputs: Collects what the cell shows, also where it fails.
            until: The deadline.
            plain: A test cell that runs beside the answer: hooks that the notebook installed in
                IPython are removed first.
            own: A cell of the lesson's: a mode that it sets is meant to stay.
            name: What the cell is called where something in it was noticed.

        Returns:
            How the cell ended, as the student process reports it.

        Raises:
            ProcessFailed: The cell did not run to its end; the process cannot be used any more.
        """
        self._outputs = outputs
        self.names.add(name)
        try:
            self._send(Kind.RUN, {"source": source, "plain": plain, "own": own, "name": name})
            end = self._receive(Kind.DONE, until)
            self._drain_all()
            return self._read_report(end)
        except FrameError as error:
            raise ProcessFailed(
                Failure(FailureCause.TAMPERED, f"sent what is no frame: {error}")
            ) from None
        finally:
            self._drain_all()
            self._outputs = None

    def draw(self, numbers: int) -> None:
        """Draw so many numbers of 32 bits from torch's generator; may raise `ProcessFailed`."""
        if numbers:
            self._send(Kind.DRAW, {"numbers": numbers})

    def take_snapshot(self, until: Deadline) -> Snapshot:
        """Fork a snapshot: a process with the notebook's state of this moment.

        Raises:
            ProcessFailed: The student process could not fork it before the deadline `until`.
        """
        ours, theirs = socket.socketpair()
        with theirs:
            self._send(Kind.SNAPSHOT, {})
            try:
                self._main.send_fd(theirs.fileno())
            except ChannelClosed:
                raise ProcessFailed(self.failure_of(self._pid)) from None
        taken = self._receive(Kind.SNAPSHOT_TAKEN, until)
        snapshot = Snapshot(ours, _whole(taken.get("pid")))
        self._snapshots.append(snapshot)
        told = taken.get("put_back")
        self.put_back.update(name for name in MODES if isinstance(told, list) and name in told)
        return snapshot

    def finish(self) -> None:
        """End the main process and what it left running; the snapshots go on, and they alone.

        No cell shows anything after this, and no process of an earlier one helps an answer.
        """
        with suppress(ChannelClosed, DeadlinePassed):
            self._main.send(Kind.FINISH, 0, {})
        self.listener.wait_until(time.monotonic() + _REPORT_S, lambda: self.has_ended(self._pid))
        with suppress(ChannelClosed, DeadlinePassed):
            self._init.send(Kind.FINISH, 0, {"keep": [one.pid for one in self._snapshots]})
        self.listener.wait_until(
            time.monotonic() + _REPORT_S, lambda: self._alone or self._exit is not None
        )

    def connection(self, snapshot: Snapshot) -> SnapshotConnection:
        """The connection over which a checker asks this snapshot."""
        return SnapshotConnection(self, snapshot)

    def has_ended(self, pid: int) -> bool:
        """Whether this process has ended."""
        return pid in self._statuses or self._exit is not None

    def cpu_s(self) -> float:
        """The processor time that it has cost until now.

        That is what its processes have used, snapshots among them, and what this one has used
        meanwhile: to read what they send is work, too.
        """
        if self._exit is None:
            self._cpu_s = max(self._cpu_s, self._fork_server.cpu_s())
            if self._fork_server.has_reported:
                self._handle_exit_report()
        return self._cpu_s + time.process_time() - self._own_begun_s

    def kill(self, pid: int) -> None:
        """Have the init end a process."""
        with suppress(ChannelClosed, DeadlinePassed):
            self._init.send(Kind.FINISH, 0, {"kill": pid})

    def failure_of(self, pid: int) -> Failure:
        """Why a process closed its channel; waits for init's report, 2 s at most.

        No exit status is told: a cell can choose it by what it has seen.
        """
        self.listener.wait_until(time.monotonic() + _REPORT_S, lambda: self.has_ended(pid))
        if self._exit is not None and self._exit.excess is not None:
            return _EXCESSES[self._exit.excess]
        return _failure_of_status(self._statuses.get(pid))

    def end(self) -> None:
        """End the submission with all its processes, and close the connections."""
        for fd in (*self._decoders, self._init.fileno(), self._fork_server.fileno()):
            self.listener.unwatch(fd)
        try:
            if self._exit is None:
                self._exit = self._fork_server.end()
        finally:
            self._main.close()
            self._init.close()
            for snapshot in self._snapshots:
                snapshot.socket.close()
            for fd in self._decoders:
                os.close(fd)

    def _send(self, kind: Kind, body: Any, buffers: tuple[bytes, ...] = ()) -> None:
        try:
            self._main.send(kind, 0, body, buffers)
        except ChannelClosed:
            raise ProcessFailed(self.failure_of(self._pid)) from None
        except DeadlinePassed:
            raise ProcessFailed(
                Failure(FailureCause.TIMEOUT, "did not take what it was sent")
            ) from None

    def _receive(self, kind: Kind, until: Deadline) -> dict[str, Any]:
        """The body of the next frame of this kind; events before it are taken as outputs."""
        try:
            while True:
                frame = await_frame(
                    self.listener, self._main, until, lambda: self.has_ended(self._pid)
                )
                body = frame.body()
                if frame.kind == Kind.EVENT:
                    self._take_event(body, frame)
                    if until.is_over():
                        raise DeadlinePassed
                elif frame.kind == kind and isinstance(body, dict):
                    return body
                else:
                    raise FrameError("a frame out of turn")
        except DeadlinePassed:
            raise ProcessFailed(Failure(FailureCause.TIMEOUT, until.reason)) from None
        except ChannelClosed:
            raise ProcessFailed(self.failure_of(self._pid)) from None
        except FrameError as error:
            raise ProcessFailed(
                Failure(FailureCause.TAMPERED, f"sent what is no frame: {error}")
            ) from None

    def _take_event(self, body: object, frame: Frame) -> None:
        if self._outputs is not None:
            self._outputs.add(body, len(frame.raw))

    def _read_report(self, end: dict[str, Any]) -> CellReport:
        error, value, count = end.get("error"), end.get("value"), end.get("count")
        pages = _whole(end.get("pages"))
        if not isinstance(error, str | None) or not isinstance(value, str):
            raise FrameError("the end of a cell in a form that is not known")
        self.modes = str(end.get("modes"))
        nbytes = max(0, pages - self._baseline_pages) * _PAGE_NBYTES
        return CellReport(error, value, cell_number(count), nbytes)

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
            self.listener.unwatch(fd)

    def _handle_init_messages(self) -> None:
        try:
            self._init.read()
            while (frame := self._init.next()) is not None:
                body = frame.body()
                if frame.kind == Kind.DONE:
                    self._alone = True
                elif frame.kind == Kind.READY:
                    self._pid = body["pid"]
                else:
                    self._statuses[body["pid"]] = body["status"]
        except (ChannelClosed, FrameError):
            self.listener.unwatch(self._init.fileno())

    def _handle_exit_report(self) -> None:
        self.listener.unwatch(self._fork_server.fileno())
        self._exit = self._fork_server.wait_for_exit()


_EXCESSES = {
    Excess.MEMORY: Failure(FailureCause.OUT_OF_MEMORY, "took more memory than a submission may"),
    Excess.SOCKETS: Failure(FailureCause.CRASHED, "opened more sockets than a submission may"),
    Excess.PROCESSES: Failure(
        FailureCause.CRASHED, "started more processes or threads than a submission may"
    ),
}
ENDED = "ended the Python process"
# The faults of a program, and what the kernel sends where the machine's memory is full.
_TOLD = (
    *(signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV),
    signal.SIGKILL,
)


def _failure_of_status(status: int | None) -> Failure:
    """The failure that a wait status means."""
    if status is None:
        return Failure(FailureCause.CRASHED, "closed its connection to the grader")
    code = os.waitstatus_to_exitcode(status)
    if code == OUT_OF_MEMORY:
        return Failure(FailureCause.OUT_OF_MEMORY, "took more memory than a submission may")
    if code == -signal.SIGXCPU:
        return Failure(FailureCause.TIMEOUT, "used more processor time than a submission may")
    by = next((f" ({one.name})" for one in _TOLD if code == -one), "")
    return Failure(FailureCause.CRASHED, f"{ENDED}{by}")


def _whole(value: object) -> int:
    if type(value) is not int:
        raise FrameError("a whole number expected")
    return value
