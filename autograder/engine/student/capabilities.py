"""What trusted code in the student process may ask of the audit hook; see `audit`.

These classes stand apart from it: whoever finds a class finds the names of its module.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from course.inspection.operators import Scope, Trace


@dataclass(frozen=True)
class HiddenProfiler:
    """The operator log behind the hook; a `course.inspection.operators.Profiler`."""

    start: Callable[[frozenset[int]], tuple[object, Scope]]
    flush: Callable[[], None]
    stop: Callable[[object], Trace]


@dataclass(frozen=True)
class Capabilities:
    """Whoever holds it is believed.

    Attributes:
        use_key: Takes the key that replies are signed with, and the names of the lesson's own
            cells, which are not asked about; once, before any learner code runs.
        use_verifier: Takes what tells whether the code that measures is what it was.
        sign: The signature of these parts of a reply.
        begin: Says which cell runs now; a notice is about it.
        notices: What was noticed: pairs of where and what.
        profiler: The operator log.
    """

    use_key: Callable[[bytes, list[str]], None]
    use_verifier: Callable[[Callable[[], bool]], None]
    sign: Callable[[Sequence[Any]], bytes]
    begin: Callable[[str], None]
    notices: Callable[[], list[list[str]]]
    profiler: HiddenProfiler
