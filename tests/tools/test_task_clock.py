"""The clock counts what a process and its children use, and nobody else."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tools.task_clock import TaskClock


@pytest.fixture
def clock() -> TaskClock:
    try:
        return TaskClock()
    except OSError as error:
        pytest.skip(f"this kernel offers no clock: {error}")


def test_it_counts_at_least_what_linux_charges_to_a_child(clock: TaskClock) -> None:
    before = clock.seconds()
    process = subprocess.Popen([sys.executable, "-c", "sum(range(3_000_000))"])
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    assert clock.seconds() - before >= 0.9 * (usage.ru_utime + usage.ru_stime) > 0
    clock.close()


def test_a_process_that_was_there_before_is_not_counted() -> None:
    script = "import sys\nsys.stdin.readline()\nsum(range(30_000_000))"
    process = subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE)
    try:
        clock = TaskClock()
    except OSError as error:
        process.kill()
        process.communicate()
        pytest.skip(f"this kernel offers no clock: {error}")
    assert process.stdin is not None
    process.stdin.write(b"\n")
    process.stdin.close()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = status
    assert clock.seconds() < usage.ru_utime + usage.ru_stime
    clock.close()
