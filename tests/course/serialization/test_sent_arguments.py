"""Looking twice says what writing the arguments down twice would say."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

from course.serialization import decode, encode
from course.serialization.delta_encoding import ArgumentsBefore
from course.serialization.sent_arguments import SentArguments, as_sent


def _sent() -> tuple[dict[str, Any], list[bytes]]:
    base = torch.arange(12.0).view(3, 4)
    args = (base, [base.t(), 1, 0.0, True], {"rows": (2, "a"), "x": torch.ones(2)})
    leaf = torch.zeros(3, requires_grad=True)
    return encode({"args": args, "kwargs": {"leaf": leaf, "none": None}}, strict=True)


def _arrived() -> tuple[dict[str, Any], tuple[dict[str, Any], list[bytes]]]:
    sent = _sent()
    made = decode(*sent, resolve=lambda *_: None)
    return {"args": tuple(made["args"]), "kwargs": made["kwargs"]}, sent


def _grow(tensor: torch.Tensor) -> None:
    tensor.untyped_storage().resize_(4096)


CHANGES: dict[str, Callable[[Any, dict[str, Any]], Any]] = {
    "nothing": lambda args, kwargs: None,
    "a read": lambda args, kwargs: args[0].sum(),
    "a value": lambda args, kwargs: args[0].add_(1),
    "a version alone": lambda args, kwargs: args[0].add_(0),
    "memory alone": lambda args, kwargs: args[0].numpy().__setitem__((0, 0), 7.0),
    "a layout": lambda args, kwargs: args[0].t_(),
    "a storage": lambda args, kwargs: args[0].set_(torch.arange(12.0).view(3, 4)),
    "its size": lambda args, kwargs: _grow(args[2]["x"]),
    "an item": lambda args, kwargs: args[1].__setitem__(0, args[1][0].clone()),
    "a view as good": lambda args, kwargs: args[1].__setitem__(0, args[0].t()),
    "a type": lambda args, kwargs: args[1].__setitem__(1, True),
    "a sign": lambda args, kwargs: args[1].__setitem__(2, -0.0),
    "a length": lambda args, kwargs: args[1].append(1),
    "a key": lambda args, kwargs: args[2].update(new=1),
    "their order": lambda args, kwargs: args[2].update(rows=args[2].pop("rows")),
    "a flag": lambda args, kwargs: args[0].requires_grad_(),
    "a gradient": lambda args, kwargs: kwargs["leaf"].sum().backward(),
    "a keyword": lambda args, kwargs: kwargs.pop("none"),
    "a class": lambda args, kwargs: args[1].__setitem__(0, torch.nn.Parameter(args[1][0])),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_second_look_finds_what_a_second_document_would(name: str) -> None:
    found = []
    for looks in (True, False):
        given, sent = _arrived()
        before = ArgumentsBefore(given, partial(encode), sent if looks else None)
        assert isinstance(before._as_sent, SentArguments) is looks
        CHANGES[name](given["args"], given["kwargs"])
        found.append(before.are_unchanged())
    assert found[0] is found[1] is (name in ("nothing", "a read", "a view as good"))


@pytest.mark.parametrize("name", [*CHANGES][2:])
def test_what_is_not_as_it_was_sent_is_written_down(name: str) -> None:
    given, sent = _arrived()
    CHANGES[name](given["args"], given["kwargs"])
    changes_only_values = ("a value", "memory alone", "a version alone", "a view as good")
    assert (as_sent(given, sent) is None) is (name not in changes_only_values)


@pytest.mark.parametrize(
    "value", [np.ones(2), {1, 2}, range(3), torch.nn.Parameter(torch.ones(2)), torch.float32]
)
def test_of_anything_else_a_document_is_made(value: Any) -> None:
    sent = encode({"args": (value,), "kwargs": {}})
    made = decode(*sent, resolve=lambda *_: None)
    given = {"args": tuple(made["args"]), "kwargs": made["kwargs"]}
    before = ArgumentsBefore(given, partial(encode), sent)
    assert before._as_sent is None
    assert before.are_unchanged()


def test_marks_say_where_the_tensors_live() -> None:
    given, sent = _arrived()
    fast, slow = as_sent(given, sent), ArgumentsBefore(given, partial(encode), None)
    assert fast is not None
    marks = ArgumentsBefore(given, partial(encode), sent).plain["marks"]
    assert marks == fast.marks()
    tensors = [
        given["args"][0],
        given["args"][1][0],
        given["args"][2]["x"],
        given["kwargs"]["leaf"],
    ]
    assert marks[2::4] == [one._version for one in tensors]
    assert slow.are_unchanged()
