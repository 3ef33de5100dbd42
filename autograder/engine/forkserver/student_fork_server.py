"""The fork server: a process with torch, the course and IPython loaded, from which students fork.

It lives inside bubblewrap and runs no learner code and no operator.  It knows no lesson: what a
submission needs reaches the fork through its channel.  Loading costs seconds, so it is done once:
the process that bubblewrap starts loads everything and then forks a fork server for each worker,
which enters namespaces of its own.  It serves its worker over one socket:

    {"fork": …, "loopback": bool} with four file descriptors
                                            →  {"forked": pid}, later {"exited": status, "excess"}
    {"kill": true}                          →  the submission ends, with all its processes
    {"cpu": true}                           →  {"cpu": seconds}, used by the submission until now
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
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

from autograder import linux
from autograder.descendants import descendants, end_descendants, kill_descendants
from autograder.engine.forkserver import process_usage
from autograder.engine.limits import Limits
from autograder.engine.sandbox.init import WRITABLE, Descriptors, SandboxConfiguration, become_init
from autograder.fork_server import Control, Forks, fork, ready

_WATCH_MS = 200
_LOOK_S = 0.05
# What a user may start while a submission runs without a sandbox; one that has too many of its own
# is ended here all the same.
_MEANWHILE = 256
_NEARLY, _CROWDED_LOOKS = 8, 4  # of the processes that are allowed; longer than so many looks


@dataclass(frozen=True)
class ForkServerSettings:
    """How the fork server was started, as JSON in its first argument."""

    controls: tuple[int, ...]  # a socket for each worker
    limits: Limits
    sandbox: bool
    parent: int  # without a sandbox: the process that starts the fork servers and ends them
    uid: int | None  # become this user, and each server one of the next: the grader runs as root
    keep: tuple[str, ...]
    modules: tuple[str, ...]  # what the first lesson is known to need

    @classmethod
    def read(cls, text: str) -> ForkServerSettings:
        """The settings in that argument."""
        data = json.loads(text)
        data["limits"] = Limits(**data["limits"])
        for name in ("controls", "keep", "modules"):
            data[name] = tuple(data[name])
        return cls(**data)


def main() -> None:
    """Start as `python -m autograder.engine.forkserver.student_fork_server SETTINGS`."""
    gc.disable()  # nothing that is imported becomes garbage; see `_prepare`
    settings = ForkServerSettings.read(sys.argv[1])
    forks = None
    if settings.uid is not None:
        linux.mount_proc()
    if not settings.sandbox:
        forks = Forks(parent=settings.parent)
    ready_to_fork = _prepare(settings)
    # Without a sandbox, one that is told to end ends first what it has started.
    ends = signal.SIGKILL if settings.sandbox else signal.SIGTERM
    fork_servers = {
        fork(partial(_serve, control, settings, ready_to_fork), ends=ends)
        for control in settings.controls
    }
    if settings.uid is not None:
        _become_user(settings.uid)
    for control in settings.controls:  # so that a worker notices when its fork server ends
        os.close(control)
    while fork_servers:
        if forks is None:  # there the namespaces end with their fork server
            fork_servers.discard(os.wait()[0])
        elif ended := os.waitpid(-1, os.WNOHANG)[0]:
            fork_servers.discard(ended)
            end_descendants(keep=fork_servers)  # what it has left
        else:
            time.sleep(_LOOK_S)  # SIGTERM that comes just before a wait is handled only after it
    os._exit(0)  # at once: there is nothing to tidy up


def try_namespaces(uid: int | None) -> None:
    """Return where a fork server can enter its namespaces here, raise `OSError` where not.

    For a process that ends after it: see `sandbox.bubblewrap.sandbox_problem`.
    """
    if uid is not None:
        linux.mount_proc()
        _become_user(uid)
    _enter_namespaces()


def _serve(control: int, settings: ForkServerSettings, ready_to_fork: _Ready) -> None:
    """Be the fork server of one worker until that worker ends."""
    forks = None if settings.sandbox else Forks()
    try:
        for other in settings.controls:
            if other != control:
                os.close(other)
        if settings.uid is not None:
            # One each: the kernel counts some things by user, descriptors on their way among them.
            _become_user(settings.uid + settings.controls.index(control))
        if settings.sandbox:
            _enter_namespaces()
        own = Control.at(control, most_fds=len(fields(Descriptors)))
        own.send(ready())
        _ForkServer(own, settings, ready_to_fork).serve()
    finally:
        if forks is not None:
            end_descendants()


def _become_user(uid: int) -> None:
    """Where the grader runs as root: become an ordinary user for good."""
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    linux.set_dumpable(True)
    linux.die_with_parent(os.getppid())  # whoever becomes another user has to say it again


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


def _prepare(settings: ForkServerSettings) -> _Ready:
    """Import everything a cell is likely to use, then make this process cheap to fork."""
    tempfile.tempdir = WRITABLE if settings.sandbox else None  # not what a submission will use
    import torch
    import torch.utils.data

    from autograder.engine.kernel.shell import new_shell, warm_up
    from autograder.engine.loaded_ahead import load_modules, warm_up_recording, warm_up_torch
    from autograder.engine.student.trusted_modules import load_trusted

    torch.set_num_threads(1)
    torch.set_num_interop_threads(1)
    trusted, shell = load_trusted(), new_shell()
    load_modules(["matplotlib.pyplot", *settings.modules])  # it loads the fonts, for every figure
    gc.freeze()  # the shell's first cells collect garbage: 0.1 s over all that torch imports
    warm_up(shell)
    warm_up_torch()
    warm_up_recording(trusted.get, trusted.capabilities.profiler)
    student = "autograder.engine.student.student_process"
    integrity = trusted.get("autograder.engine.student.integrity", "IntegrityCheck")
    measuring = integrity(trusted.modules.values(), trusted.frozen)
    text_chars = settings.limits.text_chars
    prepared = trusted.get(student, "Prepared")(shell, trusted, measuring, text_chars)
    run_student = trusted.get(student, "run_student")
    tempfile.tempdir = None
    for name in [name for name in sys.modules if name.partition(".")[0] == "autograder"]:
        del sys.modules[name]  # whoever imports them from a cell gets copies
    sys.path[:] = [*(path for path in sys.path if path), ""]  # a file of a lesson shadows nothing
    if _threads() > 1:
        raise RuntimeError("a thread was started before the fork; its locks would stay locked")
    gc.collect()
    gc.freeze()
    gc.enable()
    return _Ready(lambda channel: run_student(channel, prepared), load_modules, shell.compile_ahead)


def _threads() -> int:
    """The threads of this process: a lock that another one holds stays locked in a fork."""
    return len(os.listdir("/proc/self/task"))


@dataclass(frozen=True)
class _Ready:
    """What the fork server has ready; it keeps what it no longer finds by name."""

    run_student: Callable[[int], None]
    load_modules: Callable[[list[str]], None]
    compile_ahead: Callable[[list[str]], None]


class _ForkServer:
    """Serves one submission at a time."""

    def __init__(self, control: Control, settings: ForkServerSettings, ready: _Ready) -> None:
        self._control, self._settings, self._ready = control, settings, ready
        self._own_pids = os.open("/proc/self/ns/pid", os.O_RDONLY) if settings.sandbox else -1
        self._baseline = process_usage.anonymous_nbytes("self")
        self._limits = settings.limits  # those of the submission that runs
        self._cpu = process_usage.ProcessorTime()
        self._child = self._pids_before = self._crowded = 0
        self._excess = ""

    def serve(self) -> None:
        """Follow the worker's messages until it closes the socket."""
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
                try:
                    self._follow(self._control.receive())
                except EOFError:  # the worker has closed the socket, or has ended
                    self._kill()
                    return
            else:
                self._watch()

    def _follow(self, message: dict[str, Any]) -> None:
        if "fork" in message:
            descriptors = Descriptors(*self._control.take_fds(len(fields(Descriptors))))
            self._fork(descriptors, message["fork"], loopback=message["loopback"])
        elif "compile" in message:
            self._ready.compile_ahead([message["compile"]])
        elif "load" in message:
            self._load(message["load"])
        elif message.get("kill"):
            self._kill()
        elif message.get("cpu"):
            self._control.send({"cpu": self._cpu.seconds(self._processes())})

    def _load(self, names: list[str]) -> None:
        # Some modules look for a directory to write to, and are broken for good without one.
        tempfile.tempdir = WRITABLE if self._settings.sandbox else None
        self._ready.load_modules(names)
        tempfile.tempdir = None
        gc.collect()
        gc.freeze()
        linux.retire_free_memory()
        linux.use_huge_pages()
        self._baseline = process_usage.anonymous_nbytes("self")
        self._control.send({"loaded": len(names), "threads": _threads()})

    def _fork(self, descriptors: Descriptors, folder: str, *, loopback: bool) -> None:
        settings = self._settings
        self._limits = settings.limits.with_loopback() if loopback else settings.limits
        configuration = SandboxConfiguration(
            *(self._limits, settings.sandbox, settings.keep, folder, loopback),
            beside=0 if settings.sandbox else process_usage.threads_of_user() + _MEANWHILE,
        )
        if settings.sandbox:
            linux.unshare(linux.NEW_PID)
        pid = os.fork()
        if pid == 0:
            self._control.detach()
            become_init(descriptors, configuration, self._ready.run_student)
        if settings.sandbox:
            linux.enter_namespace(self._own_pids)
        for fd in (descriptors.channel, descriptors.stdout, descriptors.stderr, descriptors.init):
            os.close(fd)
        self._child, self._excess, self._crowded = pid, "", 0
        self._cpu = process_usage.ProcessorTime()
        self._pids_before = process_usage.last_pid() if settings.sandbox else 0
        self._control.send({"forked": pid})

    def _kill(self) -> None:
        if not self._child:
            return
        if self._settings.sandbox:
            os.kill(self._child, signal.SIGKILL)
        else:
            kill_descendants(os.getpid())

    def _report(self) -> None:
        _, status = os.waitpid(self._child, 0)
        if not self._settings.sandbox:
            end_descendants()
        self._child = 0
        self._control.send({"exited": status, "excess": self._excess})

    def _processes(self) -> list[str]:
        """The processes of the submission, by their numbers."""
        if not self._child:
            return []
        if not self._settings.sandbox:
            return [str(pid) for pid in descendants(os.getpid())]
        return [name for name in os.listdir("/proc") if name.isdigit() and name != "1"]

    def _watch(self) -> None:
        """End a submission whose processes together are more, or take more, than one may."""
        pids = self._processes()
        self._cpu.seconds(pids)
        if self._settings.sandbox and self._open_sockets() > self._limits.sockets:
            self._end_for("sockets")
        elif self._is_crowd(pids):
            self._end_for("processes")
        elif self._is_hog(pids):
            self._end_for("memory")

    def _end_for(self, excess: str) -> None:
        self._excess = excess
        self._kill()

    def _is_crowd(self, pids: list[str]) -> bool:
        """Whether there are nearly as many as the kernel allows, and stay; or were too many."""
        limits = self._limits
        if self._settings.sandbox and process_usage.last_pid() - self._pids_before > limits.started:
            return True
        full = process_usage.threads(pids) > limits.processes - _NEARLY
        self._crowded = self._crowded + 1 if full else 0
        return self._crowded > _CROWDED_LOOKS

    def _open_sockets(self) -> int:
        return process_usage.sockets(str(self._child))

    def _is_hog(self, pids: list[str]) -> bool:
        # What this process has is shared by its forks, and no other program has it: it is taken off
        # once. Cheap and too high first (memory shared after a fork counts twice), exact where
        # needed.
        most = self._limits.memory_nbytes + self._baseline
        if sum(map(process_usage.anonymous_nbytes, pids)) < most:
            return False
        return sum(map(process_usage.own_nbytes, pids)) > most


if __name__ == "__main__":
    main()
