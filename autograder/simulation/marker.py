"""The mark of a simulated class: which submissions `autograder simulate` wrote, to the byte.

Their code is our own, so `grade` may run it where a machine offers no sandbox.  The mark holds a
digest of each submission, so real learners' work below a copied mark is not taken for ours.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from autograder.runners.choice import usual_runner
from autograder.submissions.discovery import Submission

MARK = "simulated.json"
KIND = "simulated course"


class _Written(msgspec.Struct, frozen=True):
    """A submission as `simulate` wrote it, with the digest of all its bytes."""

    student: str
    lesson: str
    digest: str


class _Mark(msgspec.Struct, frozen=True):
    """What is read of `simulated.json`; a run that was interrupted left no submissions in it."""

    kind: str = ""
    submissions: frozenset[_Written] = frozenset()


def is_simulated(directory: Path) -> bool:
    """Whether `directory` was made by `autograder simulate`, finished or not."""
    return not directory.is_symlink() and _mark(directory).kind == KIND


def are_simulated(course: Path, submissions: Sequence[Submission]) -> bool:
    """Whether each of `submissions`, of which there is one at least, is as it was simulated."""
    found = {_Written(one.student, one.lesson.slug, one.digest) for one in submissions}
    return bool(found) and is_simulated(course) and found <= _mark(course).submissions


def sandbox_for(course: Path, submissions: Sequence[Submission]) -> bool:
    """Whether `submissions` are to run in a sandbox: all are, but for our own where there is none.

    Says in one line on stderr that they run without.

    Args:
        course: The root of the course directory.
        submissions: All that are about to be graded.
    """
    if not are_simulated(course, submissions):
        return True
    from autograder.engine.sandbox.bubblewrap import sandbox_problem

    reason = sandbox_problem()
    if reason is not None:
        who = {"engine": "the engine", "stock": "stock nbgrader"}[usual_runner()]
        print(
            f"There is no sandbox here ({reason.rstrip('.')}). Every submission is simulated: "
            f"{who} runs it without one, and its record says so.",
            file=sys.stderr,
        )
    return reason is None


def _mark(directory: Path) -> _Mark:
    try:
        return msgspec.convert(json.loads((directory / MARK).read_text("utf-8")), _Mark)
    except (OSError, ValueError, RecursionError):
        return _Mark()
