"""What travels, up to which size, and what is said of the rest."""

from __future__ import annotations

import math
from collections import Counter, OrderedDict, defaultdict, namedtuple
from typing import Any

import numpy as np
import pytest
import torch

from course.serialization import decode
from course.serialization.encoding import AnswerRef, EncodingLimits, WireError, encode, torch_object
from course.serialization.received import Absent, Handle, SeenTensor, Value

Pair = namedtuple("Pair", "one other")


def node(value: Any, **how: Any) -> Any:
    """The node of a value in its document."""
    return encode(value, **how)[0]["value"]


def reason(value: Any, **limits: int) -> str:
    """Why a value does not travel within these limits; as an argument it is refused with it."""
    found = node(value, limits=EncodingLimits(**limits))
    assert found == {"t": "absent", "why": found["why"], "attempted": True}
    with pytest.raises(WireError) as caught:
        encode(value, strict=True, limits=EncodingLimits(**limits))
    assert str(caught.value) == f"an argument cannot travel: {found['why']}"
    return str(found["why"])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (math.inf, {"t": "float", "v": "inf"}),
        (1.5, 1.5),
        (2**1024 - 1, 2**1024 - 1),
        ([1, True], [1, True]),
        ([2**63], [2**63]),
        ([-(2**63), 2**1024 - 1], [-(2**63), 2**1024 - 1]),
        ([1, math.inf, "a"], [1, {"t": "float", "v": "inf"}, "a"]),
        ([1, 1.5, "a", None], [1, 1.5, "a", None]),
        (Pair(1, "a"), {"t": "tuple", "v": [1, "a"]}),
        (OrderedDict(a=1), {"t": "dict", "v": [["a", 1]]}),
        (Counter("aa"), {"t": "dict", "v": [["a", 2]]}),
        (defaultdict(int, {1: 2}), {"t": "dict", "v": [[1, 2]]}),
        (torch.Size([2, 3]), {"t": "size", "v": [2, 3]}),
        (range(1, 9, 2), {"t": "range", "v": [1, 9, 2]}),
        (slice(1, None, 3), {"t": "slice", "v": [1, None, 3]}),
        (1 - 2j, {"t": "complex", "v": ["1.0", "-2.0"]}),
        (b"\x00\xff", {"t": "bytes", "v": "00ff"}),
        (..., {"t": "ellipsis", "v": None}),
        (torch.bfloat16, {"t": "dtype", "v": "bfloat16"}),
        (torch.device("cuda", 1), {"t": "device", "v": "cuda:1"}),
        (frozenset({"a"}), {"t": "frozenset", "v": ["a"]}),
        (Absent("why", attempted=False), {"t": "absent", "why": "why", "attempted": False}),
        (AnswerRef("f"), {"t": "answer", "v": "f"}),
        (Value([1]), [1]),
        (torch.relu, {"t": "torch", "name": "torch.relu"}),
        (torch.nn.functional.normalize, {"t": "torch", "name": "torch.nn.functional.normalize"}),
        (torch.nn.Linear, {"t": "torch", "name": "torch.nn.modules.linear.Linear"}),
    ],
)
def test_a_value_is_written_as_a_node(value: Any, expected: Any) -> None:
    assert node(value) == expected
    assert node(value, strict=True) == expected


@pytest.mark.parametrize(
    ("value", "limits", "why"),
    [
        (2**1024, {}, "an int above 1024 bits"),
        ("abcd", {"text": 3}, "a text of 4 characters; at most 3"),
        ([1, 2], {"items": 2}, "a list of 2 items is more than is looked at"),
        ((None, None), {"items": 2}, "a tuple of 2 items is more than is looked at"),
        ({1: 1}, {"items": 2}, "a dict of 1 items is more than is looked at"),
        ((1, 2), {"items": 2}, "a tuple of 2 items is more than is looked at"),
        (np.array(["a"]), {}, "a NumPy array of dtype <U1"),
        (np.zeros(2, "f4"), {"nbytes": 7}, "an array of 8 bytes"),
        (None, {"items": 0}, "nested deeper than 32 or too many items"),
        (None, {"depth": -1}, "nested deeper than -1 or too many items"),
    ],
)
def test_what_is_too_large_says_its_size(value: Any, limits: dict[str, int], why: str) -> None:
    assert reason(value, **limits) == why


@pytest.mark.parametrize(
    ("value", "limits"),
    [
        ("abc", {"text": 3}),
        ([1, 2], {"items": 3}),
        ([1, None], {"items": 3}),
        ({1: 1}, {"items": 3}),
        (np.zeros(2, "f4"), {"nbytes": 8}),
        (None, {"items": 1, "depth": 0}),
    ],
)
def test_what_just_fits_travels(value: Any, limits: dict[str, int]) -> None:
    assert node(value, strict=True, limits=EncodingLimits(**limits)) == node(value)


@pytest.mark.parametrize(
    ("value", "depth"),
    [
        ([[None]], 2),
        (({"a": None},), 2),
        ({"a": {"b": None}}, 2),
        ([slice(None)], 2),
        (Pair(Pair(None, 1), 1), 2),
        ({((None,),): 1}, 3),
    ],
)
def test_each_step_inwards_counts_as_one(value: Any, depth: int) -> None:
    encode(value, strict=True, limits=EncodingLimits(depth=depth))
    with pytest.raises(WireError, match=f"nested deeper than {depth - 1} "):
        encode(value, strict=True, limits=EncodingLimits(depth=depth - 1))


def test_items_are_counted_over_the_whole_value() -> None:
    value = [[1, 2, 3], [None], {"a": 1}, "x"]  # 1 list, 4 + 2 + 3 + 1 inside
    encode(value, strict=True, limits=EncodingLimits(items=11))
    with pytest.raises(WireError, match=r"too many items|more than is looked at"):
        encode(value, strict=True, limits=EncodingLimits(items=10))


@pytest.mark.parametrize(
    ("value", "limits", "why"),
    [
        ([1, 2**1024], {}, "an int above 1024 bits"),
        ([1, -(2**1024)], {}, "an int above 1024 bits"),
        (["a", "abcd"], {"text": 3}, "a text of 4 characters; at most 3"),
        ([1, "abcd"], {"text": 3}, "a text of 4 characters; at most 3"),
        ({"abcd": 1}, {"text": 3}, "a text of 4 characters; at most 3"),
        ({1: {"abcd": None}}, {"text": 3}, "a text of 4 characters; at most 3"),
    ],
)
def test_what_is_too_large_inside_a_container_says_so(
    value: Any, limits: dict[str, int], why: str
) -> None:
    with pytest.raises(WireError) as caught:
        encode(value, strict=True, limits=EncodingLimits(**limits))
    assert str(caught.value) == f"an argument cannot travel: {why}"


@pytest.mark.parametrize(
    ("value", "items"),
    [
        ([{"a": None}, 1], 5),  # the list, the dict, a key and a value, the number
        ([{"a": None, "b": None}], 6),
        ([{"a": [1, 2, 3], "b": 1}], 9),
        ({"a": [1, 2, 3], "b": [1, 2, 3]}, 5),  # each entry of the outermost has as many
    ],
)
def test_keys_and_values_are_counted(value: Any, items: int) -> None:
    assert node(value, strict=True, limits=EncodingLimits(items=items)) == node(value)
    with pytest.raises(WireError, match=r"too many items|more than is looked at"):
        encode(value, strict=True, limits=EncodingLimits(items=items - 1))


def test_a_key_for_which_there_is_no_room_is_refused() -> None:
    found = node([{"a": [1, 2, 3], "b": 1}], limits=EncodingLimits(items=7))
    first, second = found[0]["v"]
    assert first == ["a", [1, 2, 3]]
    assert [one["why"] for one in second] == ["nested deeper than 32 or too many items"] * 2


def test_an_object_without_plain_form_becomes_a_handle_with_the_number_that_keep_gives() -> None:
    kept: list[object] = []

    def keep(value: object) -> int:
        kept.append(value)
        return 40 + len(kept)

    module = torch.nn.Dropout(0.5)
    first, second = decode(*encode([module, len], keep=keep))
    assert (first.kind, first.type_name, first.number) == ("module", "Dropout", 41)
    assert first.about["training"] is True and kept == [module, len]
    assert (second.kind, second.number) == ("function", 42)
    assert node(module)["id"] == 0


def test_what_a_handle_tells_lies_one_step_inwards() -> None:
    for depth, told in [(1, True), (0, {"t": "absent", "attempted": True})]:
        found = node(torch.nn.Dropout(), limits=EncodingLimits(depth=depth))["about"]["training"]
        found = {k: v for k, v in found.items() if k != "why"} if depth == 0 else found
        assert found == told


def test_an_object_with_the_fields_of_a_named_tuple_is_none() -> None:
    assert node(type("Fields", (), {"_fields": ()})())["t"] == "handle"


def test_the_name_of_a_class_is_cut_and_a_handle_travels_without_what_it_tells() -> None:
    long = type("N" * 300, (), {})()
    assert node(long)["type"] == "N" * 200
    handle = Handle("module", "Net", 3, {"training": torch.ones(1)})
    assert decode(*encode(handle)).about["training"].facts.shape == (1,)
    assert node(handle, strict=True) == {
        "t": "handle", "id": 3, "kind": "module", "type": "Net", "about": {},
    }  # fmt: skip


def test_an_argument_of_a_class_of_ones_own_is_refused_with_the_remedy() -> None:
    with pytest.raises(WireError) as caught:
        encode([object()], strict=True)
    assert str(caught.value) == (
        "an argument of class object has no plain form. Pass tensors and plain data, and build "
        "the rest in a @probe beside the answer."
    )


def test_a_subclass_of_tensor_is_a_handle_and_no_tensor() -> None:
    class Own(torch.Tensor):
        pass

    assert node(torch.ones(1).as_subclass(Own))["kind"] == "tensor subclass"


def test_one_storage_is_sent_once_from_its_first_to_its_last_byte_in_use() -> None:
    base, other = torch.arange(8.0), torch.zeros(1)
    document, buffers = encode([base[4:5], other, base[2:3], base[5:6]])
    assert document["storages"] == [
        {"nbytes": 32, "start": 8, "buffer": 0},
        {"nbytes": 4, "start": 0, "buffer": 1},
    ]
    assert [entry["storage"] for entry in document["value"]] == [0, 1, 0, 0]
    assert np.frombuffer(buffers[0], "f4").tolist() == [2.0, 3.0, 4.0, 5.0]


def test_bytes_are_counted_over_arrays_and_storages_together() -> None:
    value = [np.zeros(2, "f4"), torch.zeros(2), torch.zeros(3)]
    document, buffers = encode(value, limits=EncodingLimits(nbytes=28))
    assert [len(buffer) for buffer in buffers] == [8, 8, 12]
    document, buffers = encode(value, limits=EncodingLimits(nbytes=27))
    assert [entry["buffer"] for entry in document["storages"]] == [1, -1]
    document, buffers = encode(value, limits=EncodingLimits(nbytes=8))
    assert [entry["buffer"] for entry in document["storages"]] == [-1, -1]
    arrays = [np.zeros(2, "f4")] * 3
    assert [one["t"] for one in node(arrays, limits=EncodingLimits(nbytes=23))] == [
        "array", "array", "absent",
    ]  # fmt: skip


def test_storages_are_counted_too_and_arguments_beyond_are_refused() -> None:
    value = [torch.zeros(1), np.zeros(1, "f4"), torch.zeros(1), torch.zeros(1)]
    document, buffers = encode(value, limits=EncodingLimits(buffers=2))
    assert [entry["buffer"] for entry in document["storages"]] == [1, -1, -1]
    assert len(buffers) == 2
    with pytest.raises(WireError, match="at most 64 MB together, in 2 storages"):
        encode(value, strict=True, limits=EncodingLimits(buffers=2))
    with pytest.raises(WireError, match="arguments cannot travel"):
        encode(torch.zeros(8), strict=True, limits=EncodingLimits(nbytes=31))


def test_bytes_are_counted_from_the_first_in_use_on() -> None:
    tails = [torch.zeros(8)[6:], torch.zeros(8)[6:]]
    document, _ = encode(tails, limits=EncodingLimits(nbytes=16))
    assert [entry["buffer"] for entry in document["storages"]] == [0, 1]
    assert encode(torch.empty(0))[1] == [b""]


@pytest.mark.parametrize("tensor", [torch.eye(2).to_sparse(), torch.zeros(2, device="meta")])
def test_a_tensor_without_bytes_travels_as_facts(tensor: torch.Tensor) -> None:
    document, buffers = encode(tensor)
    assert (document["storages"], buffers) == ([], [])
    assert (document["value"]["storage"], document["value"]["lazy"]) == (-1, [])
    assert decode(document, buffers).facts.shape == tuple(tensor.shape)


def test_a_tensor_whose_storage_was_cut_off_sends_no_bytes_beyond_it() -> None:
    x = torch.zeros(4)
    x.untyped_storage().resize_(8)
    document, buffers = encode(x)
    assert document["storages"][0]["buffer"] == -1 and buffers == []


def test_an_array_travels_in_row_major_order_and_native_bytes() -> None:
    sent = np.arange(6, dtype=">i4").reshape(2, 3).T
    found, (buffer,) = encode(sent)
    assert found["value"] == {"t": "array", "dtype": "<i4", "shape": [3, 2], "buffer": 0}
    assert np.frombuffer(buffer, "<i4").tolist() == [0, 3, 1, 4, 2, 5]


def test_lazy_views_are_named() -> None:
    z = torch.tensor([1 + 2j])
    assert [node(t)["lazy"] for t in (z, z.conj(), z.conj().imag)] == [[], ["conj"], ["neg"]]


def test_a_seen_tensor_travels_by_its_elements_or_not_at_all() -> None:
    seen = decode(*encode(torch.ones(2)))
    assert decode(*encode(seen)).tensor.tolist() == [1.0, 1.0]
    assert reason(SeenTensor(seen.facts, None)) == "no elements"


def test_a_name_leads_to_what_torch_offers_under_it_and_to_nothing_else() -> None:
    assert torch_object("torch.nn.Linear") is torch.nn.Linear
    assert torch_object("torch.nn.there_is_none") is None
    assert torch_object("torch.relu.a.b") is None


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_a_nested_tensor_is_absent_and_ends_no_test() -> None:
    nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    found = decode(*encode([nested, 1]))
    assert isinstance(found[0], Absent) and found[0].reason == "a tensor without one shape"
    assert found[1] == 1
