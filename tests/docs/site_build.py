"""A small site for the tests: one lesson with its claims, made as `make site` makes all of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from filelock import FileLock

ROOT = Path(__file__).parents[2]
LESSON = "04-memory-layout"


def small_site(shared: Path) -> Path:
    """The folder of the site; built by whichever worker comes first, in a process of its own.

    Args:
        shared: A folder that all workers of this run see.
    """
    out = shared / "site"
    with FileLock(shared / "site.lock"):
        if not out.is_dir():
            build("--out", str(out), "--work", str(shared / "site-work"))
    return out


def build(*words: str) -> None:
    """Build a site of the one lesson, without a gallery."""
    command = [sys.executable, "-m", "docs.site", "--lessons", LESSON, "--gallery", "0", *words]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, ""), run.stderr
