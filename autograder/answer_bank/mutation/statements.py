"""Operators on statements: one gone, two swapped, a block without its head, a loop cut short."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autograder.answer_bank.mutation.edits import (
    BlockChange,
    Cell,
    Change,
    Function,
    called,
    changed,
    text_of,
    without,
)
from autograder.answer_bank.mutation.expressions import OPERATORS, constant

_LEAVE = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_KEPT = (*_LEAVE, ast.Pass, ast.Import, ast.ImportFrom, ast.Global, ast.Nonlocal, ast.ClassDef)
_COLLECT = {"append", "add", "extend", "update", "appendleft", "insert"}


# Operators on one statement.


def augmented(node: ast.AST, cell: Cell) -> Iterator[Change]:
    """`a -= b`, `a = b` and `a = a + b` for `a += b`; `a += b` for `a = a + b`."""
    if isinstance(node, ast.AugAssign):
        for other in OPERATORS.get(type(node.op), ()):
            yield changed(node, op=other()), ""
        yield ast.Assign([node.target], node.value), ""
        whole = isinstance(node.op, ast.FloorDiv | ast.Mod)  # of numbers, as a rule
        if not whole and not _holds_number(node.target, cell):
            loaded = changed(node.target, ctx=ast.Load())
            yield ast.Assign([node.target], ast.BinOp(loaded, node.op, node.value)), ""
    elif isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp):
        target, value = node.targets[0], node.value
        same = ast.unparse(value.left) == ast.unparse(target)
        if not isinstance(target, ast.Name | ast.Attribute | ast.Subscript):
            return
        if same and not _holds_number(target, cell):
            yield ast.AugAssign(target, value.op, value.right), ""


def leaving(node: ast.AST, cell: Cell) -> Iterator[Change]:
    """The other way out of a loop, a pair returned the other way round, a wider exception."""
    if isinstance(node, ast.Break):
        yield ast.Continue(), ""
    elif isinstance(node, ast.Continue):
        yield ast.Break(), ""
    elif isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
        first, *rest = node.value.elts
        if rest:
            yield changed(node, value=changed(node.value, elts=[*rest, first])), ""
    elif isinstance(node, ast.Return) and _is_none(node.value):
        yield changed(node, value=ast.Constant(False)), ""
    elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
        yield changed(node, exc=changed(node.exc, func=_EXCEPTION)), ""
    elif isinstance(node, ast.ExceptHandler) and node.type is not None:
        said = f"`except {text_of(node.type)}` became `except Exception`"
        yield changed(node, type=_EXCEPTION), said


def signature(node: ast.AST, cell: Cell) -> Iterator[Change]:
    """A function without one of its decorators, or with another default."""
    if not isinstance(node, Function):
        return
    for k, one in enumerate(node.decorator_list):
        said = f"`@{text_of(one)}` above `{node.name}` is gone"
        yield changed(node, decorator_list=without(node.decorator_list, k)), said
    for k, default in enumerate(node.args.defaults):
        name = [*node.args.posonlyargs, *node.args.args][k - len(node.args.defaults)].arg
        for other, _ in constant(default, cell):
            defaults = [*node.args.defaults[:k], other, *node.args.defaults[k + 1 :]]
            said = f"the default of `{name}` became `{text_of(other)}`"
            yield changed(node, args=changed(node.args, defaults=defaults)), said
    if node.args.defaults:
        fewer = changed(node.args, defaults=node.args.defaults[1:])
        name = [*node.args.posonlyargs, *node.args.args][-len(node.args.defaults)].arg
        yield changed(node, args=fewer), f"`{name}` has no default"


# Operators on the statements of a block.


def gone(block: list[ast.stmt], cell: Cell) -> Iterator[BlockChange]:
    """The block without one statement, where that is no mere missing name."""
    for k, one in enumerate(block):
        if not isinstance(one, (*_KEPT, *_FUNCTIONS)) and not _only_names(one, cell):
            yield without(block, k), one, f"`{text_of(one)}` is gone"


def swapped(block: list[ast.stmt], cell: Cell) -> Iterator[BlockChange]:
    """The block with two neighbours swapped: a call and what does not need what it makes."""
    for k in range(len(block) - 1):
        first, second = block[k : k + 2]
        if _may_swap(first, second):
            said = f"`{text_of(first)}` and `{text_of(second)}` are swapped"
            yield [*block[:k], second, first, *block[k + 2 :]], first, said


def unwrapped(block: list[ast.stmt], cell: Cell) -> Iterator[BlockChange]:
    """The body of a `with`, `if` or `try` without its head."""
    for k, one in enumerate(block):
        if isinstance(one, ast.With):
            for n, item in enumerate(one.items):
                rest = without(one.items, n)
                body = [changed(one, items=rest)] if rest else one.body
                said = f"`with {text_of(item)}:` is gone, its body stays"
                yield [*block[:k], *body, *block[k + 1 :]], one, said
        elif isinstance(one, ast.If) and not isinstance(one.body[-1], _LEAVE):
            said = f"`if {text_of(one.test)}:` is gone, its body stays"
            yield [*block[:k], *one.body, *block[k + 1 :]], one, said
        elif isinstance(one, ast.Try):
            said = "`try:` is gone, its body stays" + (", and `finally`" if one.finalbody else "")
            body = [*one.body, *one.orelse, *one.finalbody]
            yield [*block[:k], *body, *block[k + 1 :]], one, said


def cut_short(block: list[ast.stmt], cell: Cell) -> Iterator[BlockChange]:
    """A loop that ends after its first round."""
    for k, one in enumerate(block):
        if isinstance(one, ast.For | ast.While) and not isinstance(one.body[-1], _LEAVE):
            loop = changed(one, body=[*one.body, ast.Break()])
            said = f"`{text_of(one).removesuffix(' …')}` ends after its first round"
            yield [*block[:k], loop, *block[k + 1 :]], one, said


_EXCEPTION = ast.Name("Exception", ast.Load())
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _is_none(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _holds_number(target: ast.expr, cell: Cell) -> bool:
    """Whether in place and out of place are the same: numbers, and items, which are set anyway."""
    if isinstance(target, ast.Subscript):
        return True
    return isinstance(target, ast.Name) and target.id in cell.numbers


def _only_names(one: ast.stmt, cell: Cell) -> bool:
    """Whether the statement does nothing but give names a value that they get nowhere else."""
    if not isinstance(one, ast.Assign):
        return False
    targets = [inner for target in one.targets for inner in ast.walk(target)]
    names = [t.id for t in targets if isinstance(t, ast.Name) and isinstance(t.ctx, ast.Store)]
    writes = any(isinstance(t, ast.Attribute | ast.Subscript) for t in targets)
    return not writes and all(cell.bound[name] == 1 for name in names)


def _may_swap(first: ast.stmt, second: ast.stmt) -> bool:
    calls = [isinstance(s, ast.Expr) and isinstance(s.value, ast.Call) for s in (first, second)]
    simple = (ast.Expr, ast.Assign, ast.AugAssign)
    if not any(calls) or not isinstance(first, simple) or not isinstance(second, simple):
        return False
    if _names(first, ast.Store) & _names(second, ast.Load):
        return False
    return not (_collects(first) and _collects(second))


def _names(statement: ast.stmt, context: type[ast.expr_context]) -> set[str]:
    nodes = ast.walk(statement)
    return {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, context)}


def _collects(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and called(statement.value) in _COLLECT
