"""The code of a cell as a tree."""

from __future__ import annotations

import ast

__all__ = ["parsed"]


def parsed(source: str) -> ast.Module:
    """The code of a cell without its magics; nothing of a cell that is no Python."""
    plain = [line for line in source.split("\n") if not line.lstrip().startswith(("%", "!"))]
    try:
        return ast.parse("\n".join(plain))
    except SyntaxError:
        return ast.Module([], [])
