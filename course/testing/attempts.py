"""What you have reached so far in this notebook: the best result of each exercise.

`Check.score` notes every run of a test cell here. Outside of a notebook nothing is noted. A table
also learns from here which version of an answer it judged, and when another one has been run.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from course.notebook import answers_asked_for, parsed_cell, running_shell
from course.testing.results import TestResult

__all__ = ["Best", "best_results", "better", "note", "take_over", "unread_answers", "watch"]


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


def unread_answers() -> list[str]:
    """What to tell of answers whose newest cell Python could not read, one sentence each."""
    cells = _history() or [""]
    notes = []
    for name in answers_asked_for(cells[-1]):
        defining = re.compile(rf"^\s*(?:async\s+)?(?:def|class)\s+{name}\b|^{name}\s*=", re.M)
        newest = next((one for one in reversed(cells[:-1]) if defining.search(one)), "")
        if newest and _is_unreadable(newest):
            older = any(name in _defined_in(one) for one in cells[:-1])
            kept = "so the older one is judged here" if older else "so there is none to judge"
            notes.append(
                f"Python could not read your newest cell with `{name}` (SyntaxError), {kept}. "
                "Mend that cell and run it, then run this one again."
            )
    return notes


@dataclass
class _Watched:
    """A table on the page: the cells that it judged, by name, and those that hold now."""

    judged: dict[str, str]
    now: dict[str, str]
    tell: Callable[[bool], None]


_watched: dict[str, _Watched] = {}


def watch(exercise: str, tell: Callable[[bool], None]) -> bool:
    """Call `tell` whenever the answers that were just judged change, or are again what they were.

    Returns whether this is a notebook in which that can happen. The exercise's earlier table is
    watched no longer.
    """
    cells, shell = _history(), running_shell()
    events = getattr(shell, "events", None)
    if cells is None or events is None:
        return False
    judged = _cells_of_answers(cells)
    if not _watched:
        events.register("post_run_cell", _look_again)
    _watched[exercise] = _Watched(judged, dict(judged), tell)
    return True


def _look_again(result: Any = None) -> None:
    """Tell the tables whose answers the cell that has just run defines otherwise."""
    cells = _history()
    if not cells:
        return
    defined = set(_defined_in(cells[-1]))
    for table in _watched.values():
        was_other = table.now != table.judged
        table.now.update({name: cells[-1].strip() for name in defined & table.judged.keys()})
        is_other = table.now != table.judged
        if was_other != is_other:
            table.tell(is_other)


def _history() -> list[str] | None:
    """The cells that this notebook has run, the present one last; None outside of a notebook.

    A grader runs the notebook once and keeps no progress.
    """
    if "NBGRADER_EXECUTION" in os.environ:  # set by nbgrader, and by our engine, while they grade
        return None
    cells = getattr(running_shell(), "user_ns", {}).get("In")
    return cells if isinstance(cells, list) and cells else None


def _answer_in(cells: list[str]) -> str:
    """The cells that last defined what the present one asks for with `answer("name")`."""
    found = dict.fromkeys(reversed(_cells_of_answers(cells).values()))
    return "\n\n\n".join(filter(None, found))


def _cells_of_answers(cells: list[str]) -> dict[str, str]:
    """Each name that the present cell asks for, with the cell that last defined it; newest first.

    A name that no cell defines has an empty one.
    """
    wanted = set(answers_asked_for(cells[-1]))
    found: dict[str, str] = {}
    for cell in reversed(cells[:-1]):
        if len(found) == len(wanted):
            break
        defined = (wanted - found.keys()) & set(_defined_in(cell))
        found |= {name: cell.strip() for name in sorted(defined)}
    return found | dict.fromkeys(sorted(wanted - found.keys()), "")


def _defined_in(cell: str) -> Iterable[str]:
    """The names that a cell gives to something; a test cell answers nothing."""
    for statement in () if answers_asked_for(cell) else parsed_cell(cell).body:
        match statement:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Assign(targets=targets):
                yield from (one.id for one in targets if isinstance(one, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name


def _is_unreadable(cell: str) -> bool:
    try:
        ast.parse(cell)
    except SyntaxError:
        return True
    return False
