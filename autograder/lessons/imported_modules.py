"""Which modules a lesson's notebook imports, so that they can be loaded once, before forking."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

# `torch._check`, and with it a few functions of torch, import SymPy at first use; it takes 0.3 s.
_SYMBOLS = "torch.fx.experimental.symbolic_shapes"
_USES_SYMBOLS = re.compile(r"\bunravel_index\(|\btorch\._check|\bgrad_outputs\b")
# The first optimizer of a process, DistributedDataParallel and a few others import this; it takes
# 0.9 s.
_COMPILER = "torch._dynamo"
_USES_COMPILER = re.compile(
    r"\boptim\b|\bcompile\(|checkpoint|lr_scheduler|\b(SGD|Adam\w*)\(|DistributedDataParallel"
)


def modules_needed(sources: Iterable[str]) -> tuple[str, ...]:
    r"""The modules that these cells import, in the order of their names.

    >>> modules_needed(["import torch\nfrom course import Check", "!ls", "from . import x"])
    ('course', 'course.Check', 'torch')
    """
    text = list(sources)
    found = {name for source in text for name in _imported(source)}
    return tuple(sorted(found.union(slow_modules(text))))


def slow_modules(sources: Iterable[str]) -> tuple[str, ...]:
    """The modules of torch, slow to import, that torch itself imports where these cells use it.

    None of them starts a thread, so that fork servers can share them.

    >>> slow_modules(["optimizer = torch.optim.SGD(parameters)"])
    ('torch._dynamo',)
    """
    text = list(sources)
    uses = ((_COMPILER, _USES_COMPILER), (_SYMBOLS, _USES_SYMBOLS))
    return tuple(name for name, pattern in uses if any(map(pattern.search, text)))


def _imported(source: str) -> set[str]:
    if source.startswith("%%"):  # another language, or a file to be written
        return set()
    python = "\n".join(line for line in source.split("\n") if line[:1] not in ("%", "!"))
    try:
        tree = ast.parse(python)
    except (SyntaxError, ValueError, RecursionError):  # what it imports is loaded when it runs
        return set()
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names if _in_course(node)}
    return found


def _in_course(node: ast.ImportFrom) -> bool:
    """Whether the names may be modules: `from course import gpu`."""
    return str(node.module).partition(".")[0] == "course"
