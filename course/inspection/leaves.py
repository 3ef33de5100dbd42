"""The leaves of nested containers, as torch finds them, at a fraction of the time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

__all__ = ["leaves_in"]

_PLAIN = frozenset({int, float, bool, str, bytes, complex, type(None), torch.dtype, torch.device})
_leaves = tree_leaves


def leaves_in(tree: Any) -> list[Any]:
    """What `torch.utils._pytree.tree_leaves` finds, without numbers, text and names.

    Lists, tuples and dicts, which nearly all arguments and results are made of, are walked here;
    everything else is asked of torch, which knows the containers that somebody registered.

    >>> leaves_in({"a": [1, torch.relu], "b": ()})
    [<built-in method relu of type object at ...>]

    Raises:
        RecursionError: A container holds itself.
    """
    found: list[Any] = _leaves(())  # fails, as ever, where somebody broke what torch's walk needs
    _collect(tree, found.append)
    return found


def _collect(tree: Any, add: Callable[[Any], None]) -> None:
    kind = type(tree)
    if kind in _PLAIN:
        return
    if kind is torch.Tensor:
        add(tree)
    elif kind is list or kind is tuple:
        for one in tree:
            if type(one) not in _PLAIN:
                _collect(one, add)
    elif kind is dict:
        for one in tree.values():
            if type(one) not in _PLAIN:
                _collect(one, add)
    else:
        for one in _leaves(tree):
            add(one)
