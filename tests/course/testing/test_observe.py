"""An observation says what one run did, and is the same after a journey as JSON."""

from __future__ import annotations

import copy
import io
import json
import pickle
import sys
import threading
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from course.serialization import WireError, decode, encode
from course.serialization.received import SeenTensor
from course.testing.observe import OUT_OF_SIGHT, from_wire, observe, observe_to_wire
from course.testing.recording import Options


def test_a_result_is_seen_with_its_storage() -> None:
    seen = observe(lambda x: x.t(), torch.zeros(2, 3))
    assert seen.ok and seen.result.facts.storage == seen.args[0].facts.storage


def test_what_a_call_did_is_neither_true_nor_false() -> None:
    seen = observe(torch.relu, torch.zeros(1), name="f")
    with pytest.raises(TypeError, match=r"what `f` did is neither true nor false: ask for"):
        assert seen


def test_a_mutated_argument_is_seen_before_and_after() -> None:
    seen = observe(lambda x: x.add_(1), torch.zeros(2))
    assert seen.args[0].plain.tolist() == [0.0, 0.0]
    assert seen.args_after[0].plain.tolist() == [1.0, 1.0]
    assert seen.args_after[0].facts.version == 1


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(3), GeneratorExit()])
def test_an_exception_is_part_of_the_observation(error: BaseException) -> None:
    def fail() -> None:
        raise error

    seen = observe(fail)
    assert seen.error is not None and seen.error.type == type(error).__name__
    assert not seen.result.present and "raise error" in (seen.error.source or "")


def test_an_interrupt_passes_through() -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        observe(interrupt)


def test_an_untouched_stub_is_not_an_attempt() -> None:
    def stub() -> None:
        raise NotImplementedError()

    def refusal() -> None:
        raise NotImplementedError("float16 is not supported")

    assert not observe(stub).attempted
    assert observe(refusal).attempted


def test_printing_and_warning_are_facts() -> None:
    def loud() -> None:
        print("one")
        print("two", file=sys.stderr)
        warnings.warn("three", stacklevel=1)

    seen = observe(loud)
    assert seen.printed == "one\ntwo\n" and seen.warnings == (("UserWarning", "three"),)


def test_a_megabyte_of_printing_is_counted_and_not_kept() -> None:
    seen = observe(lambda: print("x" * 10**6))
    assert seen.printed_count == 10**6 + 1 and len(seen.printed) < 20_000


def test_operators_and_functions_are_listed_in_order() -> None:
    seen = observe(lambda x: x.t().reshape(-1), torch.zeros(2, 3))
    assert seen.operators[:2] == ("aten::t", "aten::clone")
    assert seen.functions == ("torch.Tensor.t", "torch.Tensor.reshape")


def test_new_bytes_are_those_of_new_storages() -> None:
    assert observe(lambda x: x.view(-1), torch.zeros(2, 3)).new_nbytes == 0
    assert observe(lambda x: x.t().contiguous(), torch.zeros(2, 3)).new_nbytes == 24
    assert observe(lambda x: (x + 1 + 1).sum(), torch.zeros(6)).new_nbytes == 24 + 24 + 4


def test_what_the_graph_keeps_is_counted_once_a_storage() -> None:
    seen = observe(lambda x: x.exp() * x, torch.ones(6, requires_grad=True))
    assert {(s.node, s.name) for s in seen.saved} == {
        ("MulBackward0", "self"),
        ("MulBackward0", "other"),
        ("ExpBackward0", "result"),
    }
    assert seen.saved_nbytes == 48


class Doubled(torch.autograd.Function):
    """Keeps its input on ctx, and half of it in a list there."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.given, ctx.parts = x.detach(), [x / 2, "a word"]
        return x * 2


def test_tensors_that_hang_on_the_ctx_of_a_function_count_as_kept() -> None:
    seen = observe(lambda x: Doubled.apply(x), torch.ones(6, requires_grad=True))
    assert {(s.name, s.nbytes) for s in seen.saved} == {("given", 24), ("parts", 24)}


class Box:
    """An object as anybody may write it."""

    def inside(self) -> Any:
        return vars(self)


class Slot:
    __slots__ = ("empty", "x")


def in_an_attribute(x: torch.Tensor) -> Any:
    box = Box()
    vars(box)["inner"] = [Box(), {"x": Box()}]
    vars(vars(box)["inner"][1]["x"])["x"] = x
    return box


def in_a_slot(x: torch.Tensor) -> Any:
    slot = Slot()
    slot.x = x
    return slot


def in_a_tensor(x: torch.Tensor) -> Any:
    small = torch.ones(1)
    small.larger = x  # type: ignore[attr-defined]
    return small


def with_many_numbers(x: torch.Tensor) -> Any:
    return [list(range(100_000)), (x,)]


HIDES: list[Callable[[torch.Tensor], Any]] = [
    in_an_attribute,
    in_a_slot,
    in_a_tensor,
    with_many_numbers,
    lambda x: lambda: x,
    lambda x: partial(torch.add, other=x),
    lambda x: SimpleNamespace(x=x),
    lambda x: {x},
    lambda x: {x: 1},
    lambda x: type("Dict", (dict,), {})(x=x),
    lambda x: in_an_attribute(x).__init__,
    lambda x: in_an_attribute(x).inside,
    lambda x: x.add,
    lambda x: [in_a_slot(in_a_tensor(x)).x],
]


@pytest.mark.parametrize("hide", HIDES, ids=range(len(HIDES)))
def test_a_tensor_that_an_object_on_the_ctx_holds_counts_as_kept(hide: Any) -> None:
    class Hiding(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            ctx.box = hide(x.detach().clone())
            return x * 2

    seen = observe(lambda x: Hiding.apply(x), torch.ones(6, requires_grad=True))
    assert ("box", 24) in {(s.name, s.nbytes) for s in seen.saved}


def test_a_function_on_the_ctx_keeps_what_it_closes_over_and_no_globals() -> None:
    class Simple(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            ctx.step, ctx.kind, ctx.library = in_a_slot, Box, torch
            return x * 2

    seen = observe(lambda x: Simple.apply(x), torch.ones(6, requires_grad=True))
    assert seen.ok and seen.saved == ()


def test_a_saved_tensor_changed_in_place_is_seen_as_stale() -> None:
    def spoil(x: torch.Tensor) -> torch.Tensor:
        y = x.exp()
        z = y * 2
        y.add_(1)
        return z

    saved = observe(spoil, torch.ones(2, requires_grad=True)).saved
    assert [s.node for s in saved if s.stale] == ["ExpBackward0"]


def pickled(x: Any) -> bytes:
    file = io.BytesIO()
    torch.save(x, file)
    return file.getvalue()


LEAVES: list[Callable[[torch.Tensor], Any]] = [
    lambda x: x.numpy(),
    lambda x: np.frombuffer(bytes(x.untyped_storage()), dtype="f4"),
    lambda x: bytes(x.untyped_storage().tolist()),
    lambda x: list(x.untyped_storage()[4:8]),
    lambda x: x.storage().tolist(),
    pickled,
    lambda x: pickled({"rows": [torch.nn.Parameter(x)]}),
    lambda x: pickle.dumps(x),
    lambda x: x.__reduce_ex__(2),
]
STAYS: list[Callable[[torch.Tensor], Any]] = [
    lambda x: x.untyped_storage().data_ptr() == x[1:].untyped_storage().data_ptr(),
    lambda x: (x.untyped_storage().nbytes(), x.storage_offset(), x.data_ptr()),
    lambda x: torch.empty(0).set_(x.untyped_storage(), 1, (2,)).sum().item(),
    lambda x: [copy.deepcopy(one)[0].item() for one in (x, x)],
    lambda x: (copy.copy(x), copy.copy(torch.nn.Parameter(x))),
    lambda x: [float(one) for one in x],
    lambda x: copy.deepcopy(torch.nn.Linear(3, 1))(x),
    lambda x: torch.from_numpy(np.ones(3)) + x,
]


@pytest.mark.filterwarnings("ignore:TypedStorage")
@pytest.mark.parametrize("way", LEAVES, ids=range(len(LEAVES)))
def test_a_way_from_a_tensor_to_another_library_is_a_fact(way: Any) -> None:
    seen = observe(way, torch.arange(3.0))
    assert seen.ok and "leaves torch by" in (seen.out_of_sight() or "")


@pytest.mark.parametrize("way", STAYS, ids=range(len(STAYS)))
def test_to_compare_memory_or_to_copy_is_not_to_leave_torch(way: Any) -> None:
    seen = observe(way, torch.arange(3.0))
    assert seen.ok and seen.out_of_sight() is None


def test_gradients_are_recorded_where_asked() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    seen = observe(lambda t: t * t, x, options=Options(backward=True))
    assert seen.grads["args"][0].plain.tolist() == [2.0, 4.0]


def test_a_result_without_graph_says_that_nothing_leads_back() -> None:
    x = torch.ones(2, requires_grad=True)
    seen = observe(lambda t: t.detach() * 2, x, options=Options(backward=True))
    assert "requires grad" in seen.grads.node.reason


def test_observing_does_not_change_what_autograd_records() -> None:
    names = []
    observe(lambda x: names.append((x * 2).grad_fn.name()), torch.ones(2, requires_grad=True))
    assert names == ["MulBackward0"]


def test_a_graph_error_stays_the_same_under_observation() -> None:
    def spoiled(x: torch.Tensor) -> None:
        y = x.exp()
        y.add_(1)
        y.sum().backward()

    seen = observe(spoiled, torch.ones(2, requires_grad=True))
    assert seen.error is not None and "inplace operation" in seen.error.message


def test_an_error_keeps_no_tensor_alive() -> None:
    import gc
    import weakref

    refs: list[Any] = []

    def fail() -> None:
        big = torch.zeros(1000)
        refs.append(weakref.ref(big.untyped_storage()))
        raise RuntimeError("x")

    observe(fail)
    gc.collect()
    assert refs[0]() is None


def test_an_observation_is_equal_after_a_journey_as_json() -> None:
    def work(x: torch.Tensor, scale: float = 1.0) -> dict[str, Any]:
        print("hi")
        return {"y": x * scale, "pair": (x, [None, True])}

    header, buffers = observe_to_wire(
        work, (torch.ones(2, requires_grad=True),), {"scale": 3.0}, Options(), None
    )
    direct = from_wire(header, buffers, "work")
    travelled = from_wire(json.loads(json.dumps(header)), buffers, "work")
    for field in ("operators", "functions", "printed", "saved", "new_nbytes", "error", "warnings"):
        assert getattr(direct, field) == getattr(travelled, field)
    assert direct.result["y"].facts == travelled.result["y"].facts
    assert travelled.result["y"].plain.tolist() == [3.0, 3.0]


LOOKS = ("args", "kwargs", "args_after", "kwargs_after", "result", "grads")


@pytest.mark.parametrize(
    ("work", "untouched"),
    [
        (lambda x, rows, by=1: x * by, True),
        (lambda x, rows, by=1: x[0], True),
        (lambda x, rows, by=1: (rows, x), True),
        (lambda x, rows, by=1: 1 / 0, True),
        (lambda x, rows, by=1: x.mul_(2), False),
        (lambda x, rows, by=1: x.numpy().fill(3), False),
        (lambda x, rows, by=1: x.requires_grad_(), False),
        (lambda x, rows, by=1: rows.append(x), False),
        (lambda x, rows, by=1: rows[0].resize_(1), False),
    ],
)
def test_what_is_left_out_of_a_reply_is_known_all_the_same(
    work: Callable[..., Any], untouched: bool
) -> None:
    sent = encode({"args": (torch.ones(2, 3), [torch.zeros(2)]), "kwargs": {"by": 2}}, strict=True)
    replies = []
    for known in (None, sent):
        made = decode(*sent, resolve=lambda kind, key: None)
        header, buffers = observe_to_wire(
            work, made["args"], made["kwargs"], Options(backward=True), None, sent=known
        )
        replies.append(from_wire(json.loads(json.dumps(header)), buffers, "work", known))
    full, short = replies
    assert (full.as_sent, short.as_sent, full.untouched) == (False, True, untouched)
    assert short.untouched == untouched
    pairs = [
        pair
        for name in LOOKS
        for pair in zip(*(in_order(getattr(one, name).node) for one in replies), strict=True)
    ]
    numbers: dict[int, int] = {}
    for one, other in pairs:
        if isinstance(one, SeenTensor):
            assert one.tensor is not None and torch.equal(one.tensor, other.tensor)
            storage = numbers.setdefault(one.facts.storage, other.facts.storage)
            like = {"storage": storage, "memory": storage, "grad": other.facts.grad}
            assert other.facts == replace(one.facts, **like)
            assert (one.facts.grad is None) == (other.facts.grad is None)
        else:
            assert one == other


def in_order(node: Any) -> list[Any]:
    if isinstance(node, list | tuple):
        return [leaf for one in node for leaf in in_order(one)]
    return in_order([*node.values()]) if isinstance(node, dict) else [node]


def test_a_reply_to_nothing_cannot_be_about_what_was_sent() -> None:
    sent = encode({"args": (torch.ones(2),), "kwargs": {}}, strict=True)
    made = decode(*sent, resolve=lambda kind, key: None)
    header, buffers = observe_to_wire(
        torch.relu, made["args"], made["kwargs"], Options(), None, sent=sent
    )
    assert from_wire(header, buffers, "relu", sent).args[0].plain.tolist() == [1.0, 1.0]
    with pytest.raises(WireError, match="nothing was"):
        from_wire(header, buffers, "relu")


def test_an_error_whose_text_fails_is_still_described() -> None:
    class Nasty(Exception):
        def __str__(self) -> str:
            raise RuntimeError("again")

    def fail() -> None:
        raise Nasty

    seen = observe(fail)
    assert seen.error is not None and seen.error.message == "(its text could not be read)"


def test_what_runs_in_a_thread_leaves_no_empty_list_of_operators() -> None:
    def elsewhere(x: torch.Tensor) -> list[torch.Tensor]:
        found: list[torch.Tensor] = []
        thread = threading.Thread(target=lambda: found.append(x + 1))
        thread.start()
        thread.join()
        return found

    seen = observe(elsewhere, torch.zeros(2))
    assert seen.operators == (OUT_OF_SIGHT,)
    assert observe(lambda x: x, torch.zeros(2)).operators == ()
