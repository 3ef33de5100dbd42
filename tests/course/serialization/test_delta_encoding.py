"""What came back as it was sent is rebuilt from what was sent, and nothing else passes for it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from course.serialization import AnswerRef, Buffers, WireError, decode, encode
from course.serialization.delta_encoding import is_same, marked, marks_of
from course.serialization.received import Handle, SeenTensor

base = torch.arange(12.0)
SENT = [
    [torch.ones(2, 3)],
    [base, base[3:], base.view(3, 4).t(), base[:0]],
    [torch.ones(2, requires_grad=True), torch.nn.Parameter(torch.zeros(3))],
    [torch.zeros(4).mul_(2)],  # its version is another one where it is rebuilt
    [torch.tensor(3), torch.ones(2, dtype=torch.complex64).conj()],
    [{"a": base, 1: (base, None)}, [1, 2.5, "x", True], {"b": [-0.0, float("nan")]}],
    [np.arange(6).reshape(2, 3), slice(0, 2), torch.float16, range(3), b"bytes", {1, 2}],
    [AnswerRef("double"), base, [AnswerRef("double")]],
    [],
]


def arrived(value: Any) -> tuple[dict[str, Any], Buffers, Any]:
    """What travelled of a value, and what was made of it at the other end."""
    document, buffers = encode(value, strict=True)
    document = json.loads(json.dumps(document))
    return document, buffers, decode(document, buffers, resolve=lambda kind, key: arrived)


def looked_at(value: Any) -> tuple[dict[str, Any], Buffers]:
    """What is found of it there."""
    return encode(value, keep=lambda value: 7)


def leaves(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return [leaf for one in value for leaf in leaves(one)]
    if isinstance(value, dict):
        return leaves([*value.items()])
    return [value]


@pytest.mark.parametrize("value", SENT, ids=range(len(SENT)))
def test_what_arrived_is_told_by_its_marks(value: Any) -> None:
    document, buffers, made = arrived(value)
    seen, found = looked_at(made)
    marks = marks_of(document, seen, (buffers, found))
    assert marks is not None
    rebuilt = decode(marked(document, json.loads(json.dumps(marks))), buffers)
    for one, other in zip(leaves(rebuilt), leaves(decode(seen, found)), strict=True):
        if isinstance(one, SeenTensor) and one.tensor is not None and other.tensor is not None:
            assert one.facts == other.facts and torch.equal(one.tensor, other.tensor)
        elif isinstance(one, np.ndarray):
            assert np.array_equal(one, other)
        else:
            assert repr(one) == repr(other)


def test_an_answer_comes_back_as_what_stood_for_it_there() -> None:
    document, buffers, made = arrived([AnswerRef("double")])
    seen, found = looked_at(made)
    marks = marks_of(document, seen, (buffers, found))
    assert decode(marked(document, marks), buffers) == [Handle("function", "function", 7)]


CHANGES: dict[str, Callable[[Any], Any]] = {
    "an element": lambda v: v[0].add_(1),
    "an element by NumPy": lambda v: v[0].numpy().__setitem__(0, 9),
    "a flag": lambda v: v[0].requires_grad_(),
    "a gradient": lambda v: setattr(v[0], "grad", torch.ones(2)),
    "strides": lambda v: v[1].t_(),
    "another storage": lambda v: v[1].set_(torch.ones(2, 2)),
    "a larger storage": lambda v: v[0].untyped_storage().resize_(64),
    "a tensor for another": lambda v: v.__setitem__(0, torch.ones(2)),
    "a tensor more": lambda v: v.append(torch.ones(2)),
    "a tensor less": lambda v: v.pop(),
    "an int for a bool": lambda v: v[2].__setitem__(0, 1),
    "a float for an int": lambda v: v[2].__setitem__(1, 2.0),
    "the sign of zero": lambda v: v[2].__setitem__(2, 0.0),
    "a text": lambda v: v[2].__setitem__(3, "y"),
    "a key": lambda v: v[3].update(b=1),
    "a value": lambda v: v[3].update(a=2),
    "the order of keys": lambda v: v[3].update(a=v[3].pop("a")),
    "an element of an array": lambda v: v[4].__setitem__(0, 5),
    "a list for a tuple": lambda v: v.__setitem__(5, [1, (2,)]),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_whatever_changed_is_not_the_same(change: Callable[[Any], Any]) -> None:
    value = [
        *(torch.ones(2), torch.ones(2, 2), [True, 2, -0.0, "x"], {"a": 1, "c": 3}),
        *(np.zeros(2), (1, (2,))),
    ]
    before, first = looked_at(value)
    again, second = looked_at(value)
    assert is_same(before, again, (first, second))
    change(value)
    after, third = looked_at(value)
    assert not is_same(before, after, (first, third))


# They differ in nothing but their storages' numbers, which are what marks tell.
MARKED = {"another storage", "a tensor for another"}


@pytest.mark.parametrize("name", CHANGES)
def test_what_did_not_arrive_as_it_was_sent_has_no_marks(name: str) -> None:
    value = [
        *(torch.ones(2), torch.ones(2, 2), [True, 2, -1.0, "x"], {"a": 1, "c": 3}),
        *(np.zeros(2), (1, (2,))),
    ]
    document, buffers, made = arrived(value)
    assert marks_of(document, looked_at(made)[0], (buffers, looked_at(made)[1])) is not None
    CHANGES[name](made)
    seen, found = looked_at(made)
    assert (marks_of(document, seen, (buffers, found)) is not None) == (name in MARKED)


def test_an_answer_that_is_a_tensor_is_no_stand_in() -> None:
    document, buffers = encode([AnswerRef("x")], strict=True)
    made = decode(document, buffers, resolve=lambda kind, key: torch.ones(2))
    seen, found = looked_at(made)
    assert marks_of(document, seen, (buffers, found)) is None


@pytest.mark.parametrize(
    "marks",
    [
        None,
        "1234",
        {},
        [],
        [1, 1, 0],
        [1, 1, 0, 64, None],
        [1, 1, 0, 64, 1],
        [-1, 1, 0, 64],
        [True, 1, 0, 64],
        [1.0, 1, 0, 64],
        ["1", 1, 0, 64],
        [None, 1, 0, 64],
        [1, None, 0, 64],
        [1, 1, 0, None],
        [[], 1, 0, 64],
    ],
    ids=repr,
)
def test_marks_that_cannot_be_are_refused(marks: Any) -> None:
    document, _ = encode([torch.ones(2)], strict=True)
    assert marked(document, [1, 1, None, 64]) and marked(document, [1, 1, 0, 64])
    with pytest.raises(WireError):
        marked(document, marks)


@pytest.mark.parametrize(
    "node",
    [
        *({"t": "no such"}, {}, {"t": "tensor"}, {"t": "answer", "v": "f"}),
        *([{"t": "handle"}], {"t": "array", "buffer": 0}),
    ],
    ids=repr,
)
def test_a_stand_in_that_is_no_node_is_refused(node: Any) -> None:
    document, _ = encode([AnswerRef("f")], strict=True)
    with pytest.raises(WireError):
        marked(document, [node])
