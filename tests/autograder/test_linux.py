"""What the kernel is asked beyond Python's own calls."""

from __future__ import annotations

import subprocess
import sys

import pytest

NAMED = """
from pathlib import Path
from autograder import linux
linux.call_process({name!r})
print(Path("/proc/self/comm").read_text(), end="")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="prctl is Linux's")
@pytest.mark.parametrize(("name", "shown"), [("checker", "checker"), ("x" * 40, "x" * 15)])
def test_a_process_is_called_what_it_does(name: str, shown: str) -> None:
    program = [sys.executable, "-c", NAMED.format(name=name)]
    found = subprocess.run(program, capture_output=True, text=True, check=True)
    assert found.stdout == f"{shown}\n"
