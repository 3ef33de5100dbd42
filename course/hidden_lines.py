"""Which lines of a cell are hidden tests: those between nbgrader's two marks.

A line is a mark if its words stand anywhere in it, as for nbgrader: `# BEGIN HIDDEN TESTS` is one,
and so is `### BEGIN HIDDEN TESTS (7 of 9)`.
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

__all__ = [
    "BEGIN",
    "END",
    "called_from_hidden_part",
    "cell_of",
    "first_hidden_line",
    "is_hidden_in",
    "is_hidden_line",
    "lines_of",
]

BEGIN, END = "BEGIN HIDDEN TESTS", "END HIDDEN TESTS"

_PACKAGE = str(Path(__file__).parent)
# `str.splitlines` breaks at more: form feeds and U+2028, which may stand in a comment or a text.
_LINE_ENDS = re.compile(r"\r\n|\r|\n")


def lines_of(source: str) -> list[str]:
    """The lines of a text as Python numbers them.

    Args:
        source: The text of a cell.
    """
    return _LINE_ENDS.split(source)


def is_hidden_line(filename: str, line: int) -> bool:
    """Whether a line (counted from 1) of a cell stands between the two marks."""
    return is_hidden_in(linecache.getlines(filename), line)


def is_hidden_in(lines: Sequence[str], line: int) -> bool:
    """The same of a cell with these lines.

    Args:
        lines: As `lines_of` gives them.
        line: Counted from 1.
    """
    hidden = False
    for text in lines[:line]:
        hidden = True if BEGIN in text else False if END in text else hidden
    return hidden


def first_hidden_line(cell: str) -> int:
    """The line (counted from 1) at which the hidden tests of a cell begin; 0 without any."""
    before, mark, _ = cell.partition(BEGIN)
    # nbgrader takes out all that stands in the mark's line, which for it only "\n" ends.
    return len(lines_of(before[: before.rfind("\n") + 1])) if mark else 0


def cell_of(frame: FrameType | None) -> str:
    """The file name of the cell that leads to this frame; "" where none does."""
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return frame.f_code.co_filename if frame is not None else ""


def called_from_hidden_part(frame: FrameType | None) -> bool:
    """Whether the cell that leads to this frame is at a hidden line, in a helper of it or not."""
    cell = cell_of(frame)
    while frame is not None:
        # Only the lines of the cell itself are read: linecache would load every library file.
        if frame.f_code.co_filename == cell and is_hidden_line(cell, frame.f_lineno):
            return True
        frame = frame.f_back
    return False
