"""The notebook that runs this code: its shell, its names, and what its test cells ask for."""

from __future__ import annotations

import ast
import symtable
import sys
from collections.abc import MutableMapping
from functools import lru_cache
from typing import Any

__all__ = [
    "answers_asked_for",
    "keep_names_through_tests",
    "notebook_names",
    "parsed_cell",
    "read_ahead",
    "running_shell",
]


_MOST_READ = 256  # cells whose names are remembered


def running_shell() -> Any:
    """IPython's shell of this process, None outside of one; IPython is not imported for it."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None


def notebook_names() -> MutableMapping[str, Any]:
    """The names of the running notebook, or of `__main__` outside of one."""
    shell = running_shell()
    return vars(sys.modules["__main__"]) if shell is None else shell.user_ns


def parsed_cell(cell: Any) -> ast.Module:
    """The syntax tree of a cell; an empty one of what Python cannot read."""
    try:
        return ast.parse(cell)
    except (SyntaxError, ValueError, TypeError):
        return ast.Module([], [])


def answers_asked_for(cell: Any) -> tuple[str, ...]:
    """The names that a cell asks for with `answer("name")`."""
    return _asked_for(cell) if type(cell) is str else ()  # `In` may have been filled by hand


@lru_cache(_MOST_READ)
def _asked_for(cell: str) -> tuple[str, ...]:
    found = []
    for node in ast.walk(parsed_cell(cell)):
        match node:
            case ast.Call(ast.Name("answer"), [ast.Constant(str(name))]):
                found.append(name)
    return tuple(found)


def read_ahead(cell: str) -> None:
    """Read a test cell now, for the forks of this process that run the same text."""
    answers_asked_for(cell)
    _bound_by_test(cell)


def keep_names_through_tests() -> None:
    """After each test cell, give the notebook back the names that the cell used for itself.

    A test cell runs among the lesson's own names: its `loss` would be the `loss` of the next cell
    that draws one. A cell that ends in `check.score(…)` therefore leaves every name that it binds
    as it was, but for an answer that is written in the same cell. Other cells, and what runs
    outside of a notebook, are left alone.
    """
    events = getattr(running_shell(), "events", None)
    if events is not None:
        kept = _KeptNames()
        events.register("pre_run_cell", kept.keep)
        events.register("post_run_cell", kept.put_back)


class _KeptNames:
    """What the names that a test cell binds stood for before it."""

    def __init__(self) -> None:
        self._names: frozenset[str] = frozenset()
        self._before: dict[str, Any] = {}

    def keep(self, info: Any = None) -> None:
        names = notebook_names()
        self._names = _bound_by_test(getattr(info, "raw_cell", None) or "")
        self._before = {name: names[name] for name in self._names if name in names}

    def put_back(self, result: Any = None) -> None:
        names = notebook_names()
        for name in self._names - self._before.keys():
            names.pop(name, None)
        names.update(self._before)
        self._names, self._before = frozenset(), {}


@lru_cache(_MOST_READ)
def _bound_by_test(cell: str) -> frozenset[str]:
    """The names that a test cell binds at its top level, but for answers that stand in it.

    None of any other cell: a test cell ends in `check.score(…)`.
    """
    body = parsed_cell(cell).body if ".score(" in cell else []
    match body[-1:]:
        case [ast.Expr(ast.Call(ast.Attribute(attr="score")))]:
            names = symtable.symtable(cell, "<test cell>", "exec").get_symbols()
            bound = {one.get_name() for one in names if one.is_assigned() or one.is_imported()}
            written = {one.name for one in body if isinstance(one, ast.FunctionDef | ast.ClassDef)}
            return frozenset(bound - (written & set(answers_asked_for(cell))))
    return frozenset()
