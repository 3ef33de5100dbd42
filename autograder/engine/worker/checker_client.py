"""The worker's side of a checker process: test cells go in, tables and points come out."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from autograder import linux
from autograder.engine.checker.template import CheckerTemplate, ForkedChecker
from autograder.engine.forkserver import process_usage
from autograder.engine.kernel.shell import Part, Shell
from autograder.engine.limits import Limits, limit_memory
from autograder.engine.outcomes import CellOutcome, Failure, FailureCause
from autograder.engine.protocol.channel import Channel, ChannelClosed, DeadlinePassed, Listener
from autograder.engine.protocol.frames import Frame, FrameError, Kind
from autograder.engine.protocol.transcript import Told
from autograder.engine.worker.deadline import Deadline, await_frame
from autograder.engine.worker.lesson_folder import LessonFolder
from autograder.engine.worker.notices import told_of
from autograder.engine.worker.outputs import Outputs
from autograder.engine.worker.student_client import SnapshotConnection
from autograder.fork_server import fork
from course import notebook

_GRACE_S = 5.0  # for a test cell to end after its snapshot was disconnected


def read_ahead(shell: Shell, tests: Iterable[str]) -> None:
    """Compile test cells, and read what they bind, for the checkers forked from this process."""
    tests = list(tests)
    shell.compile_ahead(tests)
    for source in tests:
        notebook.read_ahead(source)


class CheckerFailed(Exception):
    """The checker process ended (`died`), or sent what the protocol does not allow."""

    def __init__(self, reason: str, *, died: bool = False) -> None:
        """`reason` is for the instructor."""
        super().__init__(reason)
        self.died = died
        self.step: int | None = None  # the number of the test cell, where it was at one


class CheckerStuck(Exception):
    """A test cell does not end although nobody answers it any more.

    What the answer gave is too much for it, and the checker has to be replaced.
    """

    def __init__(self, failure: Failure) -> None:
        """`failure` is what became of the exercise."""
        super().__init__(failure.reason)
        self.failure = failure


@dataclass(frozen=True)
class CellPart:
    """A test cell, or one part of it.

    Attributes:
        source: The test cell.
        part: Which part.
        number: That of the cell in its notebook; another may have the same text.
        count: Its execution count.
    """

    source: str
    part: Part = Part.ALL
    number: int = 0
    count: int = 1


@dataclass(frozen=True)
class Checked:
    """What became of a test cell, or its part.

    Attributes:
        outcome: What it showed, or why it did not run to its end.
        state: Where it ended, see `Transcript`.
        asked: Of the requests that the checker sent: where the cell had come to, and the request.
        changes_others: Whether it changed what other test cells find.
        is_crowded: Whether others had left it less memory than a fresh checker has.
    """

    outcome: CellOutcome
    state: bytes
    asked: tuple[tuple[bytes, bytes], ...]
    changes_others: bool
    is_crowded: bool = False


@dataclass(frozen=True)
class CheckerMaterial:
    """What checkers of a lesson run with.

    Attributes:
        shell: A prepared shell; the test cells run in it.
        folder: The working directory of the test cells, with the lesson's files.
        limits: What a checker may use for what learners' code returns.
        compares: Whether it is looked at what a test cell leaves for others.
    """

    shell: Shell
    folder: LessonFolder
    limits: Limits
    compares: bool

    def template(self, setup: str, tests: Sequence[str]) -> CheckerTemplate:
        """A process that checkers can be forked from; it has run the set-up cell `setup`."""
        run = partial(_run_checker, self)
        # A folder of its own: checkers of a submission are at work in the other one meanwhile.
        folder = self.folder.another(self.folder.path.with_suffix(".template"))
        return CheckerTemplate(self.shell, str(folder.path), setup, tests, run)


def _fork(material: CheckerMaterial, ours: socket.socket, theirs: socket.socket) -> ForkedChecker:
    def check() -> None:
        ours.close()
        _run_checker(material, theirs.fileno())

    pid = fork(check)
    return ForkedChecker(pid, os.pidfd_open(pid))


class Checker:
    """The worker's client of a checker process, which runs the test cells of one submission."""

    def __init__(
        self, material: CheckerMaterial, listener: Listener, template: CheckerTemplate | None = None
    ) -> None:
        """Fork the checker from this process, which has the course loaded and runs no learner code.

        Args:
            material: What it runs with.
            listener: Serves the student process while a test cell runs.
            template: Forks it instead; it has run the set-up cell.

        Raises:
            CheckerFailed: The template did not fork it.
        """
        self._limits, self._listener = material.limits, listener
        self._is_set_up = template is not None
        ours, theirs = socket.socketpair()
        with theirs:
            if template is None:
                self._process = _fork(material, ours, theirs)
            else:
                try:
                    self._process = template.fork(theirs.fileno())
                except OSError as error:
                    ours.close()
                    raise CheckerFailed(str(error)) from error
        self._channel = Channel(ours)

    def set_up(self, source: str, until: Deadline) -> None:
        """Run the lesson's set-up cell, unless the template has.

        Raises:
            CheckerFailed: It did not run to its end before the deadline `until`.
        """
        if source and not self._is_set_up:
            self._run(CellPart(source), None, until)

    def run(
        self,
        test: CellPart,
        connection: SnapshotConnection,
        until: Deadline,
        told: Sequence[Told] = (),
        pending: bytes = b"",
    ) -> Checked:
        """Run a test cell, or one part of it.

        Args:
            test: The test cell, or the part; the rest is run after the visible part, by the same
                checker.
            connection: The snapshot that its requests go to.
            until: The deadline.
            told: What the snapshot was asked already.
            pending: What was read from it since, and is no whole frame.

        Returns:
            What the cell showed, or why it did not run to its end.

        Raises:
            CheckerStuck: The cell goes on after its snapshot was disconnected.
            CheckerFailed: The checker ended or broke the protocol.
        """
        return self._run(test, connection, until, told, pending)

    def _run(
        self,
        test: CellPart,
        connection: SnapshotConnection | None,
        until: Deadline,
        told: Sequence[Told] = (),
        pending: bytes = b"",
    ) -> Checked:
        outputs, failure = Outputs(self._limits), None
        try:
            about = {**vars(test), "asks": connection is not None}
            about["told"] = [(one.asked.hex(), one.number) for one in told]
            buffers = () if connection is None else (connection.student.key, pending)
            self._channel.send(Kind.TEST, 0, about, (*buffers, *(one.reply for one in told)))
            if connection is not None:
                self._channel.send_fd(connection.fileno())
            while True:
                try:
                    end = self._until_done(outputs, None if failure else connection, until)
                    body = end.body()
                    outcome = _outcome(outputs, body, failure, connection)
                    states = map(bytes.fromhex, body["states"])
                    asked = tuple(zip(states, end.buffers(), strict=True))
                    return Checked(
                        *(outcome, bytes.fromhex(body["state"]), asked),
                        *(body["changes_others"], body["is_crowded"]),
                    )
                except (DeadlinePassed, _SnapshotEnded) as reason:
                    if failure is not None:
                        raise CheckerStuck(failure) from None
                    if connection is None:
                        raise CheckerFailed("the set-up cell did not come to its end") from None
                    too_long = Failure(FailureCause.TIMEOUT, until.reason)
                    late = isinstance(reason, DeadlinePassed)
                    failure = too_long if late else connection.failure()
                    connection.disconnect()
                    until = Deadline(_GRACE_S, 3 * _GRACE_S, self.cpu_s)
        except (ChannelClosed, FrameError) as error:
            died = isinstance(error, ChannelClosed)
            raise CheckerFailed(f"the checker process stopped: {error!r}", died=died) from error

    def _until_done(
        self, outputs: Outputs, connection: SnapshotConnection | None, until: Deadline
    ) -> Frame:
        while True:
            try:
                ended = connection.has_ended if connection else _never
                frame = await_frame(self._listener, self._channel, until, ended)
            except ChannelClosed:
                if connection is not None and connection.has_ended():
                    raise _SnapshotEnded from None
                raise
            if frame.kind != Kind.EVENT:
                return frame
            outputs.add(frame.body(), len(frame.raw))
            if until.is_over():
                raise DeadlinePassed

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def cpu_s(self) -> float:
        """The seconds of processor time that the process has used."""
        return process_usage.cpu_s([str(self.pid)])

    def close(self) -> None:
        """End the process."""
        self._channel.close()
        self._process.end()


class _SnapshotEnded(Exception):
    """The snapshot ended while a test cell was asking it."""


def _never() -> bool:
    return False


def _outcome(
    outputs: Outputs,
    end: dict[str, Any],
    failure: Failure | None,
    connection: SnapshotConnection | None,
) -> CellOutcome:
    if end["grader_error"]:
        raise CheckerFailed(f"an answer's facts could not be read: {end['grader_error']}")
    if end["noticed"]:
        names = connection.student.names if connection is not None else ()
        said = told_of(end["noticed"], names)
        failure = Failure(FailureCause.TAMPERED, f"was not graded: {said}")
    elif end["tampered"]:
        failure = Failure(FailureCause.TAMPERED, f"reported what cannot be: {end['tampered']}")
    elif end["too_large"]:
        failure = failure or Failure(
            FailureCause.OUT_OF_MEMORY, "gave back more than there is memory to check"
        )
    elif end["failed"]:
        failure = failure or Failure(
            FailureCause.CRASHED, f"could not be observed ({end['failed']})"
        )
    elif end["disconnected"] and connection is not None:
        failure = failure or connection.failure()
    return CellOutcome(
        tuple(outputs.as_list()),
        end["count"],
        end["error"],
        failure,
        memory_error=end["memory"],
        leaves_something=end["left_something"],
        has_rest=failure is None and end["has_rest"],
    )


def _run_checker(material: CheckerMaterial, channel: int) -> None:
    from autograder.engine.checker.checker_process import run_checker

    linux.call_process("checker")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    limit_memory(material.limits)
    with suppress(FrameError, OSError):  # the worker has closed the channel
        folder, most = str(material.folder.path), material.limits.text_chars
        run_checker(channel, material.shell, folder, most, compares=material.compares)
