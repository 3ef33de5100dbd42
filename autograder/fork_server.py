"""Fork servers: processes that are prepared once, say that they are ready, and fork on request.

To load torch takes seconds, to fork a process that has loaded it milliseconds.  Five kinds of
process live by that, and what they have in common stands here:

    engine/worker/grading_worker.py           grading workers, one a core, all at once
    engine/forkserver/student_fork_server.py  student processes, inside bubblewrap
    engine/checker/template.py                checkers
    answer_bank/notebook_process.py           a process for each answer of the banks
    lessons/lint/proofs/proof_process.py      a process for each proof of a claim

Who asks starts a program as `ForkServer`, which keeps what it says and ends it with everything
below it.  Both sides talk through a `Control`; the first message is `ready()`.  The server makes
its forks with `fork`, and where nothing else ends what they start, with `Forks`.

What stays apart: grading workers are sent objects, not JSON (they trust the main process and it
trusts them), and the fork of a student process enters namespaces of its own, in an order that
`sandbox/init.py` decides.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from autograder.descendants import adopt_orphans, end_descendants, end_tree, end_with_parent

__all__ = [
    "AnsweringServer",
    "Control",
    "Died",
    "ForkServer",
    "Forks",
    "answer_in_forks",
    "fork",
    "ready",
]

Message = dict[str, Any]
_END_S = 2.0  # for what takes milliseconds on a machine that is not busy
_LOOK_S = 0.5
_BLOCK_NBYTES = 2**16
_MOST_NBYTES = 2**30  # of what authors' own code shows
_LAST_NBYTES = 2_000
_FAILED = 70  # the exit status of a fork whose work raised


def ready() -> Message:
    """What a fork server, or a worker, says as soon as it can be asked."""
    return {"ready": os.getpid()}


class Control:
    """One end of the socket between a fork server and who asks it: JSON, one message a line.

    What comes is read within limits of time and size, whatever the other end does.
    """

    def __init__(self, sock: socket.socket, *, most_nbytes: int = 2**16, most_fds: int = 0) -> None:
        """Take over the socket.

        Args:
            sock: A connected stream socket.
            most_nbytes: How long a message may be that comes.
            most_fds: How many file descriptors may come with one.
        """
        self._sock = sock
        self._most_nbytes, self._most_fds = most_nbytes, most_fds
        self._received, self._fds = bytearray(), list[int]()

    @classmethod
    def at(cls, fd: int, *, most_nbytes: int = 2**16, most_fds: int = 0) -> Control:
        """The end whose file descriptor this process was given when it was started."""
        return cls(socket.socket(fileno=fd), most_nbytes=most_nbytes, most_fds=most_fds)

    def fileno(self) -> int:
        """The descriptor to wait for."""
        return self._sock.fileno()

    def send(self, message: Message, fds: Sequence[int] = ()) -> None:
        """Send a message, and copies of file descriptors with it; raises `OSError`."""
        raw = json.dumps(message).encode() + b"\n"
        sent = socket.send_fds(self._sock, [raw], fds) if fds else 0
        self._sock.sendall(raw[sent:])

    def receive(self, limit_s: float | None = None) -> Message:
        """The next message.

        Args:
            limit_s: How many seconds to wait for it; without one, as long as it takes.

        Raises:
            TimeoutError: None came in time.
            EOFError: The other end has closed, has ended, or has sent what is no message.
        """
        until = float("inf") if limit_s is None else time.monotonic() + limit_s
        while (found := self._next()) is None:
            left = until - time.monotonic()
            # It looks now and then: a signal that comes just before a wait is handled only
            # after it.
            if select.select([self._sock], [], [], max(0.0, min(left, _LOOK_S)))[0]:
                self._read()
            elif left <= 0:
                raise TimeoutError(f"no answer within {limit_s:.0f} s")
        return found

    def take_fds(self, number: int) -> list[int]:
        """The file descriptors that came with a message; this process closes them.

        Raises:
            EOFError: There came fewer.
        """
        taken, self._fds = self._fds[:number], self._fds[number:]
        if len(taken) < number:
            raise EOFError(f"{len(taken)} file descriptors instead of {number}")
        return taken

    def detach(self) -> None:
        """Forget the socket, in a fork that closes or replaces its file descriptors itself."""
        self._sock.detach()

    def close(self) -> None:
        """Close this end."""
        self._sock.close()

    def _next(self) -> Message | None:
        if not self._received.endswith(b"\n"):
            return None
        line, self._received = self._received, bytearray()
        try:
            found: Message = json.loads(line)
        except ValueError as error:
            raise EOFError(f"it sent what is no message: {error}") from error
        return found

    def _read(self) -> None:
        """Take what there is of one message; the socket can be read for as long as there is more.

        Whoever waits for several sockets at once would not hear of a message that lies here.
        """
        try:
            seen = self._sock.recv(_BLOCK_NBYTES, socket.MSG_PEEK)
            nbytes = seen.find(b"\n") + 1 or len(seen)
            if self._most_fds:
                data, fds, _, _ = socket.recv_fds(self._sock, nbytes, self._most_fds)
                self._fds += fds
            else:  # what is not asked for does not become open files of this process
                data = self._sock.recv(nbytes)
        except OSError as error:
            raise EOFError(str(error)) from error
        self._received += data
        if not data or len(self._received) > self._most_nbytes:
            raise EOFError("its message is too long" if data else "it has ended")


class ForkServer:
    """A program that forks, as the process sees it that started it."""

    def __init__(
        self,
        command: Sequence[str],
        theirs: Sequence[socket.socket],
        *,
        env: Mapping[str, str],
        cwd: str | None = None,
    ) -> None:
        """Start it; it gets ready meanwhile.

        Args:
            command: The program, or that of a sandbox around it, with its arguments.
            theirs: Its ends of the sockets on which it is asked, closed here.
            env: All of its environment variables.
            cwd: Its working directory; by default that of this process.
        """
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 (closed in `close`)
        self._process = subprocess.Popen(
            command,
            env=env,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            pass_fds=[one.fileno() for one in theirs],
            start_new_session=True,  # Ctrl-C is for this process, which then ends it
        )
        self._is_asked_to_end = False
        for one in theirs:
            one.close()

    @classmethod
    def of_module(
        cls,
        module: str,
        *arguments: str,
        theirs: Sequence[socket.socket],
        env: Mapping[str, str],
    ) -> ForkServer:
        """Start a module of this package, which need not be installed.

        Args:
            module: Its full name.
            arguments: Of its command line.
            theirs: Its ends of the sockets, closed here.
            env: What it has beyond the variables of this process.
        """
        root = str(Path(__file__).resolve().parents[1])
        given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        paths = os.pathsep.join([root, *(one for one in given if Path(one).is_absolute())])
        own = {**os.environ, "PYTHONPATH": paths, **env}
        # -P: the directory that somebody works in may hold a learner's files.
        return cls([sys.executable, "-P", "-m", module, *arguments], theirs, env=own)

    @property
    def has_ended(self) -> bool:
        """Whether it has ended."""
        return self._process.poll() is not None

    @property
    def exit_code(self) -> int | None:
        """How it has ended, -N where signal N ended it; None where it runs."""
        return self._process.poll()

    def last_words(self) -> str:
        """The end of what it wrote to its standard output and error."""
        size = os.fstat(self._log.fileno()).st_size
        tail = os.pread(self._log.fileno(), _LAST_NBYTES, max(0, size - _LAST_NBYTES))
        return tail.decode("utf-8", "replace").strip() or "it said nothing"

    def how_it_ended(self) -> str:
        """Its exit code and its last words; for the process that started it."""
        self._ends_in_time()
        return f"ended with {self._process.poll()}: {self.last_words()}"

    def terminate(self) -> None:
        """Ask it to end, with everything below it; it is not waited for."""
        self._is_asked_to_end = True
        self._process.terminate()

    def close(self) -> None:
        """End it with everything below it; by then its sockets should be closed."""
        if not self._is_asked_to_end and not self._ends_in_time():
            self.terminate()
        if not self._ends_in_time():
            end_tree(self._process.pid)
            self._process.wait()
        self._log.close()

    def _ends_in_time(self) -> bool:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_END_S)
        return self.has_ended


class AnsweringServer:
    """A fork server that answers each question in a fork of its own; see `answer_in_forks`."""

    def __init__(self, module: str, *arguments: str, env: Mapping[str, str]) -> None:
        """Start it; it is not waited for, so that several get ready at the same time.

        Args:
            module: Its program, which gets the number of this process, that of its end of the
                socket, and the arguments.
            arguments: More for its command line.
            env: What it has beyond the variables of this process.
        """
        ours, theirs = socket.socketpair()
        self._control, self._is_ready = Control(ours, most_nbytes=_MOST_NBYTES), False
        first = str(os.getpid()), str(theirs.fileno())
        self._server = ForkServer.of_module(module, *first, *arguments, theirs=[theirs], env=env)

    def ask(self, question: Message) -> Message:
        """Its answer.

        Raises:
            EOFError: It does not start, has ended, or has been closed; says why.
        """
        try:
            if not self._is_ready:
                self._is_ready = "ready" in self._control.receive()
            self._control.send(question)
            return self._control.receive()
        except (OSError, EOFError, ValueError) as error:
            raise EOFError(self._server.how_it_ended()) from error

    @property
    def exit_code(self) -> int | None:
        """How it has ended, -N where signal N ended it; None where it runs."""
        return self._server.exit_code

    def terminate(self) -> None:
        """Ask it to end, with the fork that is under way and all that this started."""
        self._server.terminate()

    def close(self) -> None:
        """Wait until it has ended, and see to it that it does."""
        self.terminate()
        self._control.close()
        self._server.close()


def fork(run: Callable[[], object], *, ends: int = signal.SIGKILL) -> int:
    """Fork a child of this process that calls `run` and then ends, whatever happens.

    Args:
        run: What it does.
        ends: The signal that it gets when this process ends.

    Returns:
        The number of the child.
    """
    own = os.getpid()
    child = os.fork()
    if child:
        return child
    status = _FAILED
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        end_with_parent(own, ends)
        run()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:  # the child must not go on as this process
        os._exit(status)


class Died(Exception):
    """A fork ended before it was done."""

    def __init__(self, status: int) -> None:
        """`status` is its exit code, -N where signal N ended it."""
        super().__init__(f"its process ended with {status}")


class Forks:
    """The forks of this process, where no namespace ends them: nothing is left of them.

    SIGTERM ends this process with everything below it, at once, as an exception would not: it is
    lost where it meets a bare `except`, as in an import, or a destructor.
    """

    def __init__(
        self,
        *,
        parent: int | None = None,
        control: Control | None = None,
        scratch: Path | None = None,
    ) -> None:
        """Begin.

        Args:
            parent: The process that started this one, if this one ends with it.
            control: On which this process is asked; its forks close it.
            scratch: A directory that is removed at the end.
        """
        self._control, self._scratch = control, scratch
        self._running = set[int]()
        signal.signal(signal.SIGTERM, lambda *_: self.leave(1))
        adopt_orphans()
        if parent is not None:
            end_with_parent(parent)

    def run(self, work: Callable[[], Message], limit_s: float) -> Message:
        """What `work` gives, in a fork of which nothing is left afterwards.

        Args:
            work: It has no standard streams.
            limit_s: How many seconds it may take.

        Raises:
            TimeoutError: It took longer.
            Died: Its process ended before it was done.
        """
        pair = socket.socketpair()
        ours, theirs = (Control(one, most_nbytes=_MOST_NBYTES) for one in pair)
        child = fork(partial(self._work, work, theirs))
        self._running.add(child)
        theirs.close()
        try:
            return ours.receive(limit_s)
        except EOFError:
            raise Died(self.end(child)) from None
        finally:
            ours.close()
            self.end(child)

    def end(self, child: int) -> int:
        """End a fork with everything that it started; its exit code, 0 where it was ended before.

        Where it was about to exit, its own exit code counts, not the signal sent here.
        """
        if child not in self._running:
            return 0
        self._running.discard(child)
        _kill(child)
        _, status = os.waitpid(child, 0)
        end_descendants()  # what left the group and was adopted
        return os.waitstatus_to_exitcode(status)

    def leave(self, status: int = 0) -> NoReturn:
        """End this process with everything below it."""
        for child in self._running:
            _kill(child)
        end_descendants()
        if self._scratch is not None:
            shutil.rmtree(self._scratch, ignore_errors=True)
        os._exit(status)

    def _work(self, work: Callable[[], Message], theirs: Control) -> None:
        os.setsid()
        if self._control is not None:
            self._control.close()
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)
        sys.stdin = open(os.devnull)  # noqa: SIM115 (lives as long as the process)
        theirs.send(work())


def answer_in_forks(
    prepare: Callable[[], Callable[[Message, Forks], Message]], *, scratch: Path | None = None
) -> NoReturn:
    """Be an `AnsweringServer`, as the first two arguments of the command line say.

    Args:
        prepare: Does what takes long; gives what answers a question by way of `Forks.run`.
        scratch: A directory that is removed at the end.
    """
    control = Control.at(int(sys.argv[2]), most_nbytes=_MOST_NBYTES)
    forks = Forks(parent=int(sys.argv[1]), control=control, scratch=scratch)
    try:
        answer = prepare()
        control.send(ready())
        with suppress(EOFError, BrokenPipeError):  # it is not asked any more
            while True:
                control.send(answer(control.receive(), forks))
        forks.leave()
    except BaseException:
        traceback.print_exc()
        forks.leave(1)


def _kill(child: int) -> None:
    for kill in (os.killpg, os.kill):  # before it leads a group of its own, there is none
        with suppress(ProcessLookupError, PermissionError):
            kill(child, signal.SIGKILL)
