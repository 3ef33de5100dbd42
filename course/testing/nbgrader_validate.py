"""What nbgrader's Validate is told of a test cell: the checks that do not hold.

Validate takes what a test cell writes to stderr for its error, and else calls every loss of points
"partial credit".  Nowhere else may a test cell write there: it would lose all its points.
"""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Mapping
from dataclasses import replace

from course.testing.results import TestResult
from course.testing.table import headline, text_table

__all__ = ["failures", "tell_validator"]

_WIDTH = 80  # the command `nbgrader validate` cuts longer lines


def tell_validator(result: TestResult, environment: Mapping[str, str] = os.environ) -> None:
    """Write what does not hold to stderr where Validate runs the cell; nothing anywhere else."""
    if environment.get("NBGRADER_EXECUTION") == "validate" and result.score < result.max:
        print(failures(result), file=sys.stderr)


def failures(result: TestResult) -> str:
    """The checks that do not hold, as text of 80 columns."""
    if result.status == "not attempted":
        return f"{result.exercise}: not attempted yet. Fill the gap in its cell, then run it."
    failed = tuple(check for check in result.checks if not check.passed)
    _, *lines = text_table(replace(result, checks=failed)).split("\n")
    return "\n".join([headline(result), *map(_wrapped, lines)])


def _wrapped(line: str) -> str:
    indent = " " * (len(line) - len(line.lstrip()))
    return textwrap.fill(line, _WIDTH, subsequent_indent=indent, break_long_words=False)
