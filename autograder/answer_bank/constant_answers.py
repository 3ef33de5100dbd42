"""Answers that do no work: what anybody could hand in without reading the exercise.

Each turns the functions, classes and values that a test cell asks for into ones that give the
same thing whatever they are asked, or their arguments, or what those give; the last one knows what
the visible checks ask, by heart.  None may get more than a fifth of an exercise's points, and none
may count as anything but an honest attempt.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from typing import Any

from autograder.answer_bank.shown_answers import by_heart
from autograder.lessons.model import Exercise
from autograder.lessons.regions import without_markers
from course.testing.points import MOST_SHARE

__all__ = ["MOST_SHARE", "NAMES", "constant_answer"]

_EMPTY, _ARGUMENT, _ERROR, _BY_HEART = "empty body", "first argument", "error", "by heart"
_COPIES, _CALL = "copied arguments", "a call of an argument"
_VALUES = {
    "0": "0",
    "1": "1",
    "True": "True",
    "False": "False",
    "empty list": "[]",
    "empty dict": "{}",
    "empty tensor": "__import__('torch').empty(0)",
    "anything": "__import__('unittest.mock').mock.MagicMock()",
}
NAMES = (_EMPTY, *_VALUES, _ARGUMENT, _COPIES, _CALL, _ERROR, _BY_HEART)
_CALLS = """\
given = {given}
called = next(one for one in given if callable(one))
return called(*(one for one in given if one is not called))"""

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def constant_answer(exercise: Exercise, name: str) -> str:
    """The answer cell of `exercise` that answers everything with the constant called `name`.

    Signatures, base classes and decorators are those of the solution, so that calls reach it. A
    generator and a context manager yield the constant once; with an empty body, nothing and None.
    By heart, functions give what the visible checks ask; where there is a class, it is as good as
    an empty body.
    """
    made = {one: node for node in _parsed(exercise).body for one in _names(node)}
    functions = [isinstance(made.get(one), _Function) for one in exercise.asked]
    if name == _BY_HEART and functions and all(functions):
        solution = without_markers(exercise.answer_source)
        return by_heart(solution, exercise.asked, exercise.test_source)
    parts = [
        node for node in _parsed(exercise).body if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    text = [ast.unparse(node) for node in parts]
    text += [_answer(asked, made.get(asked), name) for asked in exercise.asked]
    return "\n\n\n".join(text)


def _parsed(exercise: Exercise) -> ast.Module:
    try:
        return ast.parse(without_markers(exercise.answer_source))
    except SyntaxError:
        return ast.Module([], [])


def _names(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, _Function | ast.ClassDef):
        yield node.name


def _answer(asked: str, node: Any, name: str) -> str:
    if isinstance(node, _Function):
        return ast.unparse(_idle_function(node, name))
    if isinstance(node, ast.ClassDef):
        return ast.unparse(_idle_class(node, name))
    return f"{asked} = {_VALUES.get(name, 'None')}"


def _idle_class(node: ast.ClassDef, name: str) -> ast.ClassDef:
    methods = [one for one in node.body if isinstance(one, _Function)]
    body: list[ast.stmt] = [_idle_method(one, name) for one in methods if name != _EMPTY]
    idle = copy.copy(node)
    idle.body = body or [ast.Pass()]
    return idle


def _idle_method(node: _Function, name: str) -> _Function:
    if node.name == "__init__" and name != _ERROR:
        quiet = "with __import__('contextlib').suppress(Exception):\n    super().__init__()"
        return _with_body(node, quiet)
    return _idle_function(node, name, bound=not _is_static(node))


def _is_static(node: _Function) -> bool:
    return any(
        isinstance(one, ast.Name) and one.id == "staticmethod" for one in node.decorator_list
    )


def _idle_function(node: _Function, name: str, *, bound: bool = False) -> _Function:
    arguments = [*node.args.posonlyargs, *node.args.args][bound:]
    given = f"[{', '.join(one.arg for one in arguments)}]"
    value = arguments[0].arg if name == _ARGUMENT and arguments else _VALUES.get(name, "None")
    value = f"__import__('copy').deepcopy({given})" if name == _COPIES else value
    if name == _ERROR:
        return _with_body(node, "raise ValueError('no')")
    if not _yields(node):
        if name == _CALL:
            return _with_body(node, _CALLS.format(given=given))
        return _with_body(node, f"return {value}")
    managed = any("contextmanager" in ast.unparse(one) for one in node.decorator_list)
    return _with_body(node, "return\nyield" if name == _EMPTY and not managed else f"yield {value}")


def _yields(node: _Function) -> bool:
    """Whether a call gives a generator; an `__iter__` that gives an iterator counts as one."""
    inside = (one for statement in node.body for one in ast.walk(statement))
    return node.name == "__iter__" or any(
        isinstance(one, ast.Yield | ast.YieldFrom) for one in inside
    )


def _with_body(node: _Function, body: str) -> _Function:
    function = "def f():\n" + "\n".join("    " + line for line in body.split("\n"))
    (made,) = ast.parse(function).body
    assert isinstance(made, ast.FunctionDef)
    idle = copy.copy(node)
    idle.body = made.body
    return idle
