"""A document is believed in nothing: each bound is held, and each refusal says what was wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from course.serialization.decoding import decode
from course.serialization.encoding import EncodingLimits, WireError, encode
from course.serialization.received import Absent, Handle, SeenTensor


def resolve(kind: str, key: Any) -> tuple[str, Any]:
    """What stands for a live object."""
    return kind, key


def refusal(document: Any, buffers: list[bytes] | None = None, **how: Any) -> str:
    """Why a document is refused."""
    with pytest.raises(WireError) as caught:
        decode(document, [b"\0" * 16] if buffers is None else buffers, **how)
    return str(caught.value)


def plain(value: Any, *storages: Any) -> dict[str, Any]:
    """A document of one node."""
    return {"value": value, "storages": list(storages)}


def tensor_with(storage: dict[str, Any] | None = None, **facts: Any) -> dict[str, Any]:
    """The document of a tensor of four floats with these facts, over this storage."""
    document, _ = encode(torch.arange(4.0))
    document["value"]["facts"] |= facts
    if storage is not None:
        document["storages"][0] |= storage
    return document


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (plain({"t": "pickle"}), "an unknown tag"),
        (plain({"t": "x" * 50}), "an unknown tag"),
        (plain({}), "an unknown tag"),
        (plain([(1,)]), "a dict was expected"),
        (plain({"t": "tuple", "v": 3}), "a list was expected"),
        (plain({"t": "size", "v": [1.0]}), "a whole number was expected"),
        (plain({"t": "size", "v": [True]}), "a whole number was expected"),
        (plain({"t": "range", "v": ["1"]}), "a whole number was expected"),
        (plain({"t": "float", "v": 1}), "a str was expected"),
        (plain({"t": "torch", "name": "os.system"}), "torch has no 'os.system'"),
        (plain({"t": "torch", "name": "numpy.relu"}), "torch has no 'numpy.relu'"),
        (plain({"t": "torch", "name": "torch." + "y" * 90}), f"torch has no 'torch.{'y' * 74}'"),
        (plain({"t": "dict", "v": [[1]]}), "not a document of this course"),
        (plain({"t": "dtype", "v": "pickle"}), "not a document of this course"),
        (plain({"t": "tuple"}), "not a document of this course"),
        ([], "not a document of this course"),
        (plain({"t": "handle", "id": "1"}), "a whole number was expected"),
        (plain({"t": "answer", "v": 1}), "a str was expected"),
    ],
)
def test_a_document_that_is_none_is_refused_with_the_reason(document: Any, reason: str) -> None:
    assert refusal(document, resolve=resolve) == reason


ARRAY = {"t": "array", "dtype": "<f4", "shape": [2, 2], "buffer": 0}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"buffer": 1}, "a buffer that did not come"),
        ({"buffer": -1}, "a buffer that did not come"),
        ({"buffer": 0.0}, "a whole number was expected"),
        ({"shape": [2, 3]}, "an array whose bytes do not match its shape"),
        ({"shape": [2, 1]}, "an array whose bytes do not match its shape"),
        ({"shape": [1], "dtype": "V16"}, "an array whose bytes do not match its shape"),
        ({"shape": [1], "dtype": "S16"}, "an array whose bytes do not match its shape"),
        ({"shape": [2], "dtype": "O"}, "an array whose bytes do not match its shape"),
    ],
)
def test_an_array_of_other_bytes_is_refused(change: dict[str, Any], reason: str) -> None:
    assert refusal(plain(ARRAY | change)) == reason


@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8", "bool", "complex64"])
def test_an_array_arrives_with_its_dtype_and_can_be_written_to(dtype: str) -> None:
    sent = np.arange(4).reshape(2, 2).astype(dtype)
    arrived = decode(*encode(sent))
    assert arrived.dtype == sent.dtype and np.array_equal(arrived, sent)
    arrived[0, 0] = 1


NAMES = "a tensor with unknown names in its facts"
TYPES = "a tensor with wrong types in its facts"
NUMBERS = "a tensor with impossible numbers in its facts"
SIZES = "a tensor with as many strides as sizes was expected"


@pytest.mark.parametrize(
    ("facts", "reason"),
    [
        ({"dtype": "float"}, NAMES),
        ({"dtype": "pickle"}, NAMES),
        ({"kind": "x" * 201}, NAMES),
        ({"kind": "x" * 200}, None),
        ({"grad_fn": 3}, NAMES),
        ({"device": None}, NAMES),
        ({"is_leaf": 1}, TYPES),
        ({"is_contiguous": "yes"}, TYPES),
        ({"requires_grad": None}, TYPES),
        ({"is_view": 0}, TYPES),
        ({"version": "1"}, TYPES),
        ({"version": None}, None),
        ({"itemsize": 8}, NUMBERS),
        ({"shape": [-1]}, NUMBERS),
        ({"stride": [-1]}, NUMBERS),
        ({"storage_offset": -1}, NUMBERS),
        ({"storage_nbytes": -1}, NUMBERS),
        ({"storage_nbytes": 2**62}, NUMBERS),
        ({"storage_nbytes": 2**62 - 1}, None),
        ({"stride": [1, 1]}, SIZES),
        ({"shape": [], "stride": [1]}, SIZES),
        ({"shape": [1] * 65, "stride": [1] * 65}, SIZES),
        ({"shape": [1] * 64, "stride": [1] * 64}, None),
        ({"shape": [5]}, "a tensor reaches beyond its storage"),
        ({"storage_offset": 1}, "a tensor reaches beyond its storage"),
        ({"storage_offset": 2, "shape": [2]}, None),
    ],
)
def test_facts_of_a_tensor_that_cannot_be_are_refused(
    facts: dict[str, Any], reason: str | None
) -> None:
    document = tensor_with(**facts)
    if reason is None:
        assert isinstance(decode(document, [b"\0" * 16]), SeenTensor)
    else:
        assert refusal(document) == reason


@pytest.mark.parametrize(
    ("storage", "reason"),
    [
        ({"start": -1}, "a buffer does not fit into its storage"),
        ({"start": 1}, "a buffer does not fit into its storage"),
        ({"nbytes": 15}, "a buffer does not fit into its storage"),
        ({"nbytes": -1}, "a buffer does not fit into its storage"),
        ({"nbytes": 0}, "a buffer does not fit into its storage"),
        ({"start": 0.0}, "a whole number was expected"),
        ({"nbytes": "16"}, "a whole number was expected"),
        ({"buffer": 1}, "a buffer that did not come"),
        ({"buffer": -2}, "a buffer that did not come"),
    ],
)
def test_a_buffer_that_does_not_fit_its_storage_is_refused(
    storage: dict[str, Any], reason: str
) -> None:
    assert refusal(tensor_with(storage)) == reason


def test_an_empty_storage_is_a_storage() -> None:
    document, buffers = encode(torch.empty(0))
    assert decode(document, buffers).tensor.shape == (0,)


def test_bytes_that_did_not_travel_are_zero_and_those_that_did_lie_where_they_were() -> None:
    base = torch.arange(1.0, 7.0)
    document, buffers = encode(base[2:4])
    seen = decode(document, buffers)
    assert seen.tensor.tolist() == [3.0, 4.0]
    whole = seen.tensor.as_strided((6,), (1,), 0)
    assert whole.tolist() == [0.0, 0.0, 3.0, 4.0, 0.0, 0.0]


@pytest.mark.parametrize("index", [-1, 1, 7])
def test_a_tensor_over_no_storage_is_seen_without_elements_and_is_no_argument(index: int) -> None:
    document = tensor_with()
    document["value"]["storage"] = index
    assert decode(document, [b"\0" * 16]).tensor is None
    reason = "a tensor argument came without its elements"
    assert refusal(document, resolve=resolve) == reason


def test_storages_beyond_four_times_the_limit_keep_their_facts_and_lose_their_elements(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    document, buffers = encode([torch.arange(4.0), torch.arange(4.0), "text"])
    for limit, carried in [(8, True), (7, False)]:
        monkeypatch.setattr("course.serialization.decoding.LIMITS", EncodingLimits(nbytes=limit))
        one, other, text = decode(document, buffers)
        assert (one.tensor is not None) == (other.tensor is not None) == carried
        assert one.facts.shape == (4,) and text == "text"


def nested(depth: int) -> Any:
    """An empty list, so many lists deep."""
    return [nested(depth - 1)] if depth else []


def test_a_document_nested_too_deeply_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("course.serialization.decoding.LIMITS", EncodingLimits(depth=2))
    assert decode(plain(nested(10)), []) == [[[[[[[[[[[]]]]]]]]]]]
    reason = "a document nested too deeply or with too many items"
    assert refusal(plain(nested(11))) == reason
    about = {"t": "handle", "id": 0, "kind": "module", "type": "Net", "about": {"a": nested(10)}}
    assert refusal(plain(about)) == reason
    assert decode(plain({**about, "about": {"a": nested(9)}}), []).about == {
        "a": [[[[[[[[[[]]]]]]]]]]
    }


@pytest.mark.parametrize(
    ("node", "items"),
    [
        ([None] * 7, 8),
        ({"t": "tuple", "v": [1] * 7}, 8),
        ([[1, 2], [3], None, None], 8),
    ],
)
def test_the_items_of_a_document_are_counted(
    monkeypatch: pytest.MonkeyPatch, node: Any, items: int
) -> None:
    last = [node, None]  # numbers are counted when the next node is read
    monkeypatch.setattr(
        "course.serialization.decoding.LIMITS", EncodingLimits(items=(items + 2 + 3) // 4)
    )
    assert len(decode(plain(last), [])) == 2
    monkeypatch.setattr(
        "course.serialization.decoding.LIMITS", EncodingLimits(items=(items + 2 + 3) // 4 - 1)
    )
    assert refusal(plain(last)) == "a document nested too deeply or with too many items"


def test_views_of_one_base_share_their_version_and_other_dtypes_their_memory() -> None:
    base = torch.arange(4.0)
    view, bits, tail = decode(
        *encode([base[:2], base.view(torch.int32), base[3:]]), resolve=resolve
    )
    assert (view.dtype, bits.dtype) == (torch.float32, torch.int32)
    view.fill_(0)
    assert bits[:2].tolist() == [0, 0] and tail._version == view._version == 1
    assert tail.tolist() == [3.0] and tail.storage_offset() == 3
    assert bits._version == 0
    assert view.untyped_storage().nbytes() == 16


def test_views_of_two_storages_stay_apart() -> None:
    one, other = decode(*encode([torch.zeros(3)[1:], torch.ones(3)[1:]]), resolve=resolve)
    assert (one.tolist(), other.tolist()) == ([0.0, 0.0], [1.0, 1.0])


def test_a_tensor_that_is_no_view_arrives_as_none_whatever_its_strides() -> None:
    sent = torch.empty_strided((2, 3), (1, 2)).copy_(torch.arange(6.0).view(2, 3))
    arrived = decode(*encode(sent), resolve=resolve)
    assert arrived._base is None and arrived.is_leaf and arrived._version == 0
    assert arrived.stride() == (1, 2) and torch.equal(arrived, sent)


def test_conjugate_and_negative_views_arrive_as_such() -> None:
    z = torch.tensor([1 + 2j])
    arrived = decode(*encode(z.conj()), resolve=resolve)
    assert arrived.is_conj() and arrived.tolist() == [1 - 2j]
    negative = z.conj().imag
    arrived = decode(*encode(negative), resolve=resolve)
    assert negative.is_neg() and arrived.is_neg() and arrived.tolist() == [-2.0]


@pytest.mark.parametrize("requires_grad", [True, False])
def test_a_parameter_requires_grad_as_it_did(requires_grad: bool) -> None:
    sent = torch.nn.Parameter(torch.ones(2), requires_grad)
    arrived = decode(*encode(sent), resolve=resolve)
    assert type(arrived) is torch.nn.Parameter
    assert arrived.requires_grad is requires_grad and arrived.tolist() == [1.0, 1.0]
    tensor = decode(*encode(torch.ones(2)), resolve=resolve)
    assert type(tensor) is torch.Tensor and not tensor.requires_grad


def test_a_handle_of_an_argument_is_resolved_by_its_number() -> None:
    node = {"t": "handle", "id": 7, "kind": "module", "type": "Net", "about": {"a": 1}}
    assert decode(plain(node), [], resolve=resolve) == ("handle", 7)
    assert decode(plain(node), []) == Handle("module", "Net", 7, {"a": 1})
    assert refusal(plain({"t": "answer", "v": "f"})) == (
        "an answer's name where a value was expected"
    )
    assert decode(plain({"t": "torch", "name": "torch.relu"}), []) == Handle(
        "function", "torch.relu"
    )


def test_keys_that_cannot_be_keys_become_words() -> None:
    tensor, text = (
        [1],
        {"t": "handle", "id": 0, "kind": "k", "type": "T", "about": {}},
    )
    found = decode(plain({"t": "dict", "v": [[tensor, 1], [text, 2], [text, 3], ["a", 4]]}), [])
    assert repr(found) == "{'[1]': 1, <Handle>: 2, <Handle>: 3, 'a': 4}"
    assert decode(plain({"t": "set", "v": [tensor, 3]}), []) == {"[1]", 3}
    found = decode(plain({"t": "frozenset", "v": [text, text]}), [])
    assert len(found) == 2 and found != frozenset({"<Handle>"})


def test_long_texts_of_a_document_are_cut_where_they_are_shown() -> None:
    why = decode(plain({"t": "absent", "why": "x" * 3000, "attempted": 0}), [])
    assert why == Absent("x" * 2000, attempted=False)
    assert decode(plain({"t": "slice", "v": [1, None, 2, 9]}), []) == slice(1, None, 2)
    assert decode(plain({"t": "complex", "v": ["1.5", "-2", "9"]}), []) == 1.5 - 2j


def test_a_device_that_only_the_notebook_knows_is_absent_and_no_forgery() -> None:
    found = decode(plain([{"t": "device", "v": "simulated"}, {"t": "device", "v": "cpu"}]), [])
    assert isinstance(found[0], Absent) and "'simulated'" in found[0].reason
    assert found[1] == torch.device("cpu")
