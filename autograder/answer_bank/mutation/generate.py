"""The mutants of a cell: each differs from the solution in one place.

All operators see every node and every block of the solution's region, in the order of the text; a
change that does not compile, or that compiles to what another one compiles to, is not made.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import unified_diff
from types import CodeType
from typing import Any

from autograder.answer_bank.mutation import calls, expressions, statements
from autograder.answer_bank.mutation.edits import BlockChange, Cell, Change, Function, text_of
from autograder.lessons.regions import SOLUTION, without_markers

_NODES: tuple[Callable[[ast.AST, Cell], Iterator[Change]], ...] = (
    *(expressions.comparison, expressions.arithmetic, expressions.condition),
    *(expressions.constant, expressions.bound, expressions.arguments),
    *(calls.renamed, calls.dropped, calls.in_place, calls.graph),
    *(statements.augmented, statements.leaving, statements.signature),
)
_BLOCKS: tuple[Callable[[list[ast.stmt], Cell], Iterator[BlockChange]], ...] = (
    *(statements.gone, statements.swapped, statements.unwrapped, statements.cut_short),
)


@dataclass(frozen=True)
class Mutant:
    """A changed solution.

    Attributes:
        line: The line of the change in the source's answer cell.
        words: What is different.
        source: The whole cell, as a learner would type it.
        diff: Its lines beside those of the solution, both written without comments.
    """

    line: int
    words: str
    source: str
    diff: tuple[str, ...]

    @property
    def title(self) -> str:
        """Line and words."""
        return f"line {self.line}: {self.words}"


def mutants_of(source: str) -> tuple[Mutant, ...]:
    """The mutants of an answer cell with its solution, in the order of its lines."""
    tree = ast.parse(source)
    original = ast.unparse(tree)
    seen = {_bytecode(_compiled(without_markers(source)) or compile("", "", "exec"))}
    found = []
    for line, words, text in _changes(tree, _solution_lines(source)):
        code = _compiled(text)
        if code is None or _bytecode(code) in seen:
            continue
        seen.add(_bytecode(code))
        found.append(Mutant(line, words, text, _difference(original, text)))
    return tuple(sorted(found, key=lambda one: one.line))


def same_code(source: str) -> str:
    """A text that two cells share when their code is the same but for layout and docstrings."""
    tree = ast.parse(ast.unparse(ast.parse(source)))
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            node.body = [one for one in node.body if not _is_text(one)]
    return ast.dump(tree)


def _solution_lines(source: str) -> set[int]:
    """The lines of the solution's regions; all where there is none."""
    inside: set[int] = set()
    opened = f"BEGIN {SOLUTION}" not in source
    for number, line in enumerate(source.split("\n"), 1):
        if f"BEGIN {SOLUTION}" in line or f"END {SOLUTION}" in line:
            opened = f"BEGIN {SOLUTION}" in line
        elif opened:
            inside.add(number)
    return inside


def _changes(tree: ast.Module, lines: set[int]) -> Iterator[tuple[int, str, str]]:
    """Every change as (line, words, text of the whole cell); the tree is as it was afterwards."""
    cell = Cell.of(tree)
    for parent, name, index, node in _places(tree):
        line = _line(parent, node)
        if line in lines or (isinstance(node, Function) and _holds(node, lines)):
            for operator in _NODES:
                for new, said in operator(node, cell):
                    words = said or f"`{text_of(node)}` became `{text_of(new)}`"
                    yield line, words, _with(tree, parent, name, index, new)
    for owner, name, block in _blocks(tree):
        for block_operator in _BLOCKS:
            for statements_, one, said in block_operator(block, cell):
                if one.lineno in lines:
                    text = _with(tree, owner, name, None, statements_ or [ast.Pass()])
                    yield one.lineno, said, text


def _places(node: ast.AST) -> Iterator[tuple[ast.AST, str, int | None, ast.AST]]:
    """Where each node below hangs, but for messages, texts with holes, and annotations."""
    for name, value in ast.iter_fields(node):
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if not isinstance(child, ast.AST) or _is_left_alone(node, name, child):
                continue
            yield node, name, index, child
            yield from _places(child)


def _is_left_alone(node: ast.AST, name: str, child: ast.AST) -> bool:
    """Whether this is for a reader alone, or told by another change already."""
    if isinstance(node, ast.keyword) and node.arg == "strict":
        return True
    if isinstance(node, ast.Compare) and isinstance(child, ast.Constant):
        return isinstance(child.value, str)  # the opposite comparison says as much
    if name in ("annotation", "returns", "msg") or isinstance(child, ast.JoinedStr):
        return True
    return (isinstance(node, ast.Raise) and name == "exc") or (
        isinstance(child, ast.stmt) and _is_text(child)
    )


def _blocks(tree: ast.Module) -> Iterator[tuple[ast.AST, str, list[ast.stmt]]]:
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                yield node, name, [one for one in value if not _is_text(one)]


def _line(parent: ast.AST, node: ast.AST) -> int:
    """The line of a node; a filter, a slice or a set of arguments stands where its parent does."""
    found = getattr(node, "lineno", None) or getattr(parent, "lineno", None)
    return found or next((n.lineno for n in ast.walk(node) if hasattr(n, "lineno")), 0)


def _holds(node: ast.FunctionDef | ast.AsyncFunctionDef, lines: set[int]) -> bool:
    return any(line in lines for line in range(node.lineno, (node.end_lineno or node.lineno) + 1))


def _with(tree: ast.Module, parent: ast.AST, name: str, index: int | None, new: Any) -> str:
    """The text of the tree with `new` in that place, which is put back."""
    old = getattr(parent, name)
    try:
        if index is None:
            setattr(parent, name, new)
        else:
            setattr(parent, name, [*old[:index], new, *old[index + 1 :]])
        return ast.unparse(ast.fix_missing_locations(tree))
    finally:
        setattr(parent, name, old)


def _compiled(text: str) -> CodeType | None:
    """The code, None where it is none; what Python warns of, no learner leaves standing."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", SyntaxWarning)
        try:
            return compile(text, "answer", "exec")
        except (SyntaxError, ValueError):
            return None


def _bytecode(code: CodeType) -> tuple[Any, ...]:
    """What the code does, whatever line it stands in."""
    consts = tuple(
        _bytecode(one) if isinstance(one, CodeType) else (type(one).__name__, repr(one))
        for one in code.co_consts
    )
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return code.co_code, consts, names, code.co_exceptiontable, code.co_flags


def _difference(original: str, text: str) -> tuple[str, ...]:
    lines = unified_diff(original.split("\n"), text.split("\n"), lineterm="", n=0)
    return tuple(line for line in lines if not line.startswith(("---", "+++", "@@")))


def _is_text(one: ast.stmt) -> bool:
    return isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
