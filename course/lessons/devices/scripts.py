"""A script that runs as one does from a terminal: in a file, with a Python of its own."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

__all__ = ["run_script"]


def run_script(text: str, timeout: float = 120.0) -> str:
    """Write `text` into a file, run it with a new Python, and return what it printed.

    Args:
        text: The script. It may start processes of its own.
        timeout: How many seconds it may take.

    Returns:
        What it wrote to stdout; behind that, where it failed, the last line of its error.

    Raises:
        subprocess.TimeoutExpired: It took longer.
    """
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "script.py")
        file.write_text(text, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, str(file)], capture_output=True, text=True, timeout=timeout
        )
    error = done.stderr.strip().splitlines()[-1:] if done.returncode else []
    return done.stdout + "\n".join(error)
