"""Cases that a test cell leaves out by their position: every second one, every third pair."""

from __future__ import annotations

import ast
from collections.abc import Iterator

__all__ = ["thinned"]

_MAKES_CASES = {"Case", "tensors", "with_"}


def thinned(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Give the line and the text of each thinning of a test cell's cases.

    Seen are a slice with a step of what holds cases, and cases that are made or taken only where a
    remainder says so. A choice between two cases by a remainder makes one each time, and is fine.
    """
    holds = _names_of_cases(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(value, ast.Slice(step=step)) if _skips(step):
                if _is_of_cases(value, holds):
                    yield node.lineno, ast.unparse(node)
            case ast.ListComp(_, generators) | ast.GeneratorExp(_, generators):
                tests = [test for one in generators for test in one.ifs if _by_remainder(test)]
                if tests and _is_of_cases(node, holds):
                    yield node.lineno, f"if {ast.unparse(tests[0])}"
            case ast.If(test, body, []) if _by_remainder(test):
                if _adds_cases(body, holds):
                    yield node.lineno, f"if {ast.unparse(test)}"


def _skips(step: ast.expr | None) -> bool:
    return isinstance(step, ast.Constant) and step.value not in (None, 1)


def _by_remainder(test: ast.expr) -> bool:
    return any(isinstance(node, ast.Mod) for node in ast.walk(test))


def _names_of_cases(tree: ast.AST) -> set[str]:
    """The variables that hold cases: what is made of them, and what `agrees` is given."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Assign([ast.Name(name)], value) | ast.AugAssign(ast.Name(name), _, value):
                found |= {name} if _makes_cases(value) else set()
            case ast.Call(ast.Attribute(attr="agrees"), [_, cases, *_]):
                found |= {one.id for one in ast.walk(cases) if isinstance(one, ast.Name)}
            case ast.Call(ast.Attribute(ast.Name(name), "append" | "extend"), [value]):
                found |= {name} if _makes_cases(value) else set()
    return found


def _makes_cases(value: ast.AST) -> bool:
    names = (
        node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        for node in ast.walk(value)
        if isinstance(node, ast.Call)
    )
    return not _MAKES_CASES.isdisjoint(names)


def _is_of_cases(value: ast.AST, holds: set[str]) -> bool:
    """Whether a list is one of cases: a variable that holds some, or made of them here."""
    match value:
        case ast.Name(name):
            return name in holds
        case ast.ListComp(element, generators) | ast.GeneratorExp(element, generators):
            iterated = any(_is_of_cases(one.iter, holds) for one in generators)
            return iterated or _makes_cases(element)
    return _makes_cases(value)


def _adds_cases(body: list[ast.stmt], holds: set[str]) -> bool:
    """Whether a block adds to cases, and does nothing else but give a name to a part of one."""
    added = 0
    for statement in body:
        match statement:
            case ast.AugAssign(ast.Name(name)) if name in holds:
                added += 1
            case ast.Expr(ast.Call(ast.Attribute(ast.Name(name), "append" | "extend"))) if (
                name in holds
            ):
                added += 1
            case ast.Assign([ast.Name()]):
                pass
            case _:
                return False
    return added > 0
