"""The zygote: a process with torch, the course and IPython loaded, from which students fork.

It lives inside bubblewrap and runs no learner code and no operator.  It knows no lesson: what a
submission needs reaches the fork through its channel.  Loading costs seconds, so it is done once:
the process that bubblewrap starts loads everything and then forks a zygote for each worker, which
divides itself from the others by namespaces of its own.  It obeys its worker over one socket:

    {"fork": …} with four file descriptors  →  {"forked": pid}, later {"exited": status, "oom": …}
    {"kill": true}                          →  the submission ends, with all its processes
    {"compile": text}                          later forks have this cell compiled
    {"load": [names]}                       →  {"loaded": n}: later forks have these modules,
                                               if "threads" is 1; if not, it serves no more forks
"""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import socket
import sys
import tempfile
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import NoReturn

from autograder import linux
from autograder.engine.forkserver.descendants import descendants, end_descendants, kill_descendants
from autograder.engine.limits import Limits
from autograder.engine.sandbox.init import ROOM, Plumbing, Walls, become_init

_MESSAGE_NBYTES = 65_536
_WATCH_MS = 200


@dataclass(frozen=True)
class Orders:
    """How the zygote was started, as JSON in its first argument."""

    controls: tuple[int, ...]  # a socket for each worker
    limits: Limits
    sandbox: bool
    parent: int  # without a sandbox: the process that starts the zygotes, and that they end with
    uid: int | None  # become this user first: the grader runs as root
    keep: tuple[str, ...]

    @classmethod
    def read(cls, text: str) -> Orders:
        """The orders written by the worker."""
        data = json.loads(text)
        data["limits"] = Limits(**data["limits"])
        for name in ("controls", "keep"):
            data[name] = tuple(data[name])
        return cls(**data)


def main() -> None:
    """Start as `python -m autograder.engine.forkserver.process ORDERS`."""
    gc.disable()  # nothing that is imported becomes garbage; see `_prepare`
    orders = Orders.read(sys.argv[1])
    if orders.sandbox:
        _become_user(orders.uid)
    else:
        linux.die_with_parent(orders.parent, signal.SIGTERM)
    ready = _prepare(orders)
    if not orders.sandbox:
        linux.adopt_orphans()
        signal.signal(signal.SIGTERM, _end_with_all)
    own, zygotes = os.getpid(), set()
    for control in orders.controls:
        pid = os.fork()
        if pid == 0:
            _serve(control, orders, ready, own)
        zygotes.add(pid)
    for control in orders.controls:  # the workers must hear when a zygote is gone
        os.close(control)
    _outlive(zygotes, orders)
    os._exit(0)  # at once: there is nothing to tidy up


def try_walls(uid: int | None) -> None:
    """Return where a zygote could be kept apart here, raise `OSError` where not.

    A trial of its own, in a process that ends after it: see `sandbox.bubblewrap.why_not`.
    """
    _become_user(uid)
    _enter_namespaces()


def _outlive(zygotes: set[int], orders: Orders) -> None:
    """Wait for the ends of all zygotes; what one of them left behind ends with it."""
    while zygotes:
        zygotes.discard(os.wait()[0])
        if not orders.sandbox:  # there the namespaces end with their zygote
            end_descendants(keep=zygotes)


def _end_with_all(*_: object) -> NoReturn:
    """Where no namespace ends a submission with its zygote: end all of it, then this process."""
    end_descendants()
    os._exit(70)


def _serve(control: int, orders: Orders, ready: _Ready, parent: int) -> NoReturn:
    """Be the zygote of one worker until it goes away."""
    try:
        if not orders.sandbox:
            linux.adopt_orphans()
        linux.die_with_parent(parent, signal.SIGKILL if orders.sandbox else signal.SIGTERM)
        for other in orders.controls:
            if other != control:
                os.close(other)
        if orders.sandbox:
            _enter_namespaces()
        own = socket.socket(fileno=control)
        own.send(json.dumps({"ready": os.getpid()}).encode())
        _Zygote(own, orders, ready).obey()
    except BaseException:
        traceback.print_exc()
    finally:
        if not orders.sandbox:
            end_descendants()
        os._exit(70)


def _become_user(uid: int | None) -> None:
    """Where the grader runs as root: become an ordinary user for good."""
    if uid is not None:
        linux.mount_proc()
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
        linux.set_dumpable(True)


def _enter_namespaces() -> None:
    """Become pid 1 of namespaces that this process may divide further for each submission."""
    user, group = os.getuid(), os.getgid()
    linux.unshare(linux.NEW_USER | linux.NEW_NS | linux.NEW_PID | linux.NEW_IPC | linux.NEW_NET)
    linux.map_own_user(user, group)
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        os._exit(os.waitstatus_to_exitcode(status) & 0x7F)
    linux.die_with_parent(0)  # as a process outside of these namespaces is seen from inside
    linux.make_mounts_private()
    linux.mount_proc()
    linux.forbid_user_namespaces()


def _prepare(orders: Orders) -> _Ready:
    """Import everything a cell is likely to use, then make this process cheap to fork."""
    tempfile.tempdir = ROOM if orders.sandbox else None  # not what a submission will use
    import torch
    import torch.utils.data

    from autograder.engine.kernel.shell import new_shell, warm_up
    from autograder.engine.student.trusted_modules import load_modules, load_trusted, warm_up_torch

    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    trusted = load_trusted()
    shell = new_shell()
    with suppress(ImportError):
        import matplotlib.pyplot  # noqa: F401  (loads the fonts once, for every figure)
    warm_up(shell)
    warm_up_torch()
    student = "autograder.engine.student.process"
    seal = trusted.get("autograder.engine.student.integrity", "Seal")(trusted.modules.values())
    prepared = trusted.get(student, "Prepared")(shell, trusted, seal, orders.limits.text_chars)
    live = trusted.get(student, "live")
    tempfile.tempdir = None
    for name in [name for name in sys.modules if name.partition(".")[0] == "autograder"]:
        del sys.modules[name]  # whoever imports them from a cell gets copies
    sys.path[:] = [*(path for path in sys.path if path), ""]  # a file of a lesson shadows nothing
    if _threads() > 1:
        raise RuntimeError("a thread was started before the fork; its locks would stay locked")
    gc.collect()
    gc.freeze()
    gc.enable()
    return _Ready(lambda channel: live(channel, prepared), load_modules, shell.compile_ahead)


def _threads() -> int:
    """The threads of this process: a lock that another one holds stays locked in a fork."""
    return len(os.listdir("/proc/self/task"))


@dataclass(frozen=True)
class _Ready:
    """What the zygote has ready; it keeps what it no longer finds by name."""

    live: Callable[[int], None]
    load_modules: Callable[[list[str]], None]
    compile_ahead: Callable[[list[str]], None]


class _Zygote:
    """Serves one submission at a time."""

    def __init__(self, control: socket.socket, orders: Orders, ready: _Ready) -> None:
        self._control, self._orders, self._ready = control, orders, ready
        self._own_pids = os.open("/proc/self/ns/pid", os.O_RDONLY) if orders.sandbox else -1
        self._baseline = _anonymous_nbytes("self")
        self._child = 0
        self._oom = False

    def obey(self) -> None:
        """Follow the worker's messages until it goes away."""
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        watched = -1
        while True:
            if self._child and watched < 0:
                watched = os.pidfd_open(self._child)
                poll.register(watched, select.POLLIN)
            events = poll.poll(_WATCH_MS if self._child else None)
            if watched >= 0 and any(fd == watched for fd, _ in events):
                poll.unregister(watched)
                os.close(watched)
                watched = -1
                self._report()
            elif events:
                self._take_message()
            else:
                self._watch_memory()

    def _take_message(self) -> None:
        data, fds, _, _ = socket.recv_fds(self._control, _MESSAGE_NBYTES, 4)
        if not data:
            self._kill()
            if not self._orders.sandbox:
                end_descendants()
            os._exit(0)
        message = json.loads(data)
        if "fork" in message:
            self._fork(Plumbing(*fds), message["fork"])
        elif "compile" in message:
            self._ready.compile_ahead([message["compile"]])
        elif "load" in message:
            self._load(message["load"])
        elif message.get("kill"):
            self._kill()

    def _load(self, names: list[str]) -> None:
        # Some modules look for a directory to write to, and are broken for good without one.
        tempfile.tempdir = ROOM if self._orders.sandbox else None
        self._ready.load_modules(names)
        tempfile.tempdir = None
        gc.collect()
        gc.freeze()
        linux.use_huge_pages()
        self._baseline = _anonymous_nbytes("self")
        about = {"loaded": len(names), "threads": _threads()}
        self._control.send(json.dumps(about).encode())

    def _fork(self, plumbing: Plumbing, folder: str) -> None:
        orders = self._orders
        walls = Walls(orders.limits, orders.sandbox, orders.keep, folder)
        if orders.sandbox:
            linux.unshare(linux.NEW_PID)
        pid = os.fork()
        if pid == 0:
            self._control.detach()
            become_init(plumbing, walls, self._ready.live)
        if orders.sandbox:
            linux.enter_namespace(self._own_pids)
        for fd in (plumbing.channel, plumbing.stdout, plumbing.stderr, plumbing.init):
            os.close(fd)
        self._child, self._oom = pid, False
        self._control.send(json.dumps({"forked": pid}).encode())

    def _kill(self) -> None:
        if not self._child:
            return
        if self._orders.sandbox:
            os.kill(self._child, signal.SIGKILL)
        else:
            kill_descendants(os.getpid())

    def _report(self) -> None:
        _, status = os.waitpid(self._child, 0)
        if not self._orders.sandbox:
            end_descendants()
        self._child = 0
        self._control.send(json.dumps({"exited": status, "oom": self._oom}).encode())

    def _watch_memory(self) -> None:
        """End a submission whose processes together take more than one may."""
        limit = self._orders.limits.memory_nbytes
        pids = [name for name in os.listdir("/proc") if name.isdigit() and name != "1"]
        if not self._orders.sandbox:
            pids = [str(pid) for pid in descendants(os.getpid())]
        # Cheap and too high first (memory shared after a fork counts twice), exact where needed.
        if sum(max(0, _anonymous_nbytes(pid) - self._baseline) for pid in pids) < limit:
            return
        if sum(_own_nbytes(pid) for pid in pids) > limit:
            self._oom = True
            self._kill()


def _anonymous_nbytes(pid: str) -> int:
    with suppress(OSError, KeyError), open(f"/proc/{pid}/status") as status:  # a zombie has none
        fields = dict(line.split(":", 1) for line in status if line.startswith("Rss"))
        return sum(int(fields[name].split()[0]) for name in ("RssAnon", "RssShmem")) * 1024
    return 0


def _own_nbytes(pid: str) -> int:
    with suppress(OSError), open(f"/proc/{pid}/smaps_rollup") as rollup:
        for line in rollup:
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    return 0


if __name__ == "__main__":
    main()
