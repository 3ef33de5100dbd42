"""A process that checkers are forked from: it has done what is the same for every submission.

It runs the lesson's set-up cell and a rehearsal of its test cells, tells its worker that it is
ready, and then forks a checker whenever it is asked. Until then, and where it fails, checkers are
forked from the worker itself, which gives the same results later.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from autograder import linux
from autograder.descendants import descendants, kill_descendants
from autograder.engine.kernel.shell import Shell, record_with
from autograder.fork_server import Control, fork, ready

_REHEARSAL_S = 30  # of processor time: who takes longer is not waited for
_FORK_S = 10.0

RunChecker = Callable[[int], None]
_OTHERS = ("socket:", "pipe:", "anon_inode:")  # what the worker talks to


@dataclass(frozen=True)
class ForkedChecker:
    """A checker process: its number, and a file descriptor for it."""

    pid: int
    pidfd: int

    def end(self) -> None:
        """End the process and close the file descriptor."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
        try:
            os.waitid(os.P_PIDFD, self.pidfd, os.WEXITED)
        except ChildProcessError:  # the template has forked it
            select.select([self.pidfd], [], [])
        os.close(self.pidfd)


class CheckerTemplate:
    """The worker's client of a template process."""

    def __init__(
        self, shell: Shell, folder: str, setup: str, tests: Sequence[str], run_checker: RunChecker
    ) -> None:
        """Fork it; it gets ready meanwhile.

        Args:
            shell: A prepared shell.
            folder: The working directory of the test cells.
            setup: The source of the lesson's set-up cell.
            tests: The sources of those test cells that are rehearsed.
            run_checker: Is a checker on a channel, given as a file descriptor.
        """
        ours, theirs = socket.socketpair()
        self._control = Control(ours, most_fds=1)
        material = shell, folder, setup, tests

        def serve() -> None:
            ours.close()
            _run_template(Control(theirs, most_fds=1), material, run_checker)

        self._pid = fork(serve)
        theirs.close()
        self._is_ready = self._has_failed = False

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._pid

    @property
    def has_failed(self) -> bool:
        """Whether checkers will never be forked from it, or never again."""
        return self._has_failed

    @property
    def is_ready(self) -> bool:
        """Whether checkers can be forked from it; it is not waited for."""
        if not self._is_ready and not self._has_failed:
            with suppress(TimeoutError):
                try:
                    self._is_ready = "ready" in self._control.receive(0.0)
                except EOFError:
                    self._has_failed = True
        return self._is_ready and not self._has_failed

    def fork(self, channel: int) -> ForkedChecker:
        """Fork a checker.

        Args:
            channel: The file descriptor of its end of the channel.

        Returns:
            Its process.

        Raises:
            OSError: The template did not fork it, and cannot be used any more.
        """
        try:
            self._control.send({"fork": True}, [channel])
            pid = self._control.receive(_FORK_S)["forked"]
            return ForkedChecker(int(pid), *self._control.take_fds(1))
        except (OSError, EOFError) as error:
            self._has_failed = True
            raise OSError(f"no checker was forked from the template: {error}") from error

    def close(self) -> None:
        """End it; a checker that it forked ends with it."""
        self._control.close()
        with suppress(ProcessLookupError):
            os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)


def _run_template(
    control: Control, material: tuple[Shell, str, str, Sequence[str]], run_checker: RunChecker
) -> None:
    try:
        linux.call_process("template")
        _close_others(control.fileno())
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        _prepare(*material)
        control.send(ready())
        _serve(control, run_checker)
    finally:
        kill_descendants(os.getpid())  # what a test cell has started


def _close_others(control: int) -> None:
    """Close the worker's connections: who waits for their end would wait for this process too."""
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            fd = int(name)
            if fd != control and os.readlink(f"/proc/self/fd/{fd}").startswith(_OTHERS):
                os.close(fd)


def _prepare(shell: Shell, folder: str, setup: str, tests: Sequence[str]) -> None:
    """Do what is the same for every submission; raises where forks of this process would differ."""
    from autograder.engine.checker.checker_process import stand_in
    from autograder.engine.checker.common_state import CommonState, files_in
    from autograder.engine.checker.rehearsal import random_generators, rehearse

    signal.setitimer(signal.ITIMER_PROF, _REHEARSAL_S)  # SIGPROF ends the process
    stand_in(folder)
    files = files_in(Path(folder))
    record_with(shell, lambda event: None, 0)
    if setup:
        shell.run(setup)
    common, generators = CommonState(shell.user_ns if tests else {}), random_generators()
    rehearse(shell, dict.fromkeys(tests))  # a gate's lesson may have a test several times
    for restore, state in generators:
        restore(state)
    signal.setitimer(signal.ITIMER_PROF, 0)
    if len(os.listdir("/proc/self/task")) > 1 or descendants(os.getpid()):
        raise RuntimeError("what a test cell started goes on, and a fork would lack it")
    if files_in(Path(folder)) != files:
        raise RuntimeError("a cell writes a file, and forks stand in another folder")
    if tests and common.has_changed(shell.user_ns):
        raise RuntimeError("a test cell changes what others find, and forks would find it changed")
    gc.collect()
    gc.freeze()


def _serve(control: Control, run_checker: RunChecker) -> None:
    """Fork checkers until the worker closes the socket."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them

    def check(channel: int) -> None:
        control.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        run_checker(channel)

    with suppress(EOFError):
        while control.receive():
            (channel,) = control.take_fds(1)
            pid = fork(partial(check, channel))
            os.close(channel)
            process = os.pidfd_open(pid)
            control.send({"forked": pid}, [process])
            os.close(process)
