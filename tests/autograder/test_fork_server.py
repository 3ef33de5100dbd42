"""What fork servers share: messages, forks of which nothing is left, an end with its reason."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.descendants import descendants
from autograder.fork_server import Control, ForkServer, fork


@pytest.fixture
def pair() -> Iterator[tuple[Control, socket.socket]]:
    ours, theirs = socket.socketpair()
    with theirs:
        control = Control(ours, most_nbytes=100, most_fds=1)
        yield control, theirs
        control.close()


def test_messages_come_one_by_one_and_leave_the_next_one_to_be_waited_for(
    pair: tuple[Control, socket.socket],
) -> None:
    control, theirs = pair
    theirs.send(b'{"loaded": 1}\n{"exited"')
    assert control.receive(1.0) == {"loaded": 1}
    theirs.send(b": 0}\n")
    assert control.receive(1.0) == {"exited": 0}


def test_a_half_message_is_waited_for_no_longer_than_told(
    pair: tuple[Control, socket.socket],
) -> None:
    control, theirs = pair
    theirs.send(b'{"half')
    begun = time.monotonic()
    with pytest.raises(TimeoutError, match="within 0 s"):
        control.receive(0.2)
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize(
    ("sent", "why"),
    [(b"x" * 101, "too long"), (b"plain text\n", "no message"), (b"", "it has ended")],
)
def test_what_is_no_message_ends_the_talk(
    pair: tuple[Control, socket.socket], sent: bytes, why: str
) -> None:
    control, theirs = pair
    theirs.send(sent)
    theirs.shutdown(socket.SHUT_WR)
    with pytest.raises(EOFError, match=why):
        control.receive(1.0)


def test_a_file_descriptor_comes_with_its_own_message(pair: tuple[Control, socket.socket]) -> None:
    control, theirs = pair
    other = Control(theirs.dup())
    other.send({"first": 1})
    other.send({"fork": True}, [sys.stderr.fileno()])
    other.close()
    assert control.receive(1.0) == {"first": 1}
    with pytest.raises(EOFError, match="0 file descriptors instead of 1"):
        control.take_fds(1)
    control.receive(1.0)
    (fd,) = control.take_fds(1)
    assert os.path.sameopenfile(fd, sys.stderr.fileno())
    os.close(fd)


def test_a_socket_that_expects_no_file_descriptors_opens_none() -> None:
    ours, theirs = socket.socketpair()
    control, other = Control(ours), Control(theirs)
    other.send({"fork": True}, [sys.stderr.fileno()])
    before = len(os.listdir("/proc/self/fd"))
    assert control.receive(1.0) == {"fork": True}
    assert len(os.listdir("/proc/self/fd")) == before
    control.close()
    other.close()


def test_a_fork_never_goes_on_as_its_parent(capfd: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        raise LookupError("not there")

    _, status = os.waitpid(fork(fail), 0)
    assert os.waitstatus_to_exitcode(status) == 70
    assert capfd.readouterr().err.endswith("LookupError: not there\n")
    assert os.waitstatus_to_exitcode(os.waitpid(fork(lambda: None), 0)[1]) == 0


# Runs three works: one dies, one leaves a process behind, one does not end.
RUNS = """
import os, sys, time
from autograder.fork_server import Control, Died, Forks, ready

def leave_behind():
    if os.fork() == 0:
        os.setsid()
        time.sleep(54321)
    return {"result": 7}

control = Control.at(int(sys.argv[1]))
forks = Forks(parent=os.getppid(), control=control)
control.send(ready())
try:
    forks.run(lambda: os._exit(3), 60.0)
except Died as error:
    control.send({"ended": str(error)})
control.send(forks.run(leave_behind, 60.0))
control.receive()
forks.run(leave_behind, 400.0)
forks.run(lambda: time.sleep(54321), 400.0)
"""


def server_of(program: str) -> tuple[ForkServer, Control]:
    ours, theirs = socket.socketpair()
    command = [sys.executable, "-c", program, str(theirs.fileno())]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    return ForkServer(command, [theirs], env=env), Control(ours)


def test_nothing_is_left_of_a_fork_whether_it_dies_is_done_or_is_ended() -> None:
    before = set(descendants(os.getpid()))
    server, control = server_of(RUNS)
    try:
        (pid,) = control.receive(30.0).values()
        assert control.receive(30.0) == {"ended": "its process ended with 3"}
        assert control.receive(30.0) == {"result": 7}
        assert descendants(pid) == []
        control.send({"go": "on"})
        while not descendants(pid):
            time.sleep(0.01)
    finally:
        server.terminate()
        control.close()
        server.close()
    assert set(descendants(os.getpid())) <= before


def test_a_server_that_ends_says_why() -> None:
    server, control = server_of("import sys; sys.exit('no memory for torch')")
    with pytest.raises(EOFError, match="it has ended"):
        control.receive(30.0)
    assert server.how_it_ended() == "ended with 1: no memory for torch"
    control.close()
    server.close()


@pytest.mark.exhaustive("whole commands")
def test_a_server_that_does_not_end_when_asked_is_ended_with_what_it_started() -> None:
    stubborn = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.fork()
time.sleep(54321)
"""
    before = set(descendants(os.getpid()))
    server, control = server_of(stubborn)
    control.close()
    server.close()
    assert set(descendants(os.getpid())) <= before
    assert server.has_ended


def test_no_file_of_the_directory_that_somebody_works_in_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("msgspec", "argparse"):
        (tmp_path / f"{name}.py").write_text("open('run', 'w').close()")
    packages = os.environ.get("PYTHONPATH", "")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", f"{packages}::.")
    ours, theirs = socket.socketpair()
    server = ForkServer.of_module("autograder.records.model", theirs=[theirs], env={})
    assert server.how_it_ended().startswith("ended with 0")
    server.close()
    ours.close()
    monkeypatch.setenv("PYTHONPATH", packages)
    command = [sys.executable, "-m", "autograder", "--help"]
    subprocess.run(command, check=True, capture_output=True, timeout=60)
    assert not (tmp_path / "run").exists()
