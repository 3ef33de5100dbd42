"""Small programs about tensors, read from text and run step by step.

A program is what one would type into a cell: assignments, in-place steps, blocks under
`torch.no_grad()`, and an expression as its last line. It is walked, never executed as Python: only
the forms listed here are known, so a slip of the pen cannot open a file or fill the memory.
"""

from __future__ import annotations

import ast
import operator
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F

__all__ = ["Program", "ProgramError", "run_program"]

MOST_ELEMENTS = 10_000
_MOST_CHARACTERS = 1_000
_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.MatMult: operator.matmul,
}
_IN_PLACE: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.iadd,
    ast.Sub: operator.isub,
    ast.Mult: operator.imul,
    ast.Div: operator.itruediv,
    ast.Pow: operator.ipow,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
}
_MAKERS = (
    *("arange", "cat", "eye", "einsum", "full", "linspace", "ones", "ones_like", "stack"),
    *("tensor", "where", "zeros", "zeros_like"),
)
_MODES = {
    "no_grad": torch.no_grad,
    "enable_grad": torch.enable_grad,
    "inference_mode": torch.inference_mode,
}
# These leave the world of small tensors: memory shared or resized, Python run for each element.
_REFUSED = frozenset(
    {"apply_", "map_", "map2_", "resize_", "resize_as_", "set_", "share_memory_", "storage"}
    | {"untyped_storage", "module_load", "register_hook", "register_post_accumulate_grad_hook"}
)


class ProgramError(ValueError):
    """A program that cannot be run: the line, what is wrong with it, what to type instead."""


@dataclass
class Program:
    """A program that has run: its last value, and every tensor that it named or used."""

    result: torch.Tensor
    names: dict[str, Any] = field(default_factory=dict)


def run_program(text: str, given: Mapping[str, object]) -> Program:
    """Run a program over copies of the given tensors, which stay as they are.

    >>> w = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> run_program("h = w * 3; h.sum()", {"w": w}).result
    tensor(9., grad_fn=<SumBackward0>)

    Raises ProgramError, whose text is meant for the reader, for whatever does not work.
    """
    if len(text) > _MOST_CHARACTERS:
        raise ProgramError(
            f"The program has {len(text)} characters; at most {_MOST_CHARACTERS} are read."
        )
    try:
        steps = ast.parse(text.strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 1
        raise ProgramError(f"Line {line} is not Python: {getattr(error, 'msg', error)}.") from None
    return _Run(given).all(steps)


class _Run:
    """One walk through a program."""

    def __init__(self, given: Mapping[str, object]) -> None:
        self.given = given
        self.names: dict[str, Any] = {}
        self.last: Any = None
        self.line = 1

    def all(self, steps: list[ast.stmt]) -> Program:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # deprecations are no news to this reader
                self.block(steps)
        except ProgramError:
            raise
        except RecursionError:
            raise ProgramError(f"Line {self.line} is nested too deeply.") from None
        except Exception as error:  # whatever torch has to say to this program
            words = str(error).strip().splitlines() or [""]
            raise ProgramError(
                f"Line {self.line}: PyTorch says {type(error).__name__}: {words[0]}"
            ) from None
        if not isinstance(self.last, torch.Tensor):
            raise ProgramError(
                "The last line gives no tensor. End with an expression, for example h.sum()."
            )
        return Program(self.last, self.names)

    def block(self, steps: list[ast.stmt]) -> None:
        for step in steps:
            self.line = step.lineno
            self.step(step)

    def step(self, step: ast.stmt) -> None:
        match step:
            case ast.Expr(value):
                self.last = self.value(value)
            case ast.Assign([ast.Name(name)], value):
                self.names[name] = self.last = self.value(value)
            case ast.AugAssign(ast.Name(name), op, value) if type(op) in _IN_PLACE:
                made = _IN_PLACE[type(op)](self.named(name), self.value(value))
                self.names[name] = self.last = self.small(made)
            case ast.With([ast.withitem(ast.Call(ast.Attribute(ast.Name("torch"), mode), [], []))]):
                if mode not in _MODES:
                    raise self.unknown(step)
                with _MODES[mode]():
                    self.block(step.body)
            case _:
                raise self.unknown(step)

    def value(self, node: ast.expr | None) -> Any:  # noqa: C901 - a case a kind of expression
        match node:
            case None:
                return None
            case ast.Constant(value):
                return self.constant(value)
            case ast.Name(name):
                return self.named(name)
            case ast.Tuple(items) | ast.List(items):
                return tuple(self.value(item) for item in items)
            case ast.Slice(lower, upper, step):
                return slice(self.value(lower), self.value(upper), self.value(step))
            case ast.Subscript(of, index):
                return self.small(self.tensor(of)[self.value(index)])
            case ast.UnaryOp(op, operand) if type(op) in _UNARY:
                return self.small(_UNARY[type(op)](self.value(operand)))
            case ast.BinOp(left, op, right) if type(op) in _BINARY:
                return self.binary(op, self.value(left), self.value(right))
            case ast.Compare(left, [op], [right]) if type(op) in _COMPARE:
                return _COMPARE[type(op)](self.value(left), self.value(right))
            case ast.Attribute(of, name):
                return self.small(self.member(of, name))
            case ast.Call(ast.Attribute(of, name), arguments, keywords):
                return self.call(self.member(of, name), arguments, keywords)
            case _:
                raise self.unknown(node)

    def constant(self, value: Any) -> Any:
        if isinstance(value, int | float) and abs(value) > MOST_ELEMENTS:
            raise ProgramError(
                f"Line {self.line}: {value} is too large; {MOST_ELEMENTS} is enough."
            )
        if isinstance(value, int | float | str | None):
            return value
        raise ProgramError(f"Line {self.line}: {value!r} is no number and no text.")

    def named(self, name: str) -> Any:
        """A tensor of the program or a copy of a given one; functions need `torch.` or `F.`."""
        if name in self.names:
            return self.names[name]
        found = self.given.get(name)
        if not isinstance(found, torch.Tensor):
            known = [n for n, value in self.given.items() if isinstance(value, torch.Tensor)]
            shown = ", ".join([n for n in known if not n.startswith("_")][:12]) or "none"
            raise ProgramError(f"Line {self.line}: no tensor is called {name!r}. Known: {shown}.")
        if found.numel() > MOST_ELEMENTS:
            raise ProgramError(f"Line {self.line}: {name} has {found.numel()} elements, too many.")
        self.names[name] = found.detach().clone().requires_grad_(found.requires_grad)
        return self.names[name]

    def tensor(self, node: ast.expr) -> torch.Tensor:
        found = self.value(node)
        if isinstance(found, torch.Tensor):
            return found
        raise ProgramError(f"Line {self.line}: {ast.unparse(node)} is no tensor.")

    def member(self, of: ast.expr, name: str) -> Any:
        """`torch.name`, `F.name`, or a public attribute of a tensor."""
        if isinstance(of, ast.Name) and of.id in ("torch", "F") and of.id not in self.names:
            offered = of.id == "F" or name in _MAKERS or hasattr(torch.Tensor, name)
            found = getattr(torch if of.id == "torch" else F, name, None)
            if offered and not name.startswith("_") and callable(found):
                return found
            raise ProgramError(f"Line {self.line}: {of.id}.{name} is not offered here.")
        if (name.startswith("_") and name != "_version") or name in _REFUSED:
            raise ProgramError(f"Line {self.line}: .{name} is not offered here.")
        return getattr(self.tensor(of), name)

    def call(self, function: Any, arguments: list[ast.expr], keywords: list[ast.keyword]) -> Any:
        if not callable(function):
            raise ProgramError(f"Line {self.line} calls what is no function.")
        plain = [self.value(argument) for argument in arguments]
        if any(keyword.arg is None for keyword in keywords):
            raise ProgramError(f"Line {self.line}: ** is not read here; name the arguments.")
        named = {str(keyword.arg): self.value(keyword.value) for keyword in keywords}
        numbers = [n for n in (*plain, *named.values()) if type(n) is int]
        sizes = [n for one in plain if isinstance(one, tuple) for n in one if type(n) is int]
        count = 1
        for n in (*numbers, *sizes):
            count *= max(1, abs(n))
        if count > MOST_ELEMENTS**2 // 100:
            raise ProgramError(f"Line {self.line} would make too many elements.")
        return self.small(function(*plain, **named))

    def binary(self, op: ast.operator, left: Any, right: Any) -> Any:
        if not isinstance(left, torch.Tensor) and not isinstance(right, torch.Tensor):
            left, right = float(left), float(right)  # so that no power of integers runs for hours
        return self.small(_BINARY[type(op)](left, right))

    def small(self, value: Any) -> Any:
        if isinstance(value, torch.Tensor) and value.numel() > MOST_ELEMENTS:
            raise ProgramError(
                f"Line {self.line} gives {value.numel()} elements; {MOST_ELEMENTS} is the limit."
            )
        return value

    def unknown(self, node: ast.AST) -> ProgramError:
        text = ast.unparse(node).splitlines()[0]
        return ProgramError(
            f"Line {self.line}: {text!r} is not read here. Use names, numbers, operators, methods "
            "of tensors, torch.… and F.… functions, assignments, and `with torch.no_grad():`."
        )
