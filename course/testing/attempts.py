"""What you have reached so far in this notebook: the best result of each exercise.

`Check.score` notes every run of a test cell here. Outside of a notebook nothing is noted.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from course.testing.results import TestResult

__all__ = ["Best", "best_results", "better", "note", "take_over"]


@dataclass(frozen=True)
class Best:
    """The best result of one exercise, after how many runs, and the cells that reached it.

    `attempts` counts the runs of the test cell in which there was something to check.
    """

    score: float
    max: float
    attempts: int
    answer: str = ""

    @property
    def share(self) -> float:
        """The points as a share of the maximum, 0 to 1."""
        return self.score / self.max if self.max else 0.0


@dataclass
class _Notes:
    """The best results since the kernel started, by exercise."""

    best: dict[str, Best] = field(default_factory=dict)


_notes = _Notes()


def best_results() -> Mapping[str, Best]:
    """The best result of each exercise that was attempted, by its name."""
    return dict(_notes.best)


def better(mine: Best | None, other: Best) -> Best:
    """The better of two results of one exercise; mine where they are equal.

    The number of attempts is the larger one, so that loading a file twice changes nothing.
    """
    if mine is None:
        return other
    chosen = other if other.share > mine.share else mine
    attempts = max(mine.attempts, other.attempts)
    return Best(chosen.score, chosen.max, attempts, chosen.answer)


def note(result: TestResult) -> None:
    """Note a run of a test cell, if this is a notebook and there was something to check."""
    cells = _history()
    if cells is None or result.status == "not attempted":
        return
    before = _notes.best.get(result.exercise)
    now = Best(result.score, result.max, 1, _answer_in(cells))
    if before is not None:
        latest = now if now.share >= before.share else before
        now = Best(latest.score, latest.max, before.attempts + 1, latest.answer)
    _notes.best[result.exercise] = now


def take_over(results: Mapping[str, Best]) -> list[str]:
    """Add results from elsewhere; the names of the exercises in which they are better."""
    gained = []
    for name, other in results.items():
        before = _notes.best.get(name)
        _notes.best[name] = better(before, other)
        if before is None or other.share > before.share:
            gained.append(name)
    return gained


def _history() -> list[str] | None:
    """The cells that this notebook has run, the present one last; None outside of a notebook.

    A grader runs the notebook once and keeps no progress.
    """
    if "NBGRADER_EXECUTION" in os.environ:  # set by nbgrader, and by our engine, while they grade
        return None
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    cells = getattr(shell, "user_ns", {}).get("In")
    return cells if isinstance(cells, list) and cells else None


def _answer_in(cells: list[str]) -> str:
    """The cells that last defined what the present one asks for with `answer("name")`."""
    wanted = set(_asked_for(cells[-1]))
    found: list[str] = []
    for cell in reversed(cells[:-1]):
        if not wanted:
            break
        defined = wanted & set(_defined_in(cell))
        if defined:
            wanted -= defined
            found.append(cell.strip())
    return "\n\n\n".join(reversed(found))


def _asked_for(cell: str) -> Iterable[str]:
    for node in ast.walk(_parsed(cell)):
        match node:
            case ast.Call(ast.Name("answer"), [ast.Constant(str(name))]):
                yield name


def _defined_in(cell: str) -> Iterable[str]:
    for statement in _parsed(cell).body:
        match statement:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Assign(targets=targets):
                yield from (one.id for one in targets if isinstance(one, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name


def _parsed(cell: Any) -> ast.Module:
    try:
        return ast.parse(cell)
    except (SyntaxError, ValueError, TypeError):
        return ast.Module([], [])
