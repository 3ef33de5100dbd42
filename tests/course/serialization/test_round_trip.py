"""Values make the journey as JSON text and bytes and arrive equal; nothing else arrives."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course.serialization import AnswerRef, WireError, decode, encode
from course.serialization.encoding import EncodingLimits
from course.serialization.received import Absent, Handle, SeenTensor

plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary()
    | st.complex_numbers(allow_nan=False),
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text() | st.integers(), inner)
    ),
    max_leaves=20,
)
dtypes = st.sampled_from([torch.float32, torch.int64, torch.bool, torch.bfloat16, torch.complex64])


def journey(value: Any, **how: Any) -> Any:
    document, buffers = encode(value)
    return decode(json.loads(json.dumps(document)), buffers, **how)


@given(plain)
def test_plain_data_arrives_equal(value: Any) -> None:
    assert journey(value) == value


@given(
    dtypes,
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=3),
    st.integers(0, 4),
)
def test_a_tensor_arrives_with_its_layout_and_elements(
    dtype: torch.dtype, dims: list[tuple[int, int]], offset: int
) -> None:
    base = torch.arange(40).to(dtype)
    sent = base.as_strided([s for s, _ in dims], [t for _, t in dims], offset)
    seen = journey(sent)
    assert isinstance(seen, SeenTensor) and seen.tensor is not None
    assert torch.equal(seen.tensor, sent) and seen.tensor.stride() == sent.stride()
    assert seen.tensor.storage_offset() == sent.storage_offset()


@pytest.mark.parametrize("resolve", [None, lambda kind, key: None])
def test_an_empty_tensor_behind_its_storage_travels(resolve: Any) -> None:
    empty = torch.zeros(0, 4)
    behind = empty.narrow(1, 3, 1)
    assert behind.storage_offset() * behind.element_size() > behind.untyped_storage().nbytes()
    arrived = journey([behind, empty], resolve=resolve)
    tensors = [one if resolve else one.tensor for one in arrived]
    assert [tuple(one.shape) for one in tensors] == [(0, 1), (0, 4)]
    assert [one.storage_offset() for one in tensors] == [3, 0]


def test_aliasing_among_tensors_travels() -> None:
    a = torch.arange(4.0)
    one, other = journey([a, a[2:]], resolve=lambda kind, key: None)
    one.zero_()
    assert other.tolist() == [0.0, 0.0] and other._version == one._version == 1


def test_requires_grad_travels_to_an_argument() -> None:
    arrived = journey(torch.ones(2, requires_grad=True), resolve=lambda kind, key: None)
    assert arrived.requires_grad and arrived.is_leaf


def test_a_parameter_arrives_as_a_parameter() -> None:
    arrived = journey(torch.nn.Parameter(torch.ones(2)), resolve=lambda kind, key: None)
    assert type(arrived) is torch.nn.Parameter


def test_special_values_arrive() -> None:
    sent = [math.inf, torch.float16, torch.device("cpu"), torch.Size([2, 3]), range(1, 9, 2)]
    assert journey(sent) == sent
    assert math.isnan(journey(math.nan)) and journey(slice(1, None)) == slice(1, None)
    assert journey({1, 2}) == {1, 2} and journey(...) is ...
    assert np.array_equal(journey(np.eye(3)), np.eye(3))


def test_a_detached_view_arrives_beside_its_leaf_without_requiring_grad() -> None:
    leaf = torch.ones(2, 3, requires_grad=True)
    sent = [leaf, leaf.detach()[0]]
    arrived = journey(sent, resolve=lambda kind, key: None)
    assert [one.requires_grad for one in arrived] == [True, False]
    assert [one._is_view() for one in arrived] == [one._is_view() for one in sent]
    arrived[1].zero_()
    assert arrived[0][0].tolist() == [0, 0, 0]


def test_a_conjugate_view_arrives_with_its_values() -> None:
    sent = torch.tensor([1 + 2j]).conj()
    assert journey(sent).tensor.tolist() == [1 - 2j]


def test_an_object_equal_to_everything_arrives_as_a_handle() -> None:
    class Everything:
        def __eq__(self, other: object) -> bool:
            return True

    seen = journey([Everything()])[0]
    assert isinstance(seen, Handle) and seen != 1 and seen.type_name == "Everything"


def test_a_subclass_of_int_is_not_taken_for_an_int() -> None:
    class Liar(int):
        def __eq__(self, other: object) -> bool:
            return True

    assert isinstance(journey(Liar(3)), Handle)


def test_a_module_arrives_as_a_handle_with_its_parameters() -> None:
    seen = journey(torch.nn.Linear(3, 2))
    assert (seen.kind, seen.about["training"]) == ("module", True)
    assert seen.about["parameters"]["weight"].facts.shape == (2, 3)


def test_a_torch_function_arrives_as_itself() -> None:
    assert journey(torch.relu, resolve=lambda kind, key: None) is torch.relu
    assert journey(torch.nn.Linear, resolve=lambda kind, key: None) is torch.nn.Linear


def test_an_argument_without_plain_form_is_refused_with_the_remedy() -> None:
    with pytest.raises(WireError, match="build the rest in a @probe"):
        encode([torch.nn.Linear(1, 1)], strict=True)


def test_what_is_too_large_becomes_absent_and_keeps_its_facts() -> None:
    document, buffers = encode([torch.zeros(100), "text"], limits=EncodingLimits(nbytes=100))
    big, text = decode(document, buffers)
    assert big.tensor is None and big.facts.shape == (100,) and text == "text"


def test_an_endless_nesting_ends_as_absent() -> None:
    loop: list[Any] = []
    loop.append(loop)
    seen = journey(loop)
    while isinstance(seen, list):
        seen = seen[0]
    assert isinstance(seen, Absent) and "nested deeper" in seen.reason


@pytest.mark.parametrize("huge", [list(range(300_000)), dict.fromkeys(range(150_000))])
def test_a_collection_with_too_many_items_becomes_absent(huge: Any) -> None:
    seen = journey([huge, 1])
    assert isinstance(seen[0], Absent) and "items" in seen[0].reason and seen[1] == 1


def test_an_answer_stands_for_a_live_object() -> None:
    assert journey(AnswerRef("f"), resolve=lambda kind, key: (kind, key)) == ("answer", "f")


def tensor_document() -> tuple[dict[str, Any], list[bytes]]:
    return encode(torch.arange(4.0))


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("shape", [400]),
        ("stride", [-1]),
        ("storage_offset", 10**30),
        ("dtype", "pickle"),
        ("itemsize", 1),
        ("is_leaf", "yes"),
        ("shape", [[4]]),
    ],
)
def test_a_forged_fact_is_refused(field: str, value: Any) -> None:
    document, buffers = tensor_document()
    document["value"]["facts"][field] = value
    with pytest.raises(WireError):
        decode(document, buffers)


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        {},
        {"value": {"t": "pickle", "v": "x"}, "storages": []},
        {"value": {"t": "array", "dtype": "O", "shape": [1], "buffer": 0}, "storages": []},
        {"value": {"t": "dict", "v": [[1]]}, "storages": []},
        {"value": {"t": "torch", "name": "os.system"}, "storages": []},
        {"value": 1, "storages": [{"nbytes": 4, "start": 2, "buffer": 0}]},
    ],
)
def test_a_forged_document_is_refused(document: Any) -> None:
    with pytest.raises(WireError):
        decode(document, [b"\0" * 8], resolve=lambda kind, key: None)


def test_a_believed_byte_range_would_be_a_hole_and_is_computed() -> None:
    document, buffers = tensor_document()
    document["value"]["facts"]["byte_range"] = [0, 10**9]
    assert decode(document, buffers).facts.byte_range == (0, 16)


def test_what_torch_returns_with_names_is_the_tuple_that_it_is() -> None:
    values, indices = journey(torch.tensor([1.0, 3.0, 2.0]).topk(2))
    assert values.tensor.tolist() == [3.0, 2.0]
    assert indices.tensor.tolist() == [1, 2]
    assert type(journey(torch.tensor([[1.0]]).max(0))) is tuple


@pytest.mark.parametrize("value", [np.float64(2.5), np.complex128(1j), np.str_("a")])
def test_a_number_of_numpy_that_is_one_of_pythons_is_that(value: Any) -> None:
    found = journey(value)
    assert found == value
    assert type(found) in (float, complex, str)


def test_a_range_without_end_and_a_quantized_tensor_are_absent() -> None:
    assert isinstance(journey(range(10**5000)), Absent)
    assert journey(range(2, 9, 3)) == range(2, 9, 3)
    with pytest.warns(UserWarning, match="quantized"):
        quantized = torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8)
    assert journey(quantized).reason == "a quantized tensor"


def test_the_name_of_a_class_shows_its_control_characters() -> None:
    odd = type("K\x1b[31m\u202e", (), {})()
    assert journey(odd).type_name == "K\\x1b[31m\\u202e"
