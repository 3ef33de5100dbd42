"""Leaves are found as torch finds them."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from typing import Any

import pytest
import torch
from torch.utils._pytree import tree_leaves as leaves_of_torch

from course.inspection.tree_leaves import tree_leaves

Pair = namedtuple("Pair", "one other")
X = torch.zeros(2)
TREES: list[Any] = [
    X,
    None,
    [],
    {"b": [1, (2.0, None)], "a": {"deep": (X, "text")}},
    OrderedDict(first=[1, 2], second=X),
    defaultdict(list, found=[X, 3]),
    [deque([1, (X,)]), Pair(X, [4])],
    (X.shape, torch.float32, X.device, {1, 2}, range(3), torch.nn.Linear(1, 1)),
    [torch.nn.Parameter(X), b"bytes", 1j, True, ...],
]


@pytest.mark.parametrize("tree", TREES, ids=lambda tree: type(tree).__name__)
def test_leaves_are_those_of_torch_in_their_order(tree: Any) -> None:
    found, right = tree_leaves(tree), leaves_of_torch(tree)
    assert len(found) == len(right)
    assert all(one is other for one, other in zip(found, right, strict=True))


def test_a_subclass_of_a_list_is_a_leaf() -> None:
    class Own(list[int]):
        pass

    own = Own([1, 2])
    assert tree_leaves([own]) == [own]
