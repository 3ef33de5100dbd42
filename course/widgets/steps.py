"""The steps of the stride explorer: operations that PyTorch is asked for, read from text.

A step is typed as it is written in code, `.transpose(0, 1)` or `[:, ::2]`. Only the operations
listed here are read, with plain numbers: nothing that is typed is ever executed as Python.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from itertools import combinations
from types import EllipsisType

import torch

from course.inspection.facts import TensorFacts

__all__ = ["MOST_ELEMENTS", "Step", "StepError", "parse_shape", "parse_steps", "suggested_steps"]

MOST_ELEMENTS = 10_000  # so that a copy, and the list of all positions, stays small

# All of them return views; contiguous() is here to show the one that may copy.
_METHODS = (
    *("contiguous", "diagonal", "expand", "movedim", "narrow", "permute", "select"),
    *("squeeze", "t", "transpose", "unfold", "unsqueeze"),
)
_KNOWN = f"[…] and .{', .'.join(_METHODS)}"

_LEADING_NAME = re.compile(r"^\w+(?=[.\[])")  # the tensor's own name may stand in front
_PLAIN = re.compile(r"[\w\s.,:()\[\]-]{1,200}\Z")
_SHAPE = re.compile(r"\s*[(\[]?\s*(-?\d{1,18}(\s*[,x×\s]\s*-?\d{1,18})*\s*,?\s*)?[)\]]?\s*\Z")

Argument = int | slice | EllipsisType | None


class StepError(ValueError):
    """A shape or step that cannot be taken: what was read, why not, what to type instead."""


@dataclass(frozen=True)
class Step:
    """One operation on a tensor: a method with its arguments, or an index (method "")."""

    code: str
    method: str
    arguments: tuple[Argument, ...]

    def of(self, tensor: torch.Tensor) -> torch.Tensor:
        """What PyTorch returns for it. Raises StepError with PyTorch's own message."""
        try:
            if not self.method:
                result = tensor[self.arguments]
            else:
                result = getattr(tensor, self.method)(*self.arguments)
        except (RuntimeError, IndexError, TypeError, ValueError) as error:
            words = str(error).splitlines()[0]
            raise StepError(f"{self.code}: PyTorch says {type(error).__name__}: {words}") from None
        if result.numel() > MOST_ELEMENTS or result.dim() > 6:
            raise StepError(
                f"{self.code} gives shape {tuple(result.shape)}; "
                f"the explorer stops at {MOST_ELEMENTS} elements and 6 dimensions."
            )
        return result


def parse_steps(text: str) -> list[Step]:
    """The steps in a piece of code, in the order they are taken.

    >>> [step.code for step in parse_steps(".t()[:, ::2]")]
    ['.t()', '[:, ::2]']
    """
    source = _LEADING_NAME.sub("", text.strip())
    if source and source[0] not in ".[":
        source = f".{source}"
    try:
        steps = _chain(ast.parse(f"x{source}", mode="eval").body) if _PLAIN.match(source) else []
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        steps = []
    if not steps:
        raise StepError(f"{text.strip()!r} is not a step. Type {_KNOWN}, with plain numbers.")
    return steps


def _chain(node: ast.expr) -> list[Step]:
    """The steps of nested calls and indices, innermost first; ValueError for anything else."""
    if isinstance(node, ast.Name):
        return []
    if isinstance(node, ast.Subscript):
        arguments = _index(node.slice)
        code = f"[{ast.unparse(node.slice).strip('()') or '()'}]"
        return [*_chain(node.value), Step(code, "", arguments)]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.keywords:
        name = node.func.attr
        if name in _METHODS:
            numbers = tuple(_number(argument) for argument in node.args)
            code = f".{name}({', '.join(map(str, numbers))})"
            return [*_chain(node.func.value), Step(code, name, numbers)]
    raise ValueError(ast.dump(node))


def _index(node: ast.expr) -> tuple[Argument, ...]:
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    return tuple(_index_part(part) for part in parts)


def _index_part(node: ast.expr) -> Argument:
    if isinstance(node, ast.Slice):
        ends = (node.lower, node.upper, node.step)
        return slice(*(None if end is None else _number(end) for end in ends))
    if isinstance(node, ast.Constant) and (node.value is None or node.value is Ellipsis):
        return node.value
    return _number(node)


def _number(node: ast.expr) -> int:
    value = ast.literal_eval(node)
    if type(value) is not int:
        raise ValueError(f"{value!r} is not a whole number")
    return value


def parse_shape(text: str) -> tuple[int, ...]:
    """The shape in a text.

    >>> parse_shape("3, 4"), parse_shape("(3, 4)"), parse_shape("2 x -1"), parse_shape("()")
    ((3, 4), (3, 4), (2, -1), ())
    """
    if not text.strip():
        raise StepError("No shape was typed. Type sizes with commas, for example 3, 4.")
    if not _SHAPE.match(text):
        raise StepError(
            f"{text.strip()!r} is not a shape. Type sizes with commas, for example 3, 4."
        )
    shape = tuple(int(word) for word in re.findall(r"-?\d+", text))
    if any(size > MOST_ELEMENTS for size in shape):
        raise StepError(f"shape {shape} is too large; the explorer stops at {MOST_ELEMENTS}.")
    return shape


def suggested_steps(seen: TensorFacts) -> list[Step]:
    """Steps worth trying on a tensor of this shape, all of which PyTorch accepts."""
    rank, shape = len(seen.shape), seen.shape
    codes = [".t()"] if rank == 2 else []
    if rank > 2:
        codes += [f".transpose({i}, {j})" for i, j in list(combinations(range(rank), 2))[:6]]
        codes += [_permutation([rank - 1, *range(rank - 1)]), _permutation([*range(1, rank), 0])]
    for axis in range(min(rank, 3)):
        colons = ":, " * axis
        if shape[axis] > 1:
            codes += [f"[{colons}1:]", f"[{colons}::2]", f"[{colons}1]"]
        if shape[axis] == 1:
            codes.append(f".expand({', '.join('3' if i == axis else '-1' for i in range(rank))})")
    codes += [".unsqueeze(0)"] if rank < 5 else []
    codes += [f".unsqueeze({rank})"] if 0 < rank < 5 else []
    return [step for code in [*codes, ".contiguous()"] for step in parse_steps(code)]


def _permutation(order: list[int]) -> str:
    return f".permute({', '.join(map(str, order))})"
