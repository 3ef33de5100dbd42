"""The leaves of nested containers, found faster than torch finds them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch.utils._pytree import tree_leaves as _torchs_leaves

__all__ = ["tree_leaves"]

# What is a leaf to torch, too. Of all other types it is asked.
_LEAVES = frozenset(
    {
        *(bool, bytes, complex, float, int, str, type(None)),
        *(torch.Tensor, torch.nn.Parameter, torch.dtype, torch.device),
    }
)


def tree_leaves(tree: Any) -> list[Any]:
    """The leaves of a tree in their order, as `torch.utils._pytree.tree_leaves` gives them.

    torch's own takes 4 µs for each leaf (2.13), which is most of what a recorded call costs where
    its arguments are some hundred cases.
    """
    found: list[Any] = []
    _collect((tree,), found)
    return found


def _collect(branches: Iterable[Any], found: list[Any]) -> None:
    for one in branches:
        kind = type(one)
        if kind in _LEAVES:
            found.append(one)
        elif kind is list or kind is tuple:
            if _LEAVES.issuperset(map(type, one)):
                found.extend(one)
            else:
                _collect(one, found)
        elif kind is dict:
            _collect(one.values(), found)
        else:
            found.extend(_torchs_leaves(one))
