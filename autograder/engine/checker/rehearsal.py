"""Running a lesson's test cells once without an answer, for what does not depend on one.

What a test cell asks over many cases, and what its reference gives for them, is the same for every
submission. A rehearsal computes it in a process that checkers are forked from; see
`course.testing.agreement.reference_cache`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import torch

from autograder.engine.kernel.shell import Shell
from autograder.engine.protocol.frames import HEAD_NBYTES, Kind, pack
from course.inspection.facts import number_apart
from course.serialization import digest_of
from course.serialization.received import Absent, Value
from course.testing.agreement import reference_cache
from course.testing.answers import Request, use_backend
from course.testing.observe import Observation, with_changes
from course.testing.recording import ErrorFacts

Generators = Sequence[tuple[Callable[[Any], None], Any]]


def digest_of_frame(asked: bytes) -> bytes:
    """What tells a request, as a frame, apart from every other."""
    return digest_of(asked[HEAD_NBYTES:])


def random_generators() -> Generators:
    """The random generators of this process: how to restore each, and its state of now."""
    return (
        (torch.set_rng_state, torch.get_rng_state()),
        (random.setstate, random.getstate()),
        (np.random.set_state, np.random.get_state()),
    )


class _Nobody:
    """A backend behind which no answer is."""

    def run(self, request: Request, live: Callable[..., Any] | None) -> Observation:
        """An observation of a call that was not made."""
        why = f"`{request.name}` is not asked in a rehearsal"
        nothing = Value(Absent(why, attempted=False))
        seen = Observation(
            *(request.name, *(nothing,) * 7, ErrorFacts("LookupError", (), why)),
            attempted=False,
            untouched=True,
        )
        if not request.each:
            return seen
        return with_changes(seen, asked=digest_of_frame(pack(Kind.ASK, 0, *request.to_wire())))


def rehearse(shell: Shell, tests: Iterable[str]) -> int:
    """Run test cells for what their references give.

    Args:
        shell: Has run the lesson's set-up cell. Its names stay as they are.
        tests: The test cells.

    Returns:
        How many comparisons with a reference need not be computed any more.
    """
    number_apart()
    use_backend(_Nobody())
    reference_cache.fill(True)
    try:
        for source in tests:
            names = dict(shell.user_ns)
            for statement in shell.statements_of(source):
                with suppress(Exception):  # what looks at an answer ends there
                    exec(statement, names)
    finally:
        reference_cache.fill(False)
    return reference_cache.kept_count()
