"""Which lines of a cell are hidden tests: those between nbgrader's two marks."""

from __future__ import annotations

import linecache
from pathlib import Path
from types import FrameType

__all__ = [
    "BEGIN",
    "END",
    "called_from_hidden_part",
    "cell_of",
    "first_hidden_line",
    "is_hidden_line",
]

BEGIN, END = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"

_PACKAGE = str(Path(__file__).parent)


def is_hidden_line(filename: str, line: int) -> bool:
    """Whether a line (counted from 1) of a cell stands between the two marks."""
    hidden = False
    for text in linecache.getlines(filename)[:line]:
        mark = text.strip()
        hidden = True if mark == BEGIN else False if mark == END else hidden
    return hidden


def first_hidden_line(cell: str) -> int:
    """The line (counted from 1) at which the hidden tests of a cell begin; 0 without any."""
    lines = enumerate(cell.splitlines(), 1)
    return next((number for number, text in lines if text.strip() == BEGIN), 0)


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
