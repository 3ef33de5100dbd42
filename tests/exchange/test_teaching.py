"""What docs/teaching.md tells instructors to type can be typed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from autograder.cli.main import build_parser
from autograder.engine.limits import Limits, MiB

TEXT = (Path(__file__).parents[2] / "docs" / "teaching.md").read_text()
BLOCKS = "\n".join(re.findall(r"```\n(.*?)```", TEXT, re.DOTALL))
INLINE = re.findall(
    r"`(autograder [a-z-]+ [^`]+)`", re.sub(r"```.*?```", "", TEXT, flags=re.DOTALL)
)
COMMANDS = [*re.findall(r"^(autograder .*?)(?:\s+#.*)?$", BLOCKS, re.MULTILINE), *INLINE]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_of_the_page_is_one(command: str) -> None:
    words = shlex.split(command.replace(" N", " 2"))
    options, unknown = build_parser().parse_known_args(words[1:])
    assert (options.command, unknown) == (words[1], [])


def test_the_page_uses_every_command_of_an_instructor() -> None:
    used = {command.split()[1] for command in COMMANDS}
    needed = "doctor collect grade feedback report export backup bench"
    assert set(needed.split()) <= used


def test_the_limits_on_the_page_are_those_that_hold() -> None:
    limits = Limits()

    told = (
        f"{limits.cell_s:.0f} s of processor time a cell, {limits.submission_s:.0f} s in all and "
        f"{ {3: 'three'}[limits.patience] } times as many on the clock; "
        f"{limits.memory_nbytes // 2**30} GiB of memory beyond PyTorch in all, "
        f"{limits.tmp_nbytes // MiB} MiB of files"
    )
    assert told in TEXT
