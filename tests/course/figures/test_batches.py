"""Figures of batches: the loader's own indices, samples and batches, and padding to scale."""

from __future__ import annotations

import pytest
import torch
from torch.utils.data import DataLoader

from course.figures.batches import padding_of, show_batches, show_padding
from course.figures.palette import fill
from course.figures.scene import Box
from tests.course.figures.drawn import collisions, scene_of, texts_of

PLANS = {"as they come": [[5, 2, 7, 1], [3]], "in pairs": [[5, 7], [2, 1], [3]]}


def _loader() -> DataLoader[int]:
    squares = [i * i for i in range(6)]
    return DataLoader(squares, 4, sampler=[4, 5, 1, 2, 3, 0])  # type: ignore[arg-type]


def test_every_index_stands_above_its_sample_and_the_batches_below() -> None:
    texts = texts_of(show_batches(_loader()))
    indices = [i for batch in _loader().batch_sampler for i in batch]
    pairs = [text for text in texts[3:] if text.isdigit()]
    assert pairs == [word for i in indices for word in (str(i), str(i * i))]
    batches = [f"tensor({batch.tolist()})" for batch in _loader()]
    assert [text for text in texts if text.startswith("tensor")] == batches


def test_the_alt_text_tells_the_way_of_each_batch() -> None:
    alt = show_batches(DataLoader([7, 8, 9], 2)).alt  # type: ignore[arg-type]
    assert "Batch 0: the sampler gives [0, 1], the dataset 7, 8, collate_fn makes tensor" in alt


def test_a_large_batch_is_told_by_its_shape() -> None:
    texts = texts_of(show_batches(DataLoader(torch.zeros(2, 3, 4), 2)))  # type: ignore[arg-type]
    assert "tensor(shape (2, 3, 4))" in texts


@pytest.mark.parametrize("number", [0, 1])
def test_padding_is_what_is_missing_to_the_longest_of_each_batch(number: int) -> None:
    wasted, everything = padding_of(list(PLANS.values())[number])
    assert (wasted, everything) == [(13, 31), (3, 21)][number]


def test_bars_are_as_long_as_their_sequences() -> None:
    items = scene_of(show_padding({"one": [[4, 2]]})).items
    boxes = [item for item in items if isinstance(item, Box)]
    data, padding = [b for b in boxes if b.fills == (fill(0),)], [b for b in boxes if b.dashed]
    assert data[0].width == pytest.approx(2 * data[1].width)
    assert padding[0].x + padding[0].width == pytest.approx(data[0].width)


def test_two_plans_share_one_scale_and_no_text_lies_over_another() -> None:
    scene = scene_of(show_padding(PLANS))
    assert collisions(scene) == []
    first = [i for i in scene.items if isinstance(i, Box) and i.fills == (fill(0),)]
    assert first[0].width == pytest.approx(first[4].width)  # 5 elements in either plan
    assert scene.right <= 850


def test_empty_batches_and_sequences_can_be_drawn() -> None:
    assert b"<svg" in show_padding({"nothing": [[], [0, 0]]}).svg()


def test_lengths_below_zero_are_refused() -> None:
    with pytest.raises(ValueError, match="0 or more"):
        show_padding({"one": [[-1]]})
