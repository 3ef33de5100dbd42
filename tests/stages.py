"""`make test` and `make test-all`: the stages of a test run, one after another or side by side.

    python -m tests.stages [--everything] [--keep-going]

What needs one core runs beside its like; what uses both runs alone. After each stage stands what it
took, and at the very end what was left out. A stage that fails ends the run, unless told otherwise.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

ROOT = Path(__file__).parents[1]
# pytest comes last: its closing lines are the last thing a reader sees.
STAGES = (("lint", "types", "drift"), ("answers",), ("pytest",))
LEFT_OUT = "left out: "
SHARE = "10%"


@dataclass
class Stage:
    """A target of the Makefile that runs, or has run.

    Attributes:
        name: The target.
        process: `make` with that target.
        said: Where it prints to, or what it has printed is written to.
        begun: When it was started, in seconds.
        seconds: How long it took on the clock, and of processor time, its children's included.
        code: Its exit status.
        left_out: What it says that it did not try.
    """

    name: str
    process: subprocess.Popen[bytes]
    said: IO[bytes]
    begun: float = field(default_factory=time.monotonic)
    seconds: tuple[float, float] = (0.0, 0.0)
    code: int = 0
    left_out: list[str] = field(default_factory=list)

    def end(self) -> bytes:
        """Wait until it ends; what it has printed."""
        _, status, used = os.wait4(self.process.pid, 0)
        self.code = self.process.returncode = os.waitstatus_to_exitcode(status)
        self.seconds = time.monotonic() - self.begun, used.ru_utime + used.ru_stime
        with self.said:
            self.said.seek(0)
            said = self.said.read()
        lines = said.decode("utf-8", "replace").splitlines()
        self.left_out += [one.removeprefix(LEFT_OUT) for one in lines if one.startswith(LEFT_OUT)]
        return said

    @property
    def line(self) -> str:
        """What it took."""
        clock, processor = self.seconds
        failed = "" if self.code == 0 else ", FAILED"
        return f"make {self.name}: {clock:.0f} s, {processor:.0f} s of processor time{failed}"


def run(groups: Iterable[Sequence[str]], environment: dict[str, str], *, keep_going: bool) -> int:
    """Run the stages of each group beside each other.

    Returns:
        0 where all hold, else the status of the last one that failed.
    """
    failed, left_out = 0, []
    for group in groups:
        stages = [_begun(name, environment, alone=len(group) == 1) for name in group]
        for stage in stages:
            _follow(stage)
            print(stage.line, flush=True)
            failed = stage.code or failed
            left_out += stage.left_out
        if failed and not keep_going:
            break
    if left_out:
        print(f"{LEFT_OUT}{', '.join(left_out)}: make test-all")
    return failed


def _begun(name: str, environment: dict[str, str], *, alone: bool) -> Stage:
    said = tempfile.TemporaryFile()  # noqa: SIM115 (read when the stage has ended)
    process = subprocess.Popen(
        ["make", "--no-print-directory", name],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE if alone else said,
        stderr=None if alone else said,
    )
    return Stage(name, process, said)


def _follow(stage: Stage) -> None:
    """Print what a stage says: at once where it runs alone, else when it has ended."""
    pipe = stage.process.stdout
    while pipe is not None and (part := os.read(pipe.fileno(), 1 << 16)):
        stage.said.write(part)
        _print(part)
    said = stage.end()
    if pipe is None:
        _print(said)
    else:
        pipe.close()


def _print(said: bytes) -> None:
    sys.stdout.buffer.write(said)
    sys.stdout.buffer.flush()


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.stages", description=__doc__)
    parser.add_argument("--everything", action="store_true", help="leave nothing out")
    parser.add_argument("--keep-going", action="store_true", help="run on after a failure")
    asked = parser.parse_args()
    less = {"SHARE": SHARE, "LEAVE_OUT_EXHAUSTIVE": "1"}
    environment = {} if asked.everything else less
    if sys.stdout.isatty():
        environment["FORCE_COLOR"] = "1"  # pytest writes to us, and we to the terminal
    return run(STAGES, environment, keep_going=asked.keep_going)


if __name__ == "__main__":
    sys.exit(main())
