"""Copies for a reference: like `copy.deepcopy`, whatever a case holds."""

from __future__ import annotations

import copy
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest
import torch

from course import inputs
from course.inspection.facts import facts
from course.testing.agreement.copying import copied
from course.testing.inputs.cases import columns

base = torch.arange(12.0)
leaf = torch.ones(2, requires_grad=True)
with_grad = torch.ones(2, requires_grad=True)
with_grad.grad = torch.zeros(2)
named = torch.ones(2)
vars(named)["name"] = "mine"
VALUES: dict[str, Any] = {
    "cases": columns(inputs.tensors()),
    "views": [base, base[3:], base.view(3, 4).t(), base[:0], base.expand(2, 12)],
    "leaves": [leaf, leaf],
    "a gradient": [with_grad, base],
    "a parameter": (torch.nn.Parameter(torch.ones(2)), base),
    "its own attributes": [named],
    "conjugates": [torch.ones(2, dtype=torch.complex64).conj()],
    "sparse": [torch.eye(2).to_sparse()],
    "a meta tensor": [torch.empty(2, device="meta")],
    "containers": {"a": [1, (2, None)], "b": OrderedDict(x=base), "c": {1, 2}},
    "others": [np.arange(3), torch.float16, slice(1), 2j, "x", b"y", print],
}


def flat(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return [leaf for one in value for leaf in flat(one)]
    return flat([*value.values()]) if isinstance(value, dict) else [value]


@pytest.mark.parametrize("name", VALUES)
def test_a_copy_is_what_deepcopy_makes(name: str) -> None:
    value = VALUES[name]
    mine, wanted = copied(value), copy.deepcopy(value)
    assert type(mine) is type(wanted)
    shared: dict[int, int] = {}
    for one, other, given in zip(flat(mine), flat(wanted), flat(value), strict=True):
        assert type(one) is type(other)
        if not isinstance(one, torch.Tensor):
            assert repr(one) == repr(other)
            continue
        assert vars(one) == vars(other) and (one.grad is None) == (other.grad is None)
        seen, right = facts(one), facts(other)
        for fact in ("shape", "stride", "storage_offset", "dtype", "storage_nbytes"):
            assert getattr(seen, fact) == getattr(right, fact), fact
        assert (seen.requires_grad, seen.is_leaf) == (right.requires_grad, right.is_leaf)
        if seen.layout == "strided":
            assert shared.setdefault(right.storage, seen.storage) == seen.storage
            assert seen.storage != facts(given).storage
            assert one.is_meta or torch.equal(one, other) or one.isnan().any()


def test_a_copy_has_not_been_written_to() -> None:
    assert [facts(one).version for one in copied([base.clone().mul_(2), leaf])] == [0, 0]


def test_a_write_to_a_copy_reaches_those_that_share_its_memory_and_nothing_else() -> None:
    given = {"args": [[base], [base[2:4]], [base]]}
    mine = copied(given)["args"]
    mine[0][0].zero_()
    assert mine[1][0].tolist() == [0.0, 0.0] and mine[2][0].sum() == 0 and base[2] == 2
