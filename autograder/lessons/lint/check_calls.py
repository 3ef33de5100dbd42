"""Whether the checks that a test cell writes are checks that there are, with what they take."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from functools import cache

from autograder.errors import did_you_mean
from autograder.lessons.lint.findings import Slip

OF_EVERY_CHECK = ("name", "message", "misconception", "weight", "guard")


def check_slips(test_id: str, exercise: str, tree: ast.Module) -> Iterator[Slip]:
    """Give the slips of the calls of `Check` and of its methods in the test cell `test_id`."""
    for line, cause, cure in (*_begun(exercise, tree), *_called(tree)):
        yield f"cell {test_id}", f"line {line}: {cause}", cure


def check_variables(tree: ast.Module) -> set[str]:
    """The names that a test cell gives to its `Check`."""
    return {
        target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and _begins(node.value)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _begins(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Check"
    )


def _begun(exercise: str, tree: ast.Module) -> Iterator[tuple[int, str, str]]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(ast.Name("Check"), [ast.Constant(str(said))]) if said != exercise:
                remedy = (
                    f'Write Check("{exercise}"): table and progress of a learner go by this name.'
                )
                yield node.lineno, f"it begins the checks of '{said}'", remedy


def _called(tree: ast.Module) -> Iterator[tuple[int, str, str]]:
    variables, known = check_variables(tree), _signatures()
    for node in ast.walk(tree):
        match node:
            case ast.Call(ast.Attribute(ast.Name(name), method)) if name in variables:
                if method in known:
                    slip = _argument_slip(method, node, known[method])
                else:
                    cause = f"no check is called '{method}'.{did_you_mean(method, known)}"
                    slip = cause, "docs/authoring.md lists the checks."
                if slip is not None:
                    yield node.lineno, *slip


def _argument_slip(
    method: str, call: ast.Call, signature: inspect.Signature
) -> tuple[str, str] | None:
    given = [word.arg for word in call.keywords]
    if None in given or any(isinstance(one, ast.Starred) for one in call.args):
        return None  # what `*` and `**` bring is known when it runs
    own = [one.name for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
    takes = [*own, *OF_EVERY_CHECK] if len(own) < len(signature.parameters) else own
    remedy = f"It takes {', '.join(takes)}."
    if odd := [word for word in given if word is not None and word not in takes]:
        return f"check.{method} takes no '{odd[0]}'.{did_you_mean(odd[0], takes)}", remedy
    try:
        signature.bind(*call.args, **{word: None for word in given if word is not None})
    except TypeError as error:
        return f"check.{method}: {error}", remedy
    return None


@cache
def _signatures() -> dict[str, inspect.Signature]:
    """Each public method of `Check`, without `self`; torch is loaded for it."""
    from course.testing.checks import Check

    found = inspect.getmembers(Check, inspect.isfunction)
    return {name: _without_self(method) for name, method in found if not name.startswith("_")}


def _without_self(method: object) -> inspect.Signature:
    signature = inspect.signature(method)  # type: ignore[arg-type]
    _, *others = signature.parameters.values()
    return signature.replace(parameters=others)
