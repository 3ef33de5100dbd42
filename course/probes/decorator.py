"""Probes: public procedures that run beside the answer and observe more than one call.

A probe builds, trains or iterates where the learner's object lives, and returns what it saw:
tensors, numbers, text. It never decides: what is right is decided by the test cell, which the
learner's code cannot reach, and a reference runs there, by `probe.here(reference, ...)`.
"""

from __future__ import annotations

import functools
import inspect
import textwrap
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from course.hidden_lines import is_hidden_line
from course.testing.answers import Answer, Request, submit
from course.testing.inputs.cases import Case, columns
from course.testing.observe import Observation
from course.testing.recording import Options

__all__ = ["Probe", "probe"]


# A procedure may run for thousands of operators, most of them its own; whoever has a check for them
# says `watch(operators=True)`.
_PROBED = Options(operators=False)


class Probe:
    """A procedure that is called from a test cell and runs beside the answer.

    Operators are recorded with `watch(operators=True)` alone.
    """

    def __init__(self, procedure: Callable[..., Any], options: Options = _PROBED) -> None:
        self.procedure = procedure
        self.options = options
        functools.update_wrapper(self, procedure)

    @property
    def name(self) -> str:
        """The name under which observations and messages show it."""
        return self.procedure.__name__

    @property
    def _in_course(self) -> bool:
        return (self.procedure.__module__ or "").partition(".")[0] == "course"

    @property
    def source(self) -> str | None:
        """The text that another process needs; None for a probe of the course package."""
        return None if self._in_course else _text_of(self.procedure)

    def __call__(self, *args: Any, **kwargs: Any) -> Observation:
        """Run the procedure once; answers among the arguments arrive as the live objects."""
        args = tuple(_as_reference(argument) for argument in args)
        kwargs = {name: _as_reference(argument) for name, argument in kwargs.items()}
        request = Request(self._target, args, kwargs, self.options, self.source)
        return submit(request, self.procedure)

    @property
    def _target(self) -> tuple[str, str]:
        name = f"{self.procedure.__module__}:{self.name}" if self._in_course else self.name
        return "probe", name

    def through(self, answer: Answer) -> ProbedAnswer:
        """What `Check.agrees` takes as `of`: the procedure is called with `(answer, *case.args)`.

        For the reference the test cell itself calls it, with `(reference, *case.args)`.
        """
        return ProbedAnswer(self, answer)

    def here(self, *args: Any, **kwargs: Any) -> Any:
        """What the procedure returns when the test cell itself runs it, on a reference of its own.

        Where the engine grades, that is a process without the learner's code. Warnings are left
        out: nbgrader takes what a test cell writes to stderr for its end.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.procedure(*args, **kwargs)

    def watch(self, **options: bool) -> Probe:
        """The same probe, recording more (see `Options`)."""
        return Probe(self.procedure, replace(self.options, **options))


class ProbedAnswer:
    """A probe that is given an answer: for `Check.agrees`, one thing to call with many cases."""

    def __init__(self, probe: Probe, answer: Answer) -> None:
        self._probe, self._answer = probe, answer

    @property
    def name(self) -> str:
        """The name of the answer."""
        return self._answer.name

    def each(self, cases: Sequence[Case]) -> Observation:
        """Call the procedure once for each case, in one request."""
        sent = columns(cases, self._answer.reference())
        asked = self._probe
        options = replace(asked.options, operators=False)  # of many calls nobody could tell
        request = Request(asked._target, (sent,), {}, options, asked.source, each=True)
        return submit(request, asked.procedure)

    def standing_in(self, reference: Callable[..., Any]) -> Callable[..., Any]:
        """The procedure with a reference in the place of the answer."""
        return functools.partial(self._probe.here, reference)

    def watch(self, **options: bool) -> ProbedAnswer:
        """The same, recording more (see `Options`)."""
        return ProbedAnswer(self._probe.watch(**options), self._answer)


def probe(procedure: Callable[..., Any]) -> Probe:
    """Make a function of a test cell's visible part a probe.

    Args:
        procedure: A function of a test cell, whose text travels to the learner's side, or of
            `course`.

    Raises:
        ValueError: It is defined inside a hidden part, whose text must not travel.
    """
    code = procedure.__code__
    if is_hidden_line(code.co_filename, code.co_firstlineno):
        raise ValueError(
            f"the probe `{procedure.__name__}` is defined among the hidden tests. Move it above "
            "`### BEGIN HIDDEN TESTS` and call it there with other arguments."
        )
    return Probe(procedure)


@functools.lru_cache(maxsize=200)  # to find where a function ends Python reads all its tokens
def _text_of(procedure: Callable[..., Any]) -> str:
    lines = textwrap.dedent(inspect.getsource(procedure)).splitlines(keepends=True)
    start = next(i for i, line in enumerate(lines) if line.startswith(("def ", "class ")))
    return "".join(lines[start:])


def _as_reference(argument: Any) -> Any:
    return argument.reference() if isinstance(argument, Answer) else argument
