"""Facts that contradict what was sent, or each other, are refused; true ones never are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given

from autograder.engine.verify import Contradiction, check_reply
from course.answers import Request
from course.observe import Observation, observe
from course.values import SeenTensor, Value
from tests.autograder.engine.test_frames import tensors


def seen_of(*args: Any) -> tuple[Request, Observation]:
    return Request(("answer", "f"), args), observe(lambda *a: [*a, a[0].reshape(-1)], *args)


@given(tensors())
def test_what_an_honest_process_reports_is_believed(tensor: torch.Tensor) -> None:
    request, seen = seen_of(tensor, [tensor, 3, {"k": "v"}], float("nan"), None)
    assert check_reply(request, seen) is seen


def test_values_of_every_kind_that_can_be_sent_are_believed() -> None:
    values = [torch.randn(3, requires_grad=True), torch.tensor([True]), torch.zeros(0, 2)]
    values += [torch.tensor([float("nan"), -0.0]), torch.zeros(2, dtype=torch.complex64).conj()]
    values += [torch.nn.Parameter(torch.ones(2)), torch.zeros(2, dtype=torch.bfloat16)]
    for value in values:
        request, seen = seen_of(value)
        assert check_reply(request, seen) is seen


def forged(seen: Observation, **facts: Any) -> Observation:
    """`seen` with false facts about its first argument."""
    node = seen.args[0].node
    tensor = facts.pop("tensor", node.tensor)
    lie = SeenTensor(replace(node.facts, **facts), tensor)
    return replace(seen, args=Value([lie, *seen.args.node[1:]], "the arguments"))


@pytest.mark.parametrize(
    ("lie", "reason"),
    [
        ({"shape": (3, 2), "stride": (2, 1)}, "another layout than was sent"),
        ({"dtype": "float64"}, "another dtype than was sent"),
        ({"requires_grad": True}, "another layout than was sent"),
        ({"tensor": torch.ones(2, 3)}, "other elements than were sent"),
        ({"storage_nbytes": 4}, "reaches beyond its storage"),
        ({"is_contiguous": False}, "strides that contradict"),
    ],
)
def test_a_lie_about_an_argument_is_noticed(lie: dict[str, Any], reason: str) -> None:
    request, seen = seen_of(torch.zeros(2, 3))
    with pytest.raises(Contradiction, match=reason):
        check_reply(request, forged(seen, **lie))


def test_other_arguments_than_were_sent_are_noticed() -> None:
    request, seen = seen_of(torch.zeros(2), 3, "text", [1, 2])
    for index, other in ((1, 4), (2, "other"), (3, [1]), (3, [1, 3])):
        args = list(seen.args.node)
        args[index] = other
        with pytest.raises(Contradiction, match=r"than was sent|instead of"):
            check_reply(request, replace(seen, args=Value(args, "the arguments")))
