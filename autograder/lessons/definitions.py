"""Which names a cell binds when it runs; told from its text, nothing is executed."""

from __future__ import annotations

import ast
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

MOST_PARSED_CHARS = 200_000  # Python's own reading of a text takes hundreds of times its size
# Python puts the marks of a name in order each time its parser looks at it, in the square of their
# number.
# Two marks of the halfwidth forms are part of words, and are put in order as what they stand for.
_MARKS = re.compile(r"(?:[^\w\x00-\x7f]|[\uff9e\uff9f]){30,}")
_HALFWIDTH_MARKS = "\uff9e\uff9f"
_MOST_MARKS = 30
_MAGIC = re.compile(r"^([^\S\n]*)[%!].*$", re.M)
# For text that is not Python: what stands at the start of a line.
_BINDS = re.compile(r"^(?:async\s+)?(?:def|class)\s+(\w+)|^(\w+)\s*(?::[^=\n]*)?=(?!=)", re.M)
_OWN_SCOPE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def defined(source: str) -> frozenset[str]:
    r"""The names that this cell binds in the notebook: functions, classes, values, imports.

    >>> sorted(defined("%time\nif x:\n    a, b = 1, 2\ndef f():\n    inner = 3"))
    ['a', 'b', 'f']
    """
    return _parsed(source) if may_be_parsed(source) else defined_by_lines(source)


def may_be_parsed(source: str) -> bool:
    r"""Whether Python reads a text in a time that its length tells, and that is little.

    >>> may_be_parsed("e\u0301t\u00e9 = 1"), may_be_parsed("a" + "\u0301\u0323" * 20 + " = 1")
    (True, False)
    """
    if len(source) > MOST_PARSED_CHARS:
        return False
    runs = () if source.isascii() else _MARKS.findall(source)
    return all(sum(map(_is_mark, one)) < _MOST_MARKS for one in runs)


def _is_mark(character: str) -> bool:
    return bool(unicodedata.combining(character)) or character in _HALFWIDTH_MARKS


def defined_by_lines(source: str) -> frozenset[str]:
    r"""About the same of any text, told from how its lines begin, and in no time.

    >>> sorted(defined_by_lines("if x:\n    a, b = 1, 2\ndef f():\n    inner = 3\nc = 4"))
    ['c', 'f']
    """
    return frozenset(first or second for first, second in _BINDS.findall(source))


@lru_cache(maxsize=1_000)
def _parsed(source: str) -> frozenset[str]:
    try:
        tree = ast.parse(_MAGIC.sub(r"\1pass", source))
        return frozenset(_bound(tree))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return defined_by_lines(source)


def _bound(tree: ast.AST) -> Iterator[str]:
    stack = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.alias):
            yield node.asname or node.name.partition(".")[0]
        elif isinstance(node, _OWN_SCOPE):
            yield getattr(node, "name", "")
            continue
        stack.extend(ast.iter_child_nodes(node))
