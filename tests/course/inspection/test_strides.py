"""The pure stride rules against torch, which is the oracle."""

from __future__ import annotations

import random
from math import prod

import pytest
import torch

from course.inspection.strides import complete_shape, is_contiguous, row_major_strides, view_strides

_STORAGE = torch.zeros(100_000)
Layout = tuple[list[int], list[int]]


def _layout(rng: random.Random) -> Layout:
    """A random layout: row-major and then disturbed, or with any strides at all."""
    shape = [rng.choice((1, 1, 2, 2, 3, 4, 6)) for _ in range(rng.randint(0, 5))]
    if shape and rng.random() < 0.08:
        shape[rng.randrange(len(shape))] = 0
    if rng.random() < 0.3:
        return shape, [rng.choice((0, 1, 2, 3, 4, 6, 12, 24)) for _ in shape]
    stride = list(row_major_strides(shape))
    for _ in range(rng.randint(0, 2) if shape else 0):
        _disturb(rng, shape, stride)
    return shape, stride


def _disturb(rng: random.Random, shape: list[int], stride: list[int]) -> None:
    i, j = rng.randrange(len(shape)), rng.randrange(len(shape))
    kind = rng.choice(("swap", "step", "expand", "narrow"))
    if kind == "swap":
        shape[i], shape[j], stride[i], stride[j] = shape[j], shape[i], stride[j], stride[i]
    elif kind == "narrow":
        shape[i] = max(shape[i] - 1, min(shape[i], 1))
    else:
        stride[i] *= 2 if kind == "step" else 0


def _target(rng: random.Random, numel: int) -> list[int]:
    """A random shape of so many elements, with some dimensions of size 1."""
    if numel == 0:
        return rng.choice(([0], [0, 3], [2, 0], [2, 0, 3], [3, 1, 0]))
    target, left = [1] * rng.choice((0, 0, 1, 2)), numel
    while left > 1:
        size = rng.choice([size for size in range(2, left + 1) if left % size == 0])
        target.insert(rng.randint(0, len(target)), size)
        left //= size
    return target


def _layouts(seed: int, count: int) -> list[Layout]:
    rng = random.Random(seed)
    return [_layout(rng) for _ in range(count)]


def _of_torch(layout: Layout) -> torch.Tensor:
    return torch.as_strided(_STORAGE, *layout)


def test_row_major_strides_are_those_of_a_new_tensor() -> None:
    for shape, _ in _layouts(seed=1, count=3000):
        assert row_major_strides(shape) == torch.empty(shape).stride(), shape


def test_contiguity_agrees_with_torch_on_random_layouts() -> None:
    seen = {True: 0, False: 0}
    for shape, stride in _layouts(seed=2, count=5000):
        expected = _of_torch((shape, stride)).is_contiguous()
        seen[expected] += 1
        assert is_contiguous(shape, stride) == expected, (shape, stride)
    assert min(seen.values()) > 500


def test_view_strides_agree_with_torch_on_random_layouts_and_targets() -> None:
    rng, outcomes = random.Random(3), {True: 0, False: 0}
    for shape, stride in _layouts(seed=3, count=5000):
        target = _target(rng, prod(shape)) if rng.random() < 0.95 else shape
        try:
            expected = _of_torch((shape, stride)).view(target).stride()
        except RuntimeError:
            expected = None
        outcomes[expected is None] += 1
        assert view_strides(shape, stride, target) == expected, (shape, stride, target)
    assert min(outcomes.values()) > 500


def test_reshape_copies_exactly_where_no_view_exists() -> None:
    rng = random.Random(4)
    for shape, stride in _layouts(seed=4, count=1000):
        target, tensor = _target(rng, prod(shape)), _of_torch((shape, stride))
        shares = tensor.reshape(target).untyped_storage()._cdata == tensor.untyped_storage()._cdata
        assert shares == (view_strides(shape, stride, target) is not None)


def test_a_target_with_another_number_of_elements_has_no_view() -> None:
    assert view_strides((3, 4), (4, 1), (5,)) is None


@pytest.mark.parametrize(
    ("numel", "shape"),
    [(12, (-1,)), (12, (2, -1)), (12, (3, 4)), (0, (-1, 3)), (1, ()), (12, (-1, 1, 2))],
)
def test_a_missing_size_is_worked_out_as_torch_does(numel: int, shape: tuple[int, ...]) -> None:
    assert complete_shape(numel, shape) == tuple(torch.empty(numel).reshape(shape).shape)


@pytest.mark.parametrize(
    ("numel", "shape"),
    [
        (12, (5,)),
        (12, (-1, 5)),
        (12, (-1, -1)),
        (12, (-2, 6)),
        (12, (-1, -2)),
        (12, (-1, -1, -2)),
        (12, (5, -1, -1)),
        (12, ()),
        (12, (-1, 0)),
        (0, (-1, 0)),
    ],
)
def test_an_impossible_shape_is_refused_in_torchs_words(numel: int, shape: tuple[int, ...]) -> None:
    with pytest.raises(RuntimeError) as of_torch:
        torch.empty(numel).reshape(shape)
    with pytest.raises(ValueError) as of_ours:
        complete_shape(numel, shape)
    assert str(of_ours.value) == str(of_torch.value)


def test_course_does_not_export_the_rules_that_learners_write() -> None:
    import course

    assert not {"row_major_strides", "is_contiguous", "view_strides"} & set(dir(course))
