"""What this machine offers to the grading engine, for `autograder doctor`."""

from __future__ import annotations

import os
import platform
import subprocess
from contextlib import suppress
from pathlib import Path

from autograder.engine.limits import Limits, MiB
from autograder.engine.sandbox.bubblewrap import (
    SandboxError,
    bubblewrap,
    sandbox_problem,
    shown_directories,
)


def machine_facts() -> dict[str, str]:
    """What was found, by the name of the fact; every value is a few words."""
    return {
        "system": f"{platform.system()} {platform.release()}",
        "bubblewrap": _bubblewrap(),
        "sandbox": sandbox_problem() or "works",
        "user": _user(),
        "workers": str(_cores()),
        "memory": _memory(),
        "huge pages": _huge_pages(),
        "shown to submissions": ", ".join(map(str, shown_directories())),
    }


def _bubblewrap() -> str:
    try:
        path = bubblewrap()
    except SandboxError as error:
        return error.cause
    with suppress(OSError, subprocess.SubprocessError):
        found = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=10)
        return f"{path} ({found.stdout.strip()})"
    return path


def _user() -> str:
    if os.geteuid() == 0:
        return "root; submissions run as another user without privileges"
    return f"user {os.geteuid()}; submissions run as the same user in namespaces of their own"


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1


def _memory() -> str:
    """What the machine has, and what that many workers may take together."""
    wanted = _cores() * Limits().memory_nbytes // MiB
    with suppress(OSError, ValueError):
        fields = dict(line.split(":", 1) for line in Path("/proc/meminfo").read_text().splitlines())
        total = int(fields["MemTotal"].split()[0]) // 1024
        enough = "" if wanted < total else "; start fewer with --jobs"
        return f"{total} MB; submissions may take up to {wanted} MB together{enough}"
    return "unknown"


def _huge_pages() -> str:
    """Whether forking is cheap: the kernel can gather memory in large pages since 6.1."""
    setting = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    with suppress(OSError):
        if "[never]" not in setting.read_text():
            return "offered; forking a prepared process is cheap"
    return "not offered; each submission costs some 50 ms more"
