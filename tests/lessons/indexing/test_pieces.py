"""Tensors joined and cut: each cell has the colour of where it belongs."""

from __future__ import annotations

import pytest
import torch

from course.figures import not_drawn
from course.figures.palette import CARD, FAULT, fill
from course.figures.picture import Picture
from course.figures.scene import Box, Label
from course.lessons.indexing import show_joined, show_pieces
from tests.course.figures.drawn import collisions, scene_of, texts_of

A, B = torch.arange(6).view(2, 3), torch.arange(10, 16).view(2, 3)


def boxes(picture: Picture) -> list[Box]:
    """The cells of the picture, in drawing order."""
    return [item for item in scene_of(picture).items if isinstance(item, Box)]


def test_every_cell_of_a_joined_tensor_has_the_colour_of_its_origin() -> None:
    drawn = boxes(show_joined(A, B, names=["a", "b"]))
    assert len(drawn) == 12 + 3 * 12
    assert {(int(box.text) >= 10, box.fills[0]) for box in drawn} == {
        (False, fill(0)),
        (True, fill(1)),
    }


def test_the_joined_cells_are_what_torch_makes() -> None:
    values = [int(box.text) for box in boxes(show_joined(A, B, names=["a", "b"]))[12:]]
    made = [torch.cat([A, B], 0), torch.cat([A, B], 1), torch.stack([A, B])]
    assert values == [value for one in made for value in one.flatten().tolist()]


def test_what_torch_refuses_is_told_in_its_words() -> None:
    picture = show_joined(A, torch.zeros(2, 2), names=["a", "b"])
    faults = [
        one.text for one in scene_of(picture).items if isinstance(one, Label) and one.ink == FAULT
    ]
    assert len(faults) == 2
    assert "Sizes of tensors must match except in dimension 0" in faults[0]
    assert "stack expects each tensor to be equal size" in faults[1]
    assert "torch.cat([a, b], dim=1) has shape (2, 5)." in picture.alt


def test_vectors_have_one_dimension_to_be_joined_along() -> None:
    texts = texts_of(show_joined(torch.arange(2), torch.arange(3), names=["a", "b"]))
    assert "torch.cat([a, b], dim=0)   (5,)" in texts
    assert not any("dim=1" in text for text in texts)


@pytest.mark.parametrize(
    ("number", "pieces"), [(4, "4 pieces: (3,), (3,), (3,) and (1,)"), (1, "1 piece: (10,)")]
)
def test_chunks_are_counted_and_coloured_in_turn(number: int, pieces: str) -> None:
    x = torch.arange(10)
    picture = show_pieces(x, {"x.chunk(…)": x.chunk(number)})
    assert pieces in texts_of(picture)
    each = -(-10 // number)
    assert [box.fills[0] for box in boxes(picture)] == [fill(i // each) for i in range(10)]


def test_pieces_of_columns_and_of_strided_tensors_lie_where_they_lie() -> None:
    x = torch.arange(12).view(3, 4).t()
    drawn = boxes(show_pieces(x, {"x.split([1, 3])": x.split([1, 3]), "x[1:3]": [x[1:3]]}))
    assert [box.fills[0] for box in drawn[:12]] == [fill(0)] * 3 + [fill(1)] * 9
    assert [box.fills[0] for box in drawn[12:]] == [CARD] * 3 + [fill(0)] * 6 + [CARD] * 3


def test_pieces_that_are_copies_are_refused() -> None:
    with pytest.raises(ValueError, match=r"c: show_pieces\(\) draws pieces that are views"):
        show_pieces(A, {"c": [A.clone()]})


@pytest.mark.parametrize("shape", [(7, 7), (1, 1, 1, 1)])
def test_what_is_too_large_is_refused_with_its_shape(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="can be drawn"):
        show_joined(torch.zeros(shape), names=["a"])
    with pytest.raises(ValueError, match="can be drawn"):
        show_pieces(torch.zeros(shape), {})


def test_each_tensor_needs_a_name() -> None:
    with pytest.raises(ValueError, match="2 tensors and 1 names"):
        show_joined(A, B, names=["a"])


def test_texts_do_not_lie_over_each_other() -> None:
    x = torch.arange(12).view(3, 4)
    cuts = {"x.chunk(2)": x.chunk(2), "x.split(1, dim=1)": x.split(1, dim=1)}
    assert collisions(scene_of(show_pieces(x, cuts))) == []
    assert collisions(scene_of(show_joined(A, B, torch.zeros(2, 2), names=["a", "b", "c"]))) == []


def test_while_grading_nothing_is_drawn() -> None:
    with not_drawn():
        assert "<img" not in show_joined(A, B, names=["a", "b"])._repr_html_()
        assert "<img" not in show_pieces(A, {"a.chunk(2)": A.chunk(2)})._repr_html_()
