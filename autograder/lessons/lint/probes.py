"""Probes observe; they do not judge.

A probe runs beside the answer, where a learner can replace `torch.allclose`, `Tensor.backward` or
`functools.reduce`.  What it compares there, or computes there to be compared with, proves nothing.
So it returns what it saw, and the test cell makes what is expected.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autograder.lessons.lint.travel import probe_functions

Judgement = tuple[int, str, str]  # line, cause, remedy

_COMPARES = {
    *("allclose", "isclose", "equal", "array_equal", "assert_close", "assert_allclose"),
    *("same_storage", "overlap", "difference", "eq", "ne"),
}
_OF_THE_TEST = {"expected", "wanted", "reference", "truth", "right", "correct", "verdict"}
_RETURN_IT = "Return what was seen, and compare it in the test cell, where no learner's code runs."


def judgements(source: str) -> Iterator[tuple[str, Judgement]]:
    """The places where a probe of a test cell judges, each with the probe's name."""
    for function in probe_functions(source):
        for one in judged_in(function):
            yield function.name, one


def judged_in(function: ast.FunctionDef) -> Iterator[Judgement]:
    """The places where this procedure compares, expects, or runs something beside the answer."""
    deciding = {id(part) for node in ast.walk(function) for part in _decisions(node)}
    for node in ast.walk(function):
        if isinstance(node, ast.Compare) and id(node) not in deciding and not _is_identity(node):
            yield node.lineno, f"it compares: `{ast.unparse(node)}`", _RETURN_IT
        elif isinstance(node, ast.Call) and _called(node) in _COMPARES:
            yield node.lineno, f"it compares by `{_called(node)}`", _RETURN_IT
        elif _named(node) in _OF_THE_TEST:
            cause = f"it holds what is expected, as `{_named(node)}`"
            yield node.lineno, cause, "Make it in the test cell, or call it by what it is."  # type: ignore[attr-defined]
    yield from _runs_beside(function)


def _decisions(node: ast.AST) -> Iterator[ast.AST]:
    """What only decides which way the procedure goes or how something is set up, with its parts."""
    tests: list[ast.expr] = []
    match node:
        case (
            ast.If(test=test) | ast.IfExp(test=test) | ast.While(test=test) | ast.Assert(test=test)
        ):
            tests = [test]
        case ast.comprehension(ifs=ifs):
            tests = ifs
        case ast.keyword(value=option):
            tests = [option]
    for one in tests:
        yield from ast.walk(one)


def _is_identity(node: ast.Compare) -> bool:
    """Whether it asks for identity, which no code can lie about and nothing else can tell."""
    return all(isinstance(one, ast.Is | ast.IsNot) for one in node.ops)


def _called(node: ast.Call) -> str:
    match node.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""


def _named(node: ast.AST) -> str:
    """The name that is given to something here: a variable, an argument or a key."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.FunctionDef(name=name):
            return name
    return ""


def _runs_beside(function: ast.FunctionDef) -> Iterator[Judgement]:
    """Give the loops that run the answer and something of the probe's own, one after the other."""
    own = {one.name for one in ast.walk(function) if isinstance(one, ast.FunctionDef)}
    given = {one.arg for one in function.args.args}
    for node in ast.walk(function):
        if isinstance(node, ast.Tuple | ast.List | ast.Dict | ast.Set):
            names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
            calls = any(isinstance(one, ast.Call) for one in ast.walk(node))
            if names & own and names & given and not calls:
                both = " and ".join(sorted(f"`{one}`" for one in names & (own | given)))
                yield (
                    node.lineno,
                    f"it runs {both} in turn: a reference beside the answer",
                    "Let it run one of them. The test cell runs the other by `probe.here(…)`.",
                )
