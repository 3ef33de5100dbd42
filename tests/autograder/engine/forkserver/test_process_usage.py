"""What processes use is what the system tells of them."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from typing import Any

from autograder.engine.forkserver import process_usage

OWN = str(os.getpid())
PIPES: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
COMPUTE = "import time\nwhile time.process_time() < 0.3: pass"


def test_the_processor_time_of_a_process_is_its_own() -> None:
    before = time.process_time()
    assert before - 0.1 <= process_usage.cpu_s([OWN]) - _of_children() <= time.process_time() + 0.1


def _of_children() -> float:
    times = os.times()
    return times.children_user + times.children_system


def test_a_child_that_has_ended_counts_for_its_parent() -> None:
    before = process_usage.cpu_s([OWN])
    subprocess.run([sys.executable, "-c", COMPUTE], check=True)
    assert process_usage.cpu_s([OWN]) - before >= 0.25


def test_a_child_that_nobody_waited_for_counts_when_it_was_seen() -> None:
    used = process_usage.ProcessorTime()
    waits = f"{COMPUTE}\nprint(flush=True)\ninput()"
    child = subprocess.Popen([sys.executable, "-c", waits], **PIPES)
    child.stdout.readline()
    seen = used.seconds([str(child.pid)])
    child.communicate("\n")
    assert used.seconds([]) == seen >= 0.25


def test_sockets_are_counted_by_the_network_that_they_are_in() -> None:
    with ExitStack() as opened:
        for _ in range(100):
            for one in socket.socketpair():
                opened.enter_context(one)
        assert process_usage.sockets(OWN) >= 200
    assert process_usage.sockets("0") == 0


def test_a_process_that_is_gone_uses_nothing() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    gone = str(child.pid)
    assert (process_usage.cpu_s([gone]), process_usage.threads([gone])) == (0.0, 0)
    assert (process_usage.anonymous_nbytes(gone), process_usage.own_nbytes(gone)) == (0, 0)


def test_threads_are_counted_with_their_process() -> None:
    before, end = process_usage.threads([OWN]), threading.Event()
    thread = threading.Thread(target=end.wait)
    thread.start()
    assert process_usage.threads([OWN]) == before + 1
    end.set()
    thread.join()


def test_a_process_has_memory_of_its_own() -> None:
    assert process_usage.anonymous_nbytes(OWN) > 0
    assert process_usage.own_nbytes(OWN) > 0


def test_the_last_number_given_to_a_process_is_told() -> None:
    before = process_usage.last_pid()
    subprocess.run([sys.executable, "-c", ""], check=True)
    assert process_usage.last_pid() != before
