"""The sandbox of one submission: namespaces, files in memory, limits, no privileges.

    fork server ── fork ──▶ init (pid 1 of a new process namespace) ── fork ──▶ student process

The init belongs to the grader: it reports how processes end, ends the one that the worker names,
and takes all of them with it when it ends itself.  The kernel sees to that, so nothing that a
submission starts can outlive it.  No learner code runs in it, and none can look into it.
"""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import NoReturn

from autograder import linux
from autograder.descendants import end_all_but
from autograder.engine import limits
from autograder.engine.limits import Limits
from autograder.engine.protocol.frames import FrameError, Kind, endpoint
from autograder.engine.sandbox.seccomp import refuse_dangerous_calls

WRITABLE = "/submission"  # everything that a submission can write to is below it
LESSON, TMP, SHM, HOME = (f"{WRITABLE}/{name}" for name in ("lesson", "tmp", "shm", "home"))
HOSTS = "/etc/hosts"  # an empty file, but for lessons with a network of their own
_HOSTS = f"{WRITABLE}/.hosts"
CHANNEL_FD = 240  # out of the way of what a notebook opens


@dataclass(frozen=True)
class Descriptors:
    """File descriptors that the worker sent for one submission."""

    channel: int
    stdout: int
    stderr: int
    init: int


@dataclass(frozen=True)
class SandboxConfiguration:
    """How one submission is sandboxed.

    Attributes:
        limits: What it may use.
        sandbox: False: limits alone, no namespaces.
        keep: Directories below /tmp that stay visible (an interpreter installed there).
        folder: The submission's working directory where there is no sandbox.
        loopback: It gets a network of its own, with nothing but lo.
        beside: Processes and threads of the same user that the kernel may count, too.
    """

    limits: Limits
    sandbox: bool
    keep: tuple[str, ...] = ()
    folder: str = ""
    loopback: bool = False
    beside: int = 0


def become_init(
    descriptors: Descriptors,
    configuration: SandboxConfiguration,
    run_student: Callable[[int], None],
) -> NoReturn:
    """Turn this fresh fork of the fork server into a submission's init.

    Args:
        descriptors: The worker's connections to the submission.
        configuration: The sandbox.
        run_student: Runs in init's child, the student process, with the number of its channel.
    """
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.setsid()
        if configuration.sandbox:
            _build(configuration)
        else:
            linux.adopt_orphans()  # snapshots lose their parent; this process is told how they end
            _plain_folder(configuration.folder)
        linux.set_dumpable(False)
        linux.drop_privileges()
        student = os.fork()
        if student == 0:
            _become_student(descriptors, configuration, run_student)
        for fd in (descriptors.channel, descriptors.stdout, descriptors.stderr):
            os.close(fd)
        _watch(descriptors.init, student)
    except BaseException as error:
        with suppress(OSError):
            os.write(descriptors.stderr, f"init: {error!r}\n".encode())
    finally:
        os._exit(70)


def _build(configuration: SandboxConfiguration) -> None:
    linux.unshare(linux.NEW_NS | linux.NEW_IPC)
    linux.mount_proc()
    linux.mount_tmpfs(
        WRITABLE, nbytes=configuration.limits.tmp_nbytes, files=configuration.limits.files
    )
    for folder in (LESSON, TMP, SHM, HOME):
        os.mkdir(folder)
    holds = [f"{WRITABLE}/.keep{number}" for number in range(len(configuration.keep))]
    for kept, hold in zip(configuration.keep, holds, strict=True):
        os.mkdir(hold)
        linux.bind(kept, hold)
    linux.bind(TMP, "/tmp")
    for kept, hold in zip(configuration.keep, holds, strict=True):
        os.makedirs(kept)
        linux.bind(hold, kept)
        linux.unmount(hold)
        os.rmdir(hold)
    linux.bind(SHM, "/dev/shm")
    if configuration.loopback:
        _make_network()
    os.chdir(LESSON)


def _make_network() -> None:
    """Give the submission a network where lo is all there is; a name of this machine means lo."""
    linux.unshare(linux.NEW_NET)
    linux.bring_up("lo")
    names = f"localhost {os.uname().nodename}"
    # A socket of both families calls IPv4 peers ::ffff:127.0.0.1, and gloo asks for their names.
    addresses = ("127.0.0.1", "::1", "::ffff:127.0.0.1")
    with open(_HOSTS, "w") as hosts:
        hosts.writelines(f"{address} {names}\n" for address in addresses)
    linux.bind(_HOSTS, HOSTS)


def _plain_folder(folder: str) -> None:
    os.chdir(folder)


def _become_student(
    descriptors: Descriptors,
    configuration: SandboxConfiguration,
    run_student: Callable[[int], None],
) -> NoReturn:
    try:
        linux.set_dumpable(True)
        os.setsid()
        _redirect_streams(descriptors)
        with suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:
            score.write("900")
        limits.apply(configuration.limits, beside=configuration.beside)
        refuse_dangerous_calls(loopback=configuration.loopback)
        run_student(CHANNEL_FD)
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    except BaseException:
        os._exit(70)
    finally:
        os._exit(0)


OUT_OF_MEMORY = 86  # exit status of a student process that had no memory left to say more


def _redirect_streams(descriptors: Descriptors) -> None:
    """Leave open: nothing to read on 0, the worker's pipes on 1 and 2, and the channel."""
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(descriptors.stdout, 1)
    os.dup2(descriptors.stderr, 2)
    os.dup2(descriptors.channel, CHANNEL_FD)
    os.set_inheritable(CHANNEL_FD, False)
    os.closerange(3, CHANNEL_FD)
    os.closerange(CHANNEL_FD + 1, 4096)


def _watch(channel: int, student: int) -> None:
    """Report how processes end and end the ones named, until the channel closes."""
    wake_read, wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.set_wakeup_fd(wake_write, warn_on_full_buffer=False)
    for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(one, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    send, receive = endpoint(channel)
    send(Kind.READY, 0, {"pid": student})
    poll = select.poll()
    poll.register(channel, select.POLLIN)
    poll.register(wake_read, select.POLLIN)
    while True:
        for pid, status in _ended():
            send(Kind.ENDED, 0, {"pid": pid, "status": status})
        for fd, _ in poll.poll():
            if fd == wake_read:
                with suppress(BlockingIOError):
                    os.read(wake_read, 4096)
                continue
            try:
                _, _, body, _ = receive()
            except FrameError:
                return
            if "keep" in body:
                end_all_but(body["keep"])
                send(Kind.DONE, 0, {})
            else:
                with suppress(OSError, OverflowError):
                    os.kill(body["kill"], signal.SIGKILL)


def _ended() -> list[tuple[int, int]]:
    found = []
    with suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            found.append((pid, status))
    return found
