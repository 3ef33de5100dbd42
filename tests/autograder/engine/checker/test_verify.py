"""Facts that contradict what was sent, or each other, are refused; true ones never are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given

from autograder.engine.checker.verify import Contradiction, check_reply
from course.serialization.received import SeenTensor, Value
from course.testing.answers import Request
from course.testing.observe import Observation, observe
from tests.autograder.engine.protocol.test_frames import tensors


def seen_of(*args: Any) -> tuple[Request, Observation]:
    return Request(("answer", "f"), args), observe(lambda *a: [*a, a[0].reshape(-1)], *args)


@pytest.mark.exhaustive("whole processes of the engine")
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


def test_a_change_of_what_nobody_looks_at_is_refused() -> None:
    request, seen = seen_of(torch.ones(2))
    known = replace(seen, changed=("grad mode", "random state"))
    assert check_reply(request, known) is known
    with pytest.raises(Contradiction, match="a change of what nobody looks at"):
        check_reply(request, replace(seen, changed=("the input is 4711",)))


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
        ({"tensor": torch.zeros(3, 2)}, "other elements than were sent"),
        ({"tensor": torch.zeros(2, 3, dtype=torch.int32)}, "other elements than were sent"),
        ({"storage_nbytes": 4}, "reaches beyond its storage"),
        ({"is_contiguous": False}, "strides that contradict"),
    ],
)
def test_a_lie_about_an_argument_is_noticed(lie: dict[str, Any], reason: str) -> None:
    request, seen = seen_of(torch.zeros(2, 3))
    with pytest.raises(Contradiction, match=reason):
        check_reply(request, forged(seen, **lie))


VALUE = "an argument with another value than was sent"
KEYS = "an argument with other keys than were sent"


@pytest.mark.parametrize(
    ("sent", "reported", "reason"),
    [
        (3, 4, VALUE),
        ("text", "other", VALUE),
        (True, False, VALUE),
        (b"a", b"b", VALUE),
        (None, 0, VALUE),
        ([1, 2], [1], "an argument with more or fewer values than were sent"),
        ((1, 2), 3, VALUE),
        ([1, [2, 3]], [1, [2, 4]], VALUE),
        ({"a": 1}, {"b": 1}, KEYS),
        ({"a": 1}, [1], KEYS),
        ({"a": [1]}, {"a": [2]}, VALUE),
        (torch.zeros(2), 3, "no tensor where one was sent"),
        ([torch.zeros(2)], [None], "no tensor where one was sent"),
    ],
)
def test_another_argument_than_was_sent_is_noticed_and_nothing_told_of_it(
    sent: Any, reported: Any, reason: str
) -> None:
    seen = observe(lambda *_: None, sent)
    with pytest.raises(Contradiction) as caught:
        check_reply(
            Request(("answer", "f"), (sent,)), replace(seen, args=Value([reported], "args"))
        )
    assert str(caught.value) == reason
    with pytest.raises(Contradiction) as caught:
        check_reply(
            Request(("answer", "f"), (), {"k": sent}),
            replace(seen, args=Value([], "args"), kwargs=Value({"k": reported}, "kwargs")),
        )
    assert str(caught.value) == reason


@pytest.mark.parametrize(
    "sent",
    [
        {"a": [1, (2, b"3")], "b": None},
        {"a": torch.arange(6).view(2, 3).t()},
        [[], {}, (), "", 0, False],
        1.5,
        float("nan"),
        list(range(300_000)),  # arrives as absent
        torch.eye(2).to_sparse(),
        torch.tensor([1 + 2j]).conj(),
        torch.ones(1, 3).expand(2, 3)[:, 1:],
        torch.zeros(4).as_strided((1,), (7,), 2),
    ],
)
def test_arguments_as_they_were_sent_are_believed(sent: Any) -> None:
    seen = observe(lambda x, k: x, sent, k=sent)
    assert check_reply(Request(("answer", "f"), (sent,), {"k": sent}), seen) is seen


FACTS = observe(torch.zeros, 2, 3).result.facts
APART = "a shape and strides that do not belong together"
BEYOND = "a tensor that reaches beyond its storage"
STRIDES = "strides that contradict `is_contiguous`"


@pytest.mark.parametrize(
    ("shape", "stride", "more", "reason"),
    [
        ((2, 3), (3, 1), {}, None),
        ((2, 3), (3,), {}, APART),
        ((2,), (3, 1), {}, APART),
        ((-1,), (1,), {}, APART),
        ((2, 3), (3, 1), {"storage_nbytes": 23}, BEYOND),
        ((2, 3), (3, 1), {"storage_offset": 1}, BEYOND),
        ((2, 3), (3, 1), {"storage_offset": 1, "storage_nbytes": 28}, None),
        ((2, 2), (4, 1), {"is_contiguous": False}, None),
        ((2, 2), (4, 1), {"is_contiguous": False, "storage_nbytes": 23}, BEYOND),
        ((), (), {"storage_nbytes": 4}, None),
        ((), (), {"storage_nbytes": 3}, BEYOND),
        ((0, 3), (3, 1), {"storage_nbytes": 0, "storage_offset": 9}, None),
        ((0, 3), (1, 5), {"storage_nbytes": 0}, None),
        ((1, 3), (3, 1), {"storage_nbytes": 12}, None),
        ((1, 3), (3, 1), {"storage_nbytes": 11}, BEYOND),
        ((2, 3), (3, 1), {"is_contiguous": False}, STRIDES),
        ((2, 3), (1, 2), {}, STRIDES),
        ((3, 1, 2), (2, 9, 1), {}, None),
        ((1, 1), (5, 7), {}, None),
        ((2, 0), (9, 9), {}, None),
        ((1, 2), (1, 2), {}, STRIDES),
        ((2, 1, 3), (3, 9, 1), {}, None),
        ((2, 2, 2), (2, 2, 1), {"storage_nbytes": 32}, STRIDES),
        ((2, 2, 3), (6, 3, 1), {"storage_nbytes": 48}, None),
        ((2, 3), (9, 9), {"device": "meta"}, None),
        ((2, 3), (), {"layout": "torch.sparse_coo"}, None),
    ],
)
def test_facts_that_contradict_each_other_are_refused(
    shape: tuple[int, ...], stride: tuple[int, ...], more: dict[str, Any], reason: str | None
) -> None:
    facts = replace(FACTS, shape=shape, stride=stride, **more)
    _, seen = seen_of(torch.zeros(1))
    seen = replace(seen, args=Value([], "args"), result=Value({"a": [(SeenTensor(facts, None),)]}))
    found = None
    try:
        check_reply(Request(("answer", "f"), ()), seen)
    except Contradiction as error:
        found = str(error)
    assert found == reason


@pytest.mark.parametrize("field", ["result", "args_after", "kwargs_after", "grads"])
def test_no_part_of_an_observation_is_believed_unseen(field: str) -> None:
    request, seen = seen_of(torch.zeros(2))
    lie = Value([SeenTensor(replace(FACTS, storage_nbytes=4), None), 3, "text"])
    with pytest.raises(Contradiction, match="beyond its storage"):
        check_reply(request, replace(seen, **{field: lie}, untouched=False))


def test_other_arguments_than_were_sent_are_noticed() -> None:
    request, seen = seen_of(torch.zeros(2), 3, "text", [1, 2])
    for index, other in ((1, 4), (2, "other"), (3, [1]), (3, [1, 3])):
        args = list(seen.args.node)
        args[index] = other
        with pytest.raises(Contradiction, match=r"th\w+ w\w+ sent"):
            check_reply(request, replace(seen, args=Value(args, "the arguments")))
