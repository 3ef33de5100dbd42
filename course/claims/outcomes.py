"""What comes of a cell's lines: the measured half of a prediction."""

from __future__ import annotations

import ast
import contextlib
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass

from course.claims.proof_helpers import first_line
from course.claims.proofs import compiled, file_of, guards, missing, preamble

__all__ = ["Outcome", "outcome_of"]


@dataclass(frozen=True)
class Outcome:
    """What came of a cell's lines.

    Attributes:
        printed: What they wrote, then the value of a last line that is an expression.
        error: The error that ended them, in one line beginning with its class; None without one.
        missing: What they need and this machine lacks; None where they ran.
        values: The values of the expressions that were asked for.
    """

    printed: str
    error: str | None = None
    missing: str | None = None
    values: tuple[object, ...] = ()

    @property
    def text(self) -> str:
        """What a learner reads of it: what was printed, and the error below."""
        said = "\n".join(part for part in (self.printed.rstrip(), self.error) if part)
        return _TERMINAL_STYLE.sub("", said)


# torch.load sets a part of its message in bold, for terminals.
_TERMINAL_STYLE = re.compile(r"\x1b\[[0-9;]*m")


def outcome_of(
    code: str, *, name: str, needs: str | None = None, then: Sequence[str] = ()
) -> Outcome:
    """What comes of lines that are run as a cell, in a namespace of their own.

    Args:
        code: The lines.
        name: What they are called in an error.
        needs: What they cannot do without: one of `NEEDS`.
        then: Expressions to evaluate afterwards.
    """
    lacking = missing(needs)
    if lacking is not None:
        return Outcome("", missing=lacking)
    namespace = preamble()
    printed = io.StringIO()
    error, values = None, ()
    with guards(), contextlib.redirect_stdout(printed):
        try:
            _run_as_cell(code, name, namespace)
            values = tuple(eval(compiled(one, name, "eval"), namespace) for one in then)
        except KeyboardInterrupt:
            raise
        except BaseException as caught:  # a cell may raise SystemExit as well
            error = f"{type(caught).__name__}: {first_line(caught)}".rstrip(": ")
        namespace.clear()
    return Outcome(printed.getvalue(), error, values=values)


def _run_as_cell(code: str, name: str, namespace: dict[str, object]) -> None:
    """Run the lines; the value of a last one that is an expression is printed."""
    compiled(code, name, "exec")  # the whole text is known to tracebacks and inspect
    body = ast.parse(code).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), file_of(name), "exec"), namespace)
    if isinstance(last, ast.Expr):
        value = eval(compile(ast.Expression(last.value), file_of(name), "eval"), namespace)
        if value is not None:
            print(repr(value))
