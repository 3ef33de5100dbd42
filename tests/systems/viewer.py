"""A TensorBoard of one's own, on this machine only, for as long as a test looks at it."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["WAIT_S", "viewer"]

WAIT_S = 120  # for what must happen; no measurement


@contextmanager
def viewer(folder: Path, log: Path) -> Iterator[str]:
    """The address of a TensorBoard that shows this folder, on this machine only."""
    command = [sys.executable, "-m", "tensorboard.main", "--logdir", str(folder)]
    command += ["--host", "127.0.0.1", "--port", "0", "--load_fast", "false"]
    with log.open("w") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
    try:
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end and process.poll() is None:
            if found := re.search(r"(http://127\.0\.0\.1:\d+/)", log.read_text()):
                yield found[1]
                return
            time.sleep(0.2)
        raise AssertionError(f"TensorBoard did not start: {log.read_text()[-500:]}")
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)
