"""The notebook that runs this code, and the names that it has defined."""

from __future__ import annotations

import ast
import symtable
import sys
from collections.abc import MutableMapping
from typing import Any

__all__ = ["keep_names_through_tests", "notebook_names"]


def notebook_names() -> MutableMapping[str, Any]:
    """The names of the running notebook, or of `__main__` outside of one."""
    shell = _shell()
    return vars(sys.modules["__main__"]) if shell is None else shell.user_ns


def keep_names_through_tests() -> None:
    """After each test cell, give the notebook back the names that the cell used for itself.

    A test cell runs among the lesson's own names: its `loss` would be the `loss` of the next cell
    that draws one. A cell that ends in `check.score(…)` therefore leaves every name that it binds
    as it was, but for an answer that is written in the same cell. Other cells, and what runs
    outside of a notebook, are left alone.
    """
    events = getattr(_shell(), "events", None)
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


def _bound_by_test(cell: str) -> frozenset[str]:
    """The names that a test cell binds at its top level; none of any other cell."""
    if ".score(" not in cell:
        return frozenset()
    try:
        body, table = ast.parse(cell).body, symtable.symtable(cell, "<test cell>", "exec")
    except (SyntaxError, ValueError):
        return frozenset()
    match body[-1:]:
        case [ast.Expr(ast.Call(ast.Attribute(attr="score")))]:
            bound = (one for one in table.get_symbols() if one.is_assigned() or one.is_imported())
            return frozenset(one.get_name() for one in bound) - _answers_in(body)
    return frozenset()


def _answers_in(body: list[ast.stmt]) -> set[str]:
    """The functions and classes of a cell that it asks for itself, with `answer("name")`."""
    defined = {one.name for one in body if isinstance(one, ast.FunctionDef | ast.ClassDef)}
    asked = set()
    for node in (node for one in body for node in ast.walk(one)):
        match node:
            case ast.Call(ast.Name("answer"), [ast.Constant(str(name)), *_]):
                asked.add(name)
    return defined & asked


def _shell() -> Any:
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None
