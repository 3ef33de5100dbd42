"""A proof as a program of its own: with its imports, and with what it must show as an assertion."""

from __future__ import annotations

import ast
import builtins
import inspect

from course.claims import Claim, proof_helpers

__all__ = ["helpers_of", "program"]

_SHORT = {
    "np": "import numpy as np",
    "nn": "from torch import nn",
    "F": "import torch.nn.functional as F",
    "Counter": "from collections import Counter",
}
_PLAIN = frozenset(
    {"gc", "inspect", "math", "os", "random", "tempfile", "time", "torch", "warnings", "weakref"}
)


def program(claim: Claim) -> str:
    """The proof as somebody would run it: imports, its lines, and the assertion at the end."""
    lines = [*_imports(_asked(claim)), "", claim.proof.strip(), "", _assertion(claim.shows)]
    return "\n".join(lines).strip()


def helpers_of(claim: Claim) -> str:
    """The source of the course's helpers that the proof uses; "" where it uses none."""
    asked = sorted(_asked(claim) & set(proof_helpers.__all__))
    return "\n\n\n".join(inspect.getsource(getattr(proof_helpers, name)).strip() for name in asked)


def _asked(claim: Claim) -> set[str]:
    """Names that the proof or its relation takes from outside of itself."""
    tree = ast.parse(f"{claim.proof}\n{claim.shows.strip()}")
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    return {node.id for node in names} - set(dir(builtins))


def _imports(asked: set[str]) -> list[str]:
    from torch.utils import data

    plain = [f"import {name}" for name in sorted(_PLAIN & asked)]
    short = [line for name, line in _SHORT.items() if name in asked]
    loading = sorted(asked & set(data.__all__))
    ours = sorted(asked & set(proof_helpers.__all__))
    froms = [f"from torch.utils.data import {', '.join(loading)}"] if loading else []
    froms += [f"from course.claims.proof_helpers import {', '.join(ours)}"] if ours else []
    return [*plain, *short, *froms]


def _assertion(shows: str) -> str:
    text = shows.strip()
    return f"assert (\n{text}\n)" if "\n" in text else f"assert {text}"
