"""Facts are compared with what torch itself says, over random layouts."""

from __future__ import annotations

import gc

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from course.inspection.facts import TensorFacts, facts, overlap, positions, same_storage

layouts = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=0, max_size=3).flatmap(
    lambda dims: st.tuples(st.just(dims), st.integers(0, 5))
)


def window(layout: tuple[list[tuple[int, int]], int], base: torch.Tensor) -> torch.Tensor:
    dims, offset = layout
    return base.as_strided([size for size, _ in dims], [step for _, step in dims], offset)


def test_a_transpose_shares_its_storage() -> None:
    a = torch.arange(6).view(2, 3)
    assert same_storage(a, a.t())
    assert facts(a.t()).stride == (1, 3)


def test_facts_say_what_torch_says() -> None:
    x = torch.zeros(4, 6, dtype=torch.float64)[1:, ::2].requires_grad_()
    seen = facts(x)
    assert (seen.shape, seen.stride) == (tuple(x.shape), x.stride())
    assert (seen.storage_offset, seen.itemsize) == (x.storage_offset(), x.element_size())
    assert (seen.is_contiguous, seen.is_leaf, seen.requires_grad) == (False, True, True)
    assert (seen.dtype, seen.device, seen.grad_fn) == ("float64", "cpu", None)
    assert seen.storage_nbytes == x.untyped_storage().nbytes() == 192


def test_the_byte_range_ends_behind_the_last_element() -> None:
    assert facts(torch.zeros(10)[2:5]).byte_range == (8, 20)
    assert facts(torch.zeros(4, 6)[:, ::2]).byte_range == (0, 92)
    assert facts(torch.zeros(5)[5:]).byte_range == (20, 20)


def test_a_storage_number_is_never_used_again() -> None:
    numbers = set()
    for _ in range(3000):
        numbers.add(facts(torch.zeros(3)).storage)
    gc.collect()
    assert len(numbers) == 3000


def test_facts_survive_the_tensor() -> None:
    x = torch.zeros(3)
    seen = facts(x)
    x.add_(1)
    assert (seen.version, facts(x).version) == (0, 1)


def test_an_intermediate_names_its_node_and_does_not_warn() -> None:
    x = torch.ones(2, requires_grad=True)
    assert facts((x * 2).view(2, 1)).grad_fn == "ViewBackward0"


def test_the_gradient_of_a_leaf_has_facts_too() -> None:
    x = torch.ones(2, requires_grad=True)
    (x * 3).sum().backward()
    grad = facts(x).grad
    assert grad is not None and grad.shape == (2,)


def test_an_inference_tensor_has_no_version() -> None:
    with torch.inference_mode():
        x = torch.ones(2)
    assert facts(x).version is None


def test_a_sparse_tensor_has_no_strides_and_no_storage() -> None:
    seen = facts(torch.eye(3).to_sparse())
    assert (seen.layout, seen.stride, seen.storage) == ("sparse_coo", (), 0)
    assert not same_storage(seen, seen)


def test_facts_of_a_list_name_the_remedy() -> None:
    with pytest.raises(TypeError, match=r"this is a list\. .*torch\.as_tensor"):
        facts([1, 2])  # type: ignore[arg-type]


def test_facts_do_not_listen_to_a_patched_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    x = torch.zeros(2, 3).t()
    monkeypatch.setattr(torch.Tensor, "stride", lambda self: (99,))
    monkeypatch.setattr(torch.Tensor, "is_contiguous", lambda self: True)
    assert (facts(x).stride, facts(x).is_contiguous) == ((1, 3), False)


def test_facts_travel_as_plain_data() -> None:
    seen = facts(torch.ones(2, 3, requires_grad=True))
    assert TensorFacts.from_dict(seen.to_dict()) == seen


def test_facts_with_a_wrong_field_are_refused() -> None:
    data = facts(torch.ones(2)).to_dict()
    with pytest.raises(ValueError, match="colour"):
        TensorFacts.from_dict({**data, "colour": 1})
    with pytest.raises(ValueError, match="storage_offset holds '0'"):
        TensorFacts.from_dict({**data, "storage_offset": "0"})


def test_sharing_a_storage_is_not_overlapping() -> None:
    a = torch.zeros(4)
    assert same_storage(a[:2], a[2:]) and not overlap(a[:2], a[2:])


def test_interleaved_slices_do_not_overlap() -> None:
    a = torch.zeros(10)
    assert not overlap(a[::2], a[1::2])
    assert overlap(a[::2], a[::3])


@given(layouts, layouts)
def test_overlap_is_a_common_position(
    one: tuple[list[tuple[int, int]], int], other: tuple[list[tuple[int, int]], int]
) -> None:
    base = torch.zeros(64)
    a, b = window(one, base), window(other, base)
    assert overlap(a, b) == bool(set(positions(a)) & set(positions(b)))


@given(layouts)
def test_positions_are_where_torch_finds_the_elements(
    layout: tuple[list[tuple[int, int]], int],
) -> None:
    base = torch.arange(64)
    assert positions(window(layout, base)) == window(layout, base).reshape(-1).tolist()


def test_a_tensor_without_elements_has_no_positions_however_large_its_other_sizes_are() -> None:
    assert positions(torch.empty(0, 1, 1).expand(0, 2**40, 2**40)) == []


def test_alignment_is_a_fact_apart_from_contiguity() -> None:
    x = torch.zeros(100)
    assert (facts(x).alignment, facts(x[1:]).alignment) == (64, 4)
    assert facts(x[1:]).is_contiguous


def test_the_repr_names_what_a_learner_looks_for() -> None:
    text = repr(facts(torch.zeros(2, 3).t()))
    assert "stride (1, 3)" in text and "not contiguous" in text and "view" in text
