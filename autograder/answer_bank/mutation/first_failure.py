"""A test cell that is over when the first check fails: enough to know that an answer is wrong.

Mutants are many, nearly all lose their first point early, and nobody asks what it was.
"""

from __future__ import annotations

import ast
from typing import cast

from course.hidden_lines import BEGIN, END, is_hidden_in, lines_of

_DEEPEST = 80  # levels of indentation that Python takes, less those of the cell's own statements


def until_first_failure(test_source: str) -> str:
    """The test cell in which no check runs after one that failed; the points are still told.

    It names no misconceptions, which would be looked for among wrong implementations.  A cell that
    is not `name = Check(…)`, some checks and `name.score(…)` comes back as it is.
    """
    try:
        tree = ast.parse(test_source)
    except SyntaxError:
        return test_source
    check = next((_made_by(statement) for statement in tree.body if _made_by(statement)), "")
    if not check or not _calls(tree.body[-1], check, "score"):
        return test_source
    if sum(_calls(statement, check) for statement in tree.body) > _DEEPEST:
        return test_source
    *checks, score = tree.body
    tree = ast.Module([*_nested(checks, check), score], [])
    return ast.unparse(ast.fix_missing_locations(_WithoutBeliefs(check).visit(tree)))


def without_beliefs(test_source: str) -> str:
    """The test cell without the misconceptions that its checks name, and so much quicker.

    What is hidden stays hidden: points depend on it. A cell without `name = Check(…)` comes back
    as it is.
    """
    try:
        tree = ast.parse(test_source)
    except SyntaxError:
        return test_source
    check = next((_made_by(statement) for statement in tree.body if _made_by(statement)), "")
    if not check:
        return test_source
    lines, inside, texts = lines_of(test_source), False, list[str]()
    for statement in _WithoutBeliefs(check).visit(tree).body:
        if is_hidden_in(lines, statement.lineno) != inside:
            inside = not inside
            texts.append(f"### {BEGIN if inside else END}")
        texts.append(ast.unparse(statement))
    return "\n".join([*texts, f"### {END}"] if inside else texts)


def _made_by(statement: ast.stmt) -> str:
    """The name in `name = Check(…)`."""
    match statement:
        case ast.Assign([ast.Name(name)], ast.Call(ast.Name("Check"))):
            return name
    return ""


def _calls(statement: ast.stmt, check: str, method: str = "") -> bool:
    """Whether a statement calls a method of the check."""
    for node in ast.walk(statement):
        match node:
            case ast.Call(ast.Attribute(ast.Name(name), attr)) if name == check:
                if method in ("", attr):
                    return True
    return False


def _nested(statements: list[ast.stmt], check: str) -> list[ast.stmt]:
    """The statements, after each check only if all have held."""
    holds = ast.parse(f"all(one.passed for one in {check}.result(1.0).checks)", mode="eval").body
    nested: list[ast.stmt] = []
    for statement in reversed(statements):
        if nested and _calls(statement, check):
            nested = [ast.If(holds, nested, [])]
        nested = [statement, *nested]
    return nested


class _WithoutBeliefs(ast.NodeTransformer):
    """Removes the argument `misconception` from the check's own methods, not from helpers."""

    def __init__(self, check: str) -> None:
        self.check = check

    def visit_Call(self, node: ast.Call) -> ast.Call:
        match node.func:
            case ast.Attribute(ast.Name(self.check)):
                node.keywords = [one for one in node.keywords if one.arg != "misconception"]
        return cast(ast.Call, self.generic_visit(node))
