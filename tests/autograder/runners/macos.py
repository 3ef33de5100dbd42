"""Runs commands of `autograder` with what macOS lacks taken away, as far as Linux can pretend.

As a program of its own (`python -m tests.autograder.runners.macos COMMANDS`), one list of words a
command.  Other packages are loaded first: how they get along on macOS is theirs.  A worker that is
spawned loads this module again, and lacks the same.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import resource
import select
import signal
import sys
from typing import Any

import IPython  # noqa: F401 - loaded first, see above
import matplotlib.pyplot  # noqa: F401
import nbconvert  # noqa: F401
import nbgrader.apps.api  # noqa: F401
import psutil  # noqa: F401
import torch  # noqa: F401

LACKING: dict[Any, tuple[str, ...]] = {
    os: ("memfd_create", "pidfd_open", "pipe2", "sched_getaffinity", "setns", "unshare"),
    resource: ("RLIMIT_MSGQUEUE", "RLIMIT_RTPRIO", "prlimit"),
    select: ("epoll",),
    signal: ("pidfd_send_signal",),
}
CALLS = {"capset", "prctl", "setns", "umount2", "unshare"}


class Libc(ctypes.CDLL):
    """The system's library, without the calls that are Linux's alone."""

    def __getattr__(self, name: str) -> Any:
        """Return what is found at first use, as `CDLL` does."""
        if name in CALLS:
            raise AttributeError(f"dlsym(RTLD_DEFAULT, {name}): symbol not found")
        return super().__getattr__(name)


for module, names in LACKING.items():
    for one in names:
        if hasattr(module, one):  # Python 3.11 has fewer of them
            delattr(module, one)
ctypes.CDLL = Libc  # type: ignore[misc]
platform.system = lambda: "Darwin"
sys.platform = "darwin"

if __name__ == "__main__":
    from autograder.cli.main import main

    for words in json.loads(sys.argv[1]):
        if code := main(words):
            sys.exit(code)
