"""The code of a cell as a tree."""

from __future__ import annotations

import ast

__all__ = ["parsed", "syntax_error"]


def parsed(source: str) -> ast.Module:
    """The code of a cell without its magics; nothing of a cell that is no Python."""
    try:
        return ast.parse(_without_magics(source))
    except SyntaxError:
        return ast.Module([], [])


def syntax_error(source: str) -> str | None:
    """Why the code of a cell is no Python, with the line; None where it is."""
    try:
        ast.parse(_without_magics(source))
    except SyntaxError as error:
        return f"{error.msg} (line {error.lineno})"
    return None


def _without_magics(source: str) -> str:
    """The code, with an empty line where a magic stands: lines keep their numbers."""
    magic = ("%", "!")
    return "\n".join("" if one.lstrip().startswith(magic) else one for one in source.split("\n"))
