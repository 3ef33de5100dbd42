"""What became of the cells of a submission: plain data, all that scoring needs to know of a run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

Output = dict[str, Any]  # of a cell, in the form of nbformat 4

TABLE_KEY = "pytorch-measured"  # where an output's metadata holds the record of a check table


class FailureCause(StrEnum):
    """Why a cell could not run to its end; the values are those of a record's status."""

    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out-of-memory"
    CRASHED = "crashed"
    TAMPERED = "tampered"
    INFRASTRUCTURE = "infrastructure"


@dataclass(frozen=True)
class Failure:
    """Why a cell could not run to its end; `reason` completes "This cell …" for its learner."""

    cause: FailureCause
    reason: str


@dataclass(frozen=True)
class CellOutcome:
    """What became of one cell.

    Attributes:
        outputs: What it showed, in the form of nbformat 4.
        count: Its execution count, None where it did not run to its end.
        error: The name of the exception that left it, None without one.
        failure: Why it could not run to its end, None where it did.
        memory_error: Whether the cell, or a call of a test cell, lacked memory.
        leaves_something: Whether a call of a test cell left something behind that a later call,
            of another answer, may find: a default, a mode, a thread.
        has_rest: Whether only the visible part of a test cell has run until now.
    """

    outputs: tuple[Output, ...] = ()
    count: int | None = None
    error: str | None = None
    failure: Failure | None = None
    memory_error: bool = False
    leaves_something: bool = False
    has_rest: bool = False

    def followed_by(self, rest: CellOutcome) -> CellOutcome:
        """What became of a test cell of whose visible part this came, and of its rest that."""
        return replace(
            rest,
            outputs=self.outputs + rest.outputs,
            memory_error=self.memory_error or rest.memory_error,
            leaves_something=self.leaves_something or rest.leaves_something,
        )
