"""Shapes that meet: what is drawn is what PyTorch does with them."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import pytest
import torch

from course.figures import not_drawn
from course.figures.palette import CARD, FAULT, fill
from course.figures.scene import Box, Label, Scene
from course.lessons.indexing import show_broadcast
from course.lessons.indexing.broadcast_figure import columns_of
from tests.course.figures.drawn import collisions, scene_of, texts_of

COLUMN, ROW = torch.tensor([[1.0], [2.0], [3.0], [4.0]]), torch.tensor([1.0, 2.0, 3.0, 4.0])


def boxes(scene: Scene) -> list[Box]:
    """The boxes of a scene, in drawing order."""
    return [item for item in scene.items if isinstance(item, Box)]


def test_the_sizes_that_come_out_are_those_of_torch() -> None:
    rng = random.Random(0)
    for _ in range(150):
        shapes = [
            [rng.choice((0, 1, 1, 2, 3)) for _ in range(rng.randint(0, 3))]
            for _ in range(rng.randint(1, 3))
        ]
        sizes = [column.result for column in columns_of(shapes)]
        try:
            assert tuple(sizes) == tuple(torch.broadcast_shapes(*shapes))
        except RuntimeError:
            assert None in sizes


def test_a_missing_size_is_a_dashed_one_and_a_stretched_one_says_to_what() -> None:
    drawn = boxes(scene_of(show_broadcast(COLUMN, ROW, names=["a", "b"])))[:6]
    assert [(box.text, box.dashed) for box in drawn] == [
        *(("4", False), ("(1) → 4", True), ("4", False)),
        *(("1 → 4", False), ("4", False), ("4", False)),
    ]


def test_each_tensor_has_as_many_solid_cells_as_elements_of_its_own() -> None:
    image, weights = torch.zeros(3, 2, 3), torch.ones(3, 1, 1)
    drawn = boxes(scene_of(show_broadcast(image, weights, names=["image", "weights"])))[9:]
    solid = Counter(box.fills[0] for box in drawn if not box.dashed)
    assert solid == {fill(0): image.numel(), fill(1): weights.numel()}
    assert sum(box.dashed for box in drawn) == image.numel() - weights.numel()
    assert {box.fills[0] for box in drawn if box.dashed} == {CARD}


def test_the_strides_before_and_after_are_those_of_expand() -> None:
    texts = texts_of(show_broadcast(COLUMN, ROW, names=["a", "b"]))
    assert f"stride {COLUMN.stride()} → {COLUMN.expand(4, 4).stride()}" in texts
    assert "stride (1,) → (0, 1)" in texts


def test_with_an_operation_the_result_stands_there_and_the_marked_cells_are_coloured() -> None:
    marked = torch.eye(4, dtype=torch.bool)
    picture = show_broadcast(
        COLUMN, ROW, names=["pred", "target"], operation=torch.sub, marked=marked
    )
    assert "pred - target   (4, 4)" in texts_of(picture)
    cells = boxes(scene_of(picture))[-16:]
    assert [float(cell.text) for cell in cells] == (COLUMN - ROW).flatten().tolist()
    assert [cell.fills[0] == fill(3) for cell in cells] == marked.flatten().tolist()


def test_an_operation_without_a_sign_is_called_by_its_name_and_a_lambda_result() -> None:
    named = show_broadcast(COLUMN, ROW, names=["a", "b"], operation=torch.maximum)
    assert "maximum(a, b)" in texts_of(named)
    nameless = show_broadcast(COLUMN, ROW, names=["a", "b"], operation=lambda a, b: a + b)
    assert "result" in texts_of(nameless)


def test_a_clash_is_shown_where_it_is_and_nothing_is_stretched() -> None:
    picture = show_broadcast(torch.zeros(4, 3), torch.zeros(4), names=["image", "weights"])
    said = "In dimension -1 the sizes 3 and 4 meet, and none of them is 1: an error."
    assert picture.alt.endswith(said)
    scene = scene_of(picture)
    assert [box.text for box in boxes(scene) if box.edge == FAULT] == ["3", "4", "?"]
    assert [one.text for one in scene.items if isinstance(one, Label) and one.ink == FAULT] == [
        said
    ]
    assert len(boxes(scene)) == 6


def test_the_words_tell_the_strides_of_each_stretched_tensor() -> None:
    alt = show_broadcast(COLUMN, ROW, names=["a", "b"]).alt
    assert "a is read as (4, 4) with stride (1, 0)." in alt
    assert "b is read as (4, 4) with stride (0, 1)." in alt


def test_large_results_are_told_by_their_shapes_alone() -> None:
    picture = show_broadcast(torch.zeros(7, 1), torch.zeros(7), names=["a", "b"])
    assert len(boxes(scene_of(picture))) == 6
    assert "The shapes (7, 1) and (7,) give (7, 7)." in picture.alt


@pytest.mark.parametrize("shapes", [((), (3,)), ((2, 1, 3), (4, 1)), ((0, 3), (1, 3)), ((2, 3),)])
def test_texts_do_not_lie_over_each_other(shapes: tuple[tuple[int, ...], ...]) -> None:
    tensors = [torch.full(shape, 0.125) for shape in shapes]
    names = [name for name, _ in zip("abcd", shapes, strict=False)]
    operation = torch.mul if len(shapes) == 2 else None
    assert collisions(scene_of(show_broadcast(*tensors, names=names, operation=operation))) == []


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(ValueError, match="it got 2 tensors and 1 names"):
        show_broadcast(COLUMN, ROW, names=["a"])
    with pytest.raises(ValueError, match="1 to 4 tensors"):
        show_broadcast(*itertools.repeat(ROW, 5), names=list("abcde"))


def test_while_grading_nothing_is_drawn() -> None:
    with not_drawn():
        assert "<img" not in show_broadcast(COLUMN, ROW, names=["a", "b"])._repr_html_()
