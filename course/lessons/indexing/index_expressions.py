"""Index expressions read from text, such as `x[1:, ::2]` or `x[x > 5]`, and what they select.

The text is walked, never executed as Python: only the forms listed here are known. What it may
do is select and reorder, so the same walk over the slots tells where each element comes from.
"""

from __future__ import annotations

import ast
import operator
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import torch

__all__ = ["METHODS", "MOST_ELEMENTS", "Expression", "ExpressionError", "parse_expression"]

MOST_ELEMENTS = 10_000
_MOST_NUMBER = 10_000
METHODS = (
    *("clone", "contiguous", "diagonal", "expand", "flatten", "flip", "index_select"),
    *("masked_select", "movedim", "narrow", "permute", "repeat", "repeat_interleave", "reshape"),
    *("roll", "select", "squeeze", "t", "tile", "transpose", "unfold", "unsqueeze", "view"),
)
_ATTRIBUTES = ("T", "mT")
_MULTIPLY = ("expand", "repeat", "repeat_interleave", "tile")  # may make a tensor much larger
_PLAIN = re.compile(r"[\w\s.,:()\[\]<>=!&|~%+*-]{1,200}\Z")
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Mod: operator.mod,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.Invert: operator.invert,
}


class ExpressionError(ValueError):
    """An expression that cannot be read or run: what was read, why not, what to type instead."""


@dataclass(frozen=True)
class Expression:
    """What one would type to select from a tensor, read and not yet run."""

    code: str
    tree: ast.expr

    def of(self, tensor: torch.Tensor) -> torch.Tensor:
        """What PyTorch returns for it. Raises ExpressionError with PyTorch's own message."""
        return self.along(tensor, tensor)

    def parts(self) -> list[Expression]:
        """What is selected from the tensor step by step, the whole expression last.

        >>> [one.code for one in parse_expression("x[1:].t()[[0]]").parts()]
        ['x[1:]', 'x[1:].t()', 'x[1:].t()[[0]]']
        """
        found, node = [self], self.tree
        while True:
            match node:
                case ast.Call(ast.Attribute(of)) | ast.Subscript(of) | ast.Attribute(of):
                    node = of
                case _:
                    return found[::-1]
            if not isinstance(node, ast.Name):
                found.append(Expression(ast.unparse(node), node))

    def along(self, values: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
        """The same elements of another tensor of that shape; masks are made of the values."""
        return self._asked(lambda: _Walk(values, other).chain(self.tree))

    @property
    def assignable(self) -> bool:
        """Whether the expression ends in brackets, so that one can write `… = -1` behind it."""
        return isinstance(self.tree, ast.Subscript)

    def written(self, tensor: torch.Tensor) -> torch.Tensor:
        """Which elements of the tensor `expression = value` would write: a mask of its shape."""
        if not isinstance(self.tree, ast.Subscript):
            raise ExpressionError(f"{self.code} does not end in brackets; it takes no assignment.")
        marks = torch.empty_strided(tensor.shape, tensor.stride(), dtype=torch.bool)
        marks.zero_()
        walk, tree = _Walk(tensor, marks), self.tree

        def write() -> torch.Tensor:
            walk.chain(tree.value)[walk.index(tree.slice)] = True
            return marks

        return self._asked(write)

    def _asked(self, function: Callable[[], torch.Tensor]) -> torch.Tensor:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # deprecations are no news to this reader
                return function()
        except ExpressionError:
            raise
        except (RuntimeError, IndexError, TypeError, ValueError) as error:
            words = (str(error).splitlines() or [""])[0].strip()
            kind = type(error).__name__
            raise ExpressionError(f"{self.code}: PyTorch says {kind}: {words}") from None


def parse_expression(text: str) -> Expression:
    """The expression in a text, over one tensor of whatever name.

    >>> x = torch.arange(12).view(3, 4)
    >>> parse_expression("x[:, 1]").of(x).tolist()
    [1, 5, 9]
    """
    source = text.strip()
    try:
        tree = ast.parse(source, mode="eval").body if _PLAIN.match(source) else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        tree = None
    if tree is None or not isinstance(tree, ast.Subscript | ast.Call | ast.Attribute):
        raise ExpressionError(
            f"{source!r} is not read here. Type an index such as x[1:, ::2], x[[0, 2]] or "
            f"x[x > 5], or one of the methods {', '.join(METHODS)}."
        )
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    if len(names) != 1:
        listed = ", ".join(sorted(names)) or "none"
        raise ExpressionError(f"{source!r} must speak of one tensor; it names {listed}.")
    return Expression(source, tree)


class _Walk:
    """One walk through an expression: masks from the values, elements of the subject."""

    def __init__(self, values: torch.Tensor, subject: torch.Tensor) -> None:
        self.values, self.subject = values, subject

    def chain(self, node: ast.expr) -> torch.Tensor:
        """The tensor after a chain of indices and methods."""
        match node:
            case ast.Name():
                return self.subject
            case ast.Subscript(of, index):
                found = self.chain(of)[self.index(index)]
            case ast.Attribute(of, name) if name in _ATTRIBUTES:
                found = getattr(self.chain(of), name)
            case ast.Call(ast.Attribute(of, name), arguments, []) if name in METHODS:
                found = self.method(self.chain(of), name, arguments)
            case _:
                raise _unread(node)
        return _small(found, node)

    def method(self, of: torch.Tensor, name: str, arguments: list[ast.expr]) -> torch.Tensor:
        given = [self.index(argument) for argument in arguments]
        if name in _MULTIPLY:
            lists = [one if isinstance(one, tuple | list) else [one] for one in given]
            numbers = [abs(n) for one in lists for n in one if type(n) is int]
            if of.numel() * prod(max(1, n) for n in numbers) > MOST_ELEMENTS**2 // 100:
                raise ExpressionError(f".{name}(…) would make too many elements.")
        if name == "index_select":
            given = [torch.tensor(one) if isinstance(one, list) else one for one in given]
        return getattr(of, name)(*given)

    def index(self, node: ast.expr) -> Any:
        """What stands in brackets, or one argument of a method."""
        match node:
            case ast.Tuple(parts):
                return tuple(self.index(part) for part in parts)
            case ast.List(parts):
                return [_number(part) for part in parts]
            case ast.Slice(lower, upper, step):
                return slice(
                    *(None if end is None else _number(end) for end in (lower, upper, step))
                )
            case ast.Constant(value) if value is None or value is Ellipsis:
                return value
            case ast.Constant() | ast.UnaryOp(ast.USub(), ast.Constant()):
                return _number(node)
            case _:
                return self.mask(node)

    def mask(self, node: ast.expr) -> Any:
        """A tensor made of the values: a comparison, or several of them combined."""
        match node:
            case ast.Compare(left, [sign], [right]) if type(sign) in _COMPARE:
                return _COMPARE[type(sign)](self.mask(left), self.mask(right))
            case ast.BinOp(left, sign, right) if type(sign) in _BINARY:
                return _BINARY[type(sign)](self.mask(left), self.mask(right))
            case ast.UnaryOp(sign, of) if type(sign) in _UNARY:
                return _UNARY[type(sign)](self.mask(of))
            case ast.Constant():
                return _number(node)
            case _:
                return _Walk(self.values, self.values).chain(node)


def _number(node: ast.expr) -> int:
    try:
        value = ast.literal_eval(node)
    except ValueError:
        value = None
    if not isinstance(value, int) or abs(value) > _MOST_NUMBER:
        raise ExpressionError(
            f"{ast.unparse(node)!r} is not a whole number up to {_MOST_NUMBER}, True or False."
        )
    return value


def _small(tensor: torch.Tensor, node: ast.expr) -> torch.Tensor:
    if tensor.numel() > MOST_ELEMENTS or tensor.dim() > 6:
        raise ExpressionError(
            f"{ast.unparse(node)} has shape {tuple(tensor.shape)}; "
            f"{MOST_ELEMENTS} elements and 6 dimensions are the limit here."
        )
    return tensor


def _unread(node: ast.expr) -> ExpressionError:
    return ExpressionError(
        f"{ast.unparse(node)!r} is not read here. Use brackets with whole numbers, slices, None, "
        f"..., lists and comparisons, or the methods {', '.join(METHODS)}."
    )
