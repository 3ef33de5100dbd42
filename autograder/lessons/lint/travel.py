"""What of a test cell stands on its own, and what it takes from elsewhere.

A test cell runs in a process that has run the set-up cell and nothing else.  A probe goes further:
only its own text travels to where the answer lives, and finds there the names of the set-up cell.
The visible part goes to learners without the hidden one.  In a notebook all of it happens to be
in one namespace, so that what does not travel would only be seen by the grader.
"""

from __future__ import annotations

import ast
import builtins
import symtable
from collections.abc import Iterator

_ALWAYS = frozenset(dir(builtins)) | {"__name__", "__file__", "get_ipython", "display"}


def outside_names(source: str) -> set[str]:
    r"""The names that a piece of code uses and does not define; raises `SyntaxError`.

    Built-in names are left out.  After `from x import *` nothing can be known, so it is empty.

    >>> sorted(outside_names("def f(x):\n    y = x\n    return y + z\nf(w)"))
    ['w', 'z']
    """
    table = symtable.symtable(source, "cell", "exec")
    if any(map(_takes_all, ast.walk(ast.parse(source)))):
        return set()
    return _used(table) - _made(table) - _ALWAYS


def defined_names(source: str) -> set[str]:
    r"""The names that a cell defines; none of a cell that is no Python.

    >>> sorted(defined_names("import a.b\nx: int = 1\ndef f(y):\n    z = y"))
    ['a', 'f', 'x']
    """
    try:
        return _made(symtable.symtable(source, "cell", "exec"))
    except (SyntaxError, ValueError):
        return set()


def probes(source: str) -> Iterator[tuple[str, set[str]]]:
    """Each probe of a test cell, by name, with the names that its text takes from outside."""
    for node in probe_functions(source):
        node.decorator_list = []  # it stays behind
        yield node.name, outside_names(ast.unparse(node))


def probe_functions(source: str) -> Iterator[ast.FunctionDef]:
    """Each probe of a test cell, as its function stands there."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and any(map(_is_probe, node.decorator_list)):
            yield node


def _is_probe(decorator: ast.expr) -> bool:
    if isinstance(decorator, ast.Call):
        decorator = decorator.func
    match decorator:
        case ast.Name("probe") | ast.Attribute(attr="probe"):
            return True
    return False


def _takes_all(node: ast.AST) -> bool:
    return isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names)


def _used(table: symtable.SymbolTable) -> set[str]:
    top = table.get_type() == "module"
    found = {
        symbol.get_name()
        for symbol in table.get_symbols()
        if symbol.is_referenced() and (top or symbol.is_global())
    }
    return found.union(*map(_used, table.get_children()))


def _made(table: symtable.SymbolTable) -> set[str]:
    """The names of a module that it assigns, imports, or declares global in a function."""
    top = table.get_type() == "module"
    found = {
        symbol.get_name()
        for symbol in table.get_symbols()
        if (symbol.is_assigned() or symbol.is_imported()) and (top or symbol.is_declared_global())
    }
    return found.union(*map(_made, table.get_children()))
