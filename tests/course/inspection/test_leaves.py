"""The walk finds what torch's own walk finds, but for numbers, text and names."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from typing import Any

import pytest
import torch
from torch.utils._pytree import tree_leaves

from course.inspection.leaves import leaves_in

ONE, TWO = torch.zeros(1), torch.nn.Parameter(torch.ones(2))
LAYER = torch.nn.Linear(1, 1)
Pair = namedtuple("Pair", "first second")


@pytest.mark.parametrize(
    "tree",
    [
        ONE,
        TWO,
        LAYER,
        3,
        None,
        "text",
        (),
        [ONE, (TWO, {"a": ONE, "b": [LAYER, 2, "x"]}), None],
        {"b": TWO, "a": ONE},
        Pair(ONE, [TWO]),
        OrderedDict(b=ONE, a=Pair(TWO, 1)),
        {1, 2},
        [torch.float32, torch.device("cpu"), torch.Size([2]), slice(1, 2)],
    ],
)
def test_it_finds_what_torch_finds_in_the_same_order(tree: Any) -> None:
    wanted = (torch.Tensor, torch.nn.Module)
    found = [one for one in leaves_in(tree) if isinstance(one, wanted)]
    expected = [one for one in tree_leaves(tree) if isinstance(one, wanted)]
    assert [id(one) for one in found] == [id(one) for one in expected]


def test_numbers_and_text_are_no_leaves() -> None:
    assert leaves_in([1, 2.0, True, None, "a", b"b", 1j, torch.float32]) == []


def test_a_container_that_holds_itself_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(RecursionError):
        leaves_in(endless)
