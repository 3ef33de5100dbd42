"""`pip install`, telling how it goes: `python -m tools.install ARGUMENTS…`.

A terminal gets pip's own words and bars. A log or a pipe gets a line every few seconds: how many
packages are found, and what pip last said it does; pip itself is silent while it unpacks hundreds
of megabytes. The Makefile runs this in the new environment, where nothing is installed yet.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import TextIO

_TOLD_S = 4.0  # between two lines; nobody is to wait five seconds for one
_LAST_LINES = 30  # of what pip said, where it fails
_FOUND = ("Collecting ", "Requirement already satisfied: ")
_TOLD = ("Collecting ", "Downloading ", "Building ", "Installing ", "Successfully ")


def main(command: Sequence[str], out: TextIO) -> int:
    """Run `command`, pip as a rule, and tell `out` how it goes; its exit code."""
    if out.isatty():
        return subprocess.call(command)
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )
    said: list[str] = []
    listener = threading.Thread(target=_listen, args=(process, said), daemon=True)
    listener.start()
    begun = time.monotonic()
    while listener.is_alive():
        listener.join(_TOLD_S)
        if listener.is_alive():
            print(_line(said, time.monotonic() - begun), file=out, flush=True)
    if code := process.wait():
        print("\n".join(said[-_LAST_LINES:]), file=sys.stderr)
    return code


def _listen(process: subprocess.Popen[str], said: list[str]) -> None:
    assert process.stdout is not None
    with process.stdout as lines:
        for line in lines:
            said.append(line.rstrip())


def _line(said: Sequence[str], seconds: float) -> str:
    found = len({line for line in said if line.startswith(_FOUND)})
    told = [line.strip() for line in said if line.strip().startswith(_TOLD)]
    last = told[-1] if told else "pip starts"
    return f"  {seconds:.0f} s, {found} packages found: {last:.80}"


if __name__ == "__main__":
    pip = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check"]
    sys.exit(main([*pip, *sys.argv[1:]], sys.stdout))
