"""What the operators share: a changed copy of a node, its text, and what is known of the cell."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

Node = TypeVar("Node", bound=ast.AST)
Function = ast.FunctionDef | ast.AsyncFunctionDef
Change = tuple[ast.AST, str]  # what stands there instead, and what to say of it; "" for both texts
BlockChange = tuple[list[ast.stmt], ast.stmt, str]  # the statements, the one changed, what to say

_MAKE_NUMBERS = {"len", "int", "float", "sum", "round", "ceil", "floor", "prod"} | {
    *("item", "numel", "dim", "size", "stride", "storage_offset", "element_size", "nbytes")
}


def changed(node: Node, **fields: Any) -> Node:
    """A copy of the node with other fields; all else is shared with it."""
    made = copy.copy(node)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def without(items: list[Any], index: int) -> list[Any]:
    """The items but for one."""
    return [*items[:index], *items[index + 1 :]]


def called(node: ast.expr) -> str:
    """The last part of the name that is called; empty where nothing is."""
    if not isinstance(node, ast.Call):
        return ""
    function = node.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def text_of(node: ast.AST) -> str:
    """The first line of the node's text, shortened; lines below it are told by dots."""
    first, _, more = ast.unparse(ast.fix_missing_locations(node)).strip().partition("\n")
    text = f"{first} …" if more else first
    return text if len(text) <= 70 else f"{text[:69]}…"


@dataclass(frozen=True)
class Cell:
    """What the operators have to know of a cell beside the node that they change.

    `bound` counts how often a name is given a value; `numbers` are names that hold plain numbers
    for all one can see, where in place and out of place are the same.
    """

    bound: Counter[str]
    numbers: frozenset[str]

    @classmethod
    def of(cls, tree: ast.Module) -> Cell:
        """What is known of the cell with this tree."""
        bound = Counter(_bound(tree))
        return cls(bound, frozenset(_numbers(tree)))


def _bound(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg


def _numbers(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                yield from _numbers_in(target, node.value)


def _numbers_in(target: ast.expr, value: ast.expr) -> Iterator[str]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for one, its_value in zip(target.elts, value.elts, strict=False):
            yield from _numbers_in(one, its_value)
    elif isinstance(target, ast.Name) and _is_number(value):
        yield target.id


def _is_number(value: ast.expr) -> bool:
    if isinstance(value, ast.Constant):
        return isinstance(value.value, int | float)
    if isinstance(value, ast.BinOp):
        return _is_number(value.left) or _is_number(value.right)
    return called(value) in _MAKE_NUMBERS
