"""Runs a command, and ends with everything that it started when the program that asked is gone.

    python -m tools.supervisor PID_OF_WHO_ASKS COMMAND…

The benchmark's contenders go through it: a stock kernel outlives a grader that is killed.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import threading

from autograder.descendants import adopt_orphans, end_descendants, end_with_parent

__all__ = ["supervised"]


def supervised(command: list[str], parent: int) -> list[str]:
    """The command line that runs `command` for the process `parent`, with the same exit code."""
    return [sys.executable, "-m", "tools.supervisor", str(parent), *command]


def main(parent: int, command: list[str]) -> None:
    """Run `command` to its end, or until `parent` ends."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # by way of `finally`
    end_with_parent(parent)
    adopt_orphans()
    try:
        # With a limit it looks now and then: a signal that comes just before a wait without one
        # is handled only after it.
        code = subprocess.call(command, timeout=threading.TIMEOUT_MAX)
    finally:
        end_descendants()
    sys.exit(code if code >= 0 else 128 - code)  # a signal as a shell counts it


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
