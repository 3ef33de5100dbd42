"""Squares of an epoch: one for each sample, with its number of draws, and nothing left out."""

from __future__ import annotations

import pytest
import torch

from course.figures.epochs import show_epochs
from course.figures.palette import REST, fill
from course.figures.scene import Box
from tests.course.figures.drawn import collisions, scene_of, texts_of

LABELS = [0, 0, 1, 0, 1]


def squares(epoch: list[int], labels: list[int] = LABELS) -> list[Box]:
    items = scene_of(show_epochs({"one": epoch}, labels)).items
    return [item for item in items if isinstance(item, Box)]


def test_each_sample_has_a_square_with_its_number_of_draws() -> None:
    drawn = squares([0, 3, 0, 4])
    assert [box.text for box in drawn] == ["2", "", "1", "", "1"]  # class 0, then class 1


def test_a_sample_that_is_never_drawn_is_grey_and_others_have_the_colour_of_their_class() -> None:
    fills = [box.fills for box in squares([0, 3, 0, 4])]
    assert fills == [(fill(0),), (REST,), (fill(0),), (REST,), (fill(1),)]


def test_all_squares_are_of_one_size() -> None:
    assert len({(box.width, box.height) for box in squares([0, 1, 2])}) == 1


def test_the_title_and_the_alt_text_count_draws_and_different_samples() -> None:
    labels = torch.tensor(LABELS)
    picture = show_epochs({"first": [0, 0, 2], "next": []}, labels, names=["dog", "cat"])
    assert "first: 3 draws (dog 2, cat 1), 2 different samples" in texts_of(picture)
    assert picture.alt.endswith("next: 0 draws (dog 0, cat 0), 0 different samples.")


def test_what_does_not_fit_is_counted_and_nothing_overlaps() -> None:
    picture = show_epochs({"many": [*range(1000)] * 100}, [0] * 1000, names=["dog"])
    drawn = [item for item in scene_of(picture).items if isinstance(item, Box)]
    assert f"+ {1000 - len(drawn)} more" in texts_of(picture)
    assert scene_of(picture).right <= 850 and collisions(scene_of(picture)) == []


def test_an_index_beyond_the_labels_is_refused() -> None:
    with pytest.raises(ValueError, match="index 5, but there are 5 labels"):
        show_epochs({"one": [5]}, LABELS)
