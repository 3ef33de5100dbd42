"""What the audit hook has noticed, in words of the grader's own.

It comes from the process that runs the learner's code. Whoever gets at what notices there may have
it say something else, such as what a hidden test gave: no other words are told, and no other cells
than those that ran.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from autograder.engine.student.audit_rules import FRAMES, GUARDED, PARTS, REACHING, WATCHED

__all__ = ["SAID", "told_of"]

SAID = frozenset(
    [
        "loaded compiled code that is no library's",
        "opened a file by an object that may name another one each time",
        "opened the memory of a process",
        "raised an audit event of its own",
        "ran code under the name of a library's file",
        "replaced code that measures",
        *(f"imported {package}" for package in REACHING),
        *(f"read {name}" for name in FRAMES),
        *(f"read {name} of a function that measures" for name in PARTS),
        *(f"changed {name} of a function that is not its own" for name in PARTS),
        *(f"used {event.partition('/')[0]}" for event in WATCHED),
        *(f"used {module}.{name}" for module, name in GUARDED),
    ]
)
"""All that is ever said of a cell; see `engine.student.audit`."""
_MOST = 3  # cells that are told, and things that each did


def told_of(notices: Iterable[Sequence[str]], names: Container[str]) -> str:
    """What was noticed, a cell after the other: "Cell 3 used a, read b".

    In the order of the alphabet, and no more than three things of a cell: the order in which a call
    does things, and which of them, could tell what it was given. Nor in words of its own: whoever
    gets at what notices could say them.

    Args:
        notices: Pairs of a cell and what it did.
        names: Of the cells that ran.
    """
    cells: dict[str, set[str]] = {}
    for where, what in notices:
        said = what if what in SAID else "did what is watched for"
        cells.setdefault(where if where in names else "A cell", set()).add(said)
    told = [f"{where} {_listed(sorted(said))}" for where, said in cells.items()]
    left = len(told) - _MOST
    return "; ".join(told[:_MOST]) + (f"; and {left} more" if left > 0 else "")


def _listed(said: list[str]) -> str:
    return ", ".join(said[:_MOST] + ["and more"] * (len(said) > _MOST))
