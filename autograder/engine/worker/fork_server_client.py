"""The worker's client of a fork server: start it, have it fork a submission, end the submission."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any

from autograder.engine.limits import Limits
from autograder.engine.sandbox.bubblewrap import (
    SandboxError,
    sandbox_remedy,
    sandboxed,
    unsandboxed,
)
from autograder.fork_server import Control, ForkServer

_START_S = 120.0
_ANSWER_S = 20.0
_LONGEST_CELL = 10_000  # characters; what is longer is compiled where it runs


class ForkServerError(Exception):
    """The fork server is gone, or does not answer in time; it has to be replaced."""


@dataclass
class StudentConnections:
    """The worker's ends of the sockets and pipes to one submission."""

    channel: socket.socket
    init: socket.socket
    stdout: int
    stderr: int

    def close(self) -> None:
        """Close all of them."""
        self.channel.close()
        self.init.close()
        for fd in (self.stdout, self.stderr):
            with suppress(OSError):
                os.close(fd)


class Excess(StrEnum):
    """What a submission took too much of."""

    MEMORY = "memory"
    PROCESSES = "processes"
    SOCKETS = "sockets"


@dataclass(frozen=True)
class Exit:
    """How a submission's init ended, and what it was ended for where it took too much."""

    status: int
    excess: Excess | None = None


class StudentForkServers:
    """Fork servers that share what they load, inside bubblewrap unless `sandbox` is false.

    They start while their owner goes on.  Each ends when its socket is closed, all of them with
    the process that started them.
    """

    def __init__(
        self,
        limits: Limits,
        count: int = 1,
        *,
        sandbox: bool = True,
        hide: Iterable[Path] = (),
        scratch: str | None = None,
        modules: Sequence[str] = (),
    ) -> None:
        """Start them; loading goes on in the background.

        Args:
            limits: What each submission may use.
            count: The number of fork servers.
            sandbox: False starts them without bubblewrap.
            hide: Directories that no submission may see.
            scratch: The directory in which submissions without a sandbox may write.
            modules: What all of them share of a lesson's modules; none may start a thread.

        Raises:
            SandboxError: There is no bubblewrap here.
        """
        pairs = [socket.socketpair() for _ in range(count)]
        numbers = [theirs.fileno() for _, theirs in pairs]
        start = partial(sandboxed, hide=hide) if sandbox else unsandboxed
        command = start(limits, numbers, modules=modules)
        theirs = [theirs for _, theirs in pairs]
        server = self._server = ForkServer(command.argv, theirs, env=command.env, cwd="/")
        self.servers = tuple(
            StudentForkServer(Control(ours), server.last_words, sandbox=sandbox, scratch=scratch)
            for ours, _ in pairs
        )

    def release(self) -> None:
        """Close this process's sockets; its forks that hold them keep the fork servers running."""
        for fork_server in self.servers:
            fork_server.close()

    def close(self) -> None:
        """End all of them and everything in them; for the process that started them."""
        self.release()
        self._server.close()


class StudentForkServer:
    """A worker's client of its fork server, which forks student processes."""

    def __init__(
        self,
        control: Control,
        last_words: Callable[[], str],
        *,
        sandbox: bool,
        scratch: str | None = None,
    ) -> None:
        """Ask a fork server that has been started.

        Args:
            control: Where it is asked.
            last_words: Tells what it has written about an error.
            sandbox: Whether it is inside bubblewrap.
            scratch: The directory in which submissions without a sandbox may write.
        """
        self._control, self._last_words, self._sandbox = control, last_words, sandbox
        self._scratch = scratch
        self._folder: str | None = None
        self._loaded: set[str] = set()
        self._compiled: set[str] = set()
        self._is_ready = False
        self._report: dict[str, Any] | None = None  # of an exit that came before it was awaited

    def fileno(self) -> int:
        """The descriptor to wait for; it can be read when the submission has ended."""
        return self._control.fileno()

    def wait(self) -> None:
        """Wait until it has started, 120 s at most.

        Raises:
            SandboxError: It cannot start here.
            ForkServerError: It does not answer in time.
        """
        if not self._is_ready:
            self._await_reply("ready", _START_S)
            self._is_ready = True

    def load(self, names: Iterable[str], cells: Iterable[str] = ()) -> bool:
        """Have it import modules and compile cells, so that student processes start with them.

        Args:
            names: Modules by their full names; those that cannot be imported are left out.
            cells: Sources of cells that all submissions share.

        Returns:
            False where a module started a thread: then this fork server must not be used any more.

        Raises:
            ForkServerError: It does not answer in time.
            SandboxError: It has ended.
        """
        new = [name for name in names if name not in self._loaded]
        texts = [text for text in cells if text not in self._compiled and len(text) < _LONGEST_CELL]
        if not new and not texts:
            return True
        self.wait()
        self._loaded.update(new)
        self._compiled.update(texts)
        for text in texts:
            self._control.send({"compile": text})
        self._control.send({"load": new})
        return self._await_reply("loaded", _START_S)["threads"] == 1

    def fork(self, *, loopback: bool = False) -> StudentConnections:
        """Start a student process.

        Args:
            loopback: It gets a network of its own, and the limits that go with it.

        Returns:
            The worker's ends of the connections to it; the caller closes them.

        Raises:
            ForkServerError: The fork server has ended, or does not answer in time.
        """
        self.wait()
        channel, their_channel = socket.socketpair()
        init, their_init = socket.socketpair()
        out, their_out = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        err, their_err = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        for fd in (their_out, their_err):
            os.set_blocking(fd, True)
        if not self._sandbox:
            self._folder = tempfile.mkdtemp(prefix="submission-", dir=self._scratch)
        fds = [their_channel.fileno(), their_out, their_err, their_init.fileno()]
        try:
            self._control.send({"fork": self._folder or "", "loopback": loopback}, fds)
            self._await_reply("forked", _ANSWER_S)
        except OSError as error:
            raise ForkServerError(f"the fork server is gone: {error}") from error
        finally:
            their_channel.close()
            their_init.close()
            os.close(their_out)
            os.close(their_err)
        return StudentConnections(channel, init, out, err)

    def end(self) -> Exit:
        """End the submission and all its processes.

        Returns:
            How its init ended.

        Raises:
            ForkServerError: It does not answer in time.
        """
        with suppress(OSError):
            self._control.send({"kill": True})
        return self.wait_for_exit()

    def cpu_s(self) -> float:
        """The seconds of processor time that the processes of the submission have used.

        Raises:
            ForkServerError: It does not answer in time.
        """
        try:
            self._control.send({"cpu": True})
        except OSError as error:
            raise ForkServerError(f"the fork server is gone: {error}") from error
        return float(self._await_reply("cpu", _ANSWER_S)["cpu"])

    @property
    def has_reported(self) -> bool:
        """Whether the report that the submission ended has come already."""
        return self._report is not None

    def wait_for_exit(self) -> Exit:
        """Wait for the report that the submission ended."""
        report, self._report = self._report or self._await_reply("exited", _ANSWER_S), None
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
        excess = report["excess"]
        return Exit(int(report["exited"]), Excess(excess) if excess else None)

    def close(self) -> None:
        """Let the fork server end, with everything in it."""
        self._control.close()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _await_reply(self, key: str, limit_s: float) -> dict[str, Any]:
        until = time.monotonic() + limit_s
        while True:
            try:
                data = self._control.receive(max(0.0, until - time.monotonic()))
            except TimeoutError:
                raise ForkServerError(
                    f"the fork server did not answer within {limit_s:.0f} s"
                ) from None
            except EOFError:
                raise SandboxError(
                    f"the process that runs learners' code does not start: {self._last_words()}",
                    remedy=sandbox_remedy(),
                ) from None
            if key in data:
                return data
            if "exited" in data:
                self._report = data
