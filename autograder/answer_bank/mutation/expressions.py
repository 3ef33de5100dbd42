"""Operators on expressions of Python: comparisons, arithmetic, constants, bounds, arguments.

Each gets a node and yields what may stand in its place.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autograder.answer_bank.mutation.edits import Cell, Change, called, changed, text_of, without

_COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq, ast.Is),
    ast.NotEq: (ast.Eq, ast.IsNot),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
OPERATORS: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub,),
    ast.Sub: (ast.Add,),
    ast.Mult: (ast.Div, ast.Add),
    ast.Div: (ast.FloorDiv, ast.Mult),
    ast.FloorDiv: (ast.Div, ast.Mod),
    ast.Mod: (ast.FloorDiv,),
    ast.Pow: (ast.Mult,),
    ast.MatMult: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,),
    ast.BitOr: (ast.BitAnd,),
    ast.BitXor: (ast.BitOr,),
    ast.LShift: (ast.RShift,),
    ast.RShift: (ast.LShift,),
}
# The order of their arguments does not matter, or there is nothing to learn from another one.
_ANY_ORDER = {"max", "min", "maximum", "minimum", "equal", "allclose", "isclose", "isinstance"} | {
    *("transpose", "swapaxes", "swapdims", "hasattr", "getattr", "setattr", "print", "add", "mul")
}
_ALL_NEEDED = {"zip", "isinstance", "hasattr"}
# An argument that may be left out, though it is the only one.
_MAY_GO = {"squeeze", "sum", "mean", "argmax", "argmin", "amax", "amin", "any", "all", "pop"} | {
    *("train", "prod", "cumsum", "strip", "split", "get", "tuple", "unique", "flatten")
}


def comparison(node: ast.AST, cell: Cell) -> Iterator[Change]:
    """Another comparison, its opposite, and identity for equality."""
    if not isinstance(node, ast.Compare):
        return
    for k, operator in enumerate(node.ops):
        for other in _COMPARED.get(type(operator), ()):
            yield changed(node, ops=[*node.ops[:k], other(), *node.ops[k + 1 :]]), ""


def arithmetic(node: ast.AST, cell: Cell) -> Iterator[Change]:
    """Another operator between two operands; no sign and no negation."""
    if isinstance(node, ast.BinOp):
        for other in OPERATORS.get(type(node.op), ()):
            yield changed(node, op=other()), ""
    elif isinstance(node, ast.UnaryOp) and not isinstance(node.operand, ast.Constant):
        yield node.operand, ""


def condition(node: ast.AST, cell: Cell) -> Iterator[Change]:
    """`and` for `or` and back, a condition less, one arm of a choice alone, a filter less."""
    if isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield changed(node, op=other), ""
        for k in range(len(node.values)):
            rest = without(node.values, k)
            yield (changed(node, values=rest) if len(rest) > 1 else rest[0]), ""
    elif isinstance(node, ast.IfExp):
        yield node.body, ""
        yield node.orelse, ""
    elif isinstance(node, ast.comprehension):
        for k, one in enumerate(node.ifs):
            said = f"the filter `if {text_of(one)}` is gone"
            yield changed(node, ifs=without(node.ifs, k)), said


def constant(node: ast.AST, cell: Cell) -> Iterator[Change]:
    """A number one off, the other truth value, another text."""
    negative = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)
    inner = node.operand if isinstance(node, ast.UnaryOp) and negative else node
    if not isinstance(inner, ast.Constant):
        return
    value = inner.value
    if isinstance(value, bool):
        yield ast.Constant(not value), ""
    elif isinstance(value, int):
        for step in (1, -1):
            yield _number((-value if negative else value) + step), ""
    elif isinstance(value, float):
        yield _number((-value if negative else value) + 1), ""
    elif isinstance(value, str):
        yield ast.Constant(f"{value}?"), ""


def bound(node: ast.AST, cell: Cell) -> Iterator[Change]:
    """A slice without one of its parts or one longer, a `range` one off."""
    if isinstance(node, ast.Slice):
        for part in ("lower", "upper", "step"):
            end = getattr(node, part)
            if end is not None:
                yield changed(node, **{part: None}), ""
            if part != "step" and end is not None and not _is_constant(end):
                yield changed(node, **{part: _plus(end, 1)}), ""
    elif isinstance(node, ast.Call) and called(node) == "range" and node.args:
        k = min(len(node.args), 2) - 1
        if not _is_constant(node.args[k]):
            for step in (-1, 1):
                moved = [*node.args[:k], _plus(node.args[k], step), *node.args[k + 1 :]]
                yield changed(node, args=moved), ""


def arguments(node: ast.AST, cell: Cell) -> Iterator[Change]:
    """Two neighbours swapped, as dimensions are; an argument left to its default."""
    if not isinstance(node, ast.Call) or any(isinstance(one, ast.Starred) for one in node.args):
        return
    name = called(node)
    for k in range(len(node.args) - 1) if name not in _ANY_ORDER else ():
        first, second = node.args[k : k + 2]
        yield changed(node, args=[*node.args[:k], second, first, *node.args[k + 2 :]]), ""
    for k, keyword in enumerate(node.keywords):
        if keyword.arg not in (None, "strict"):  # whether lengths agree is not for the task
            yield changed(node, keywords=without(node.keywords, k)), ""
    alone = isinstance(node.func, ast.Attribute) and name in _MAY_GO
    if len(node.args) > (0 if alone else 1) and name not in _ALL_NEEDED:
        yield changed(node, args=node.args[:-1]), ""


def _number(value: float) -> ast.expr:
    if value < 0:
        return ast.UnaryOp(ast.USub(), ast.Constant(-value))
    return ast.Constant(value)


def _is_constant(node: ast.expr) -> bool:
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(inner, ast.Constant)


def _plus(node: ast.expr, step: int) -> ast.expr:
    return ast.BinOp(node, ast.Add() if step > 0 else ast.Sub(), ast.Constant(abs(step)))
