"""The walk through a storage: its picture is true of the tensor, and its texts stay apart."""

from __future__ import annotations

import itertools

import pytest
import torch

from course.figures.palette import REST, fill
from course.figures.scene import Arrow, Box, Scene
from course.lessons.memory_layout import show_walk
from course.lessons.memory_layout.walk_figure import indices_of
from tests.course.figures.drawn import scene_of, text_areas

GRID = torch.arange(6).view(2, 3)


def boxes(scene: Scene) -> list[Box]:
    """The boxes of the storage, which alone bear a value."""
    return [item for item in scene.items if isinstance(item, Box) and item.text]


def test_the_indices_are_those_of_reading_row_by_row() -> None:
    for shape in [(2, 3), (4,), (2, 1, 3), ()]:
        expected = [*itertools.product(*map(range, shape))]
        assert indices_of(torch.empty(shape)) == expected


def test_the_walk_in_words_names_the_positions_in_order() -> None:
    assert show_walk(GRID.t(), names=["t"]).alt == (
        "Row by row, t goes to storage positions 0, 3, 1, 4, 2, 5."
    )
    assert show_walk(GRID.t(), names=["t"], steps=2).alt == (
        "Row by row, t goes to storage positions 0, 3 …."
    )


def test_what_was_read_is_coloured_and_the_last_one_is_marked() -> None:
    drawn = boxes(scene_of(show_walk(GRID.t(), names=["t"], steps=3)))
    blue, orange = fill(0), fill(1)
    assert [box.fills[0] for box in drawn] == [blue, orange, REST, blue, REST, REST]


def test_there_is_an_arrow_for_each_step_between_two_elements() -> None:
    scene = scene_of(show_walk(GRID, GRID.t(), names=["grid", "turned"], steps=4))
    assert sum(isinstance(item, Arrow) for item in scene.items) == 2 * 3


def test_boxes_that_no_element_reaches_are_dashed() -> None:
    drawn = boxes(scene_of(show_walk(GRID[:, ::2], names=["x"])))
    assert [box.dashed for box in drawn] == [False, True, False, False, True, False]


def test_its_texts_do_not_lie_over_each_other() -> None:
    scene = scene_of(show_walk(GRID, GRID.t(), names=["grid", "turned"]))
    areas = text_areas(scene)
    pairs = itertools.combinations(areas, 2)
    assert [(one.what, other.what) for one, other in pairs if one.meets(other)] == []
    assert max(area.right for area in areas) <= scene.width + 4


@pytest.mark.parametrize("shape", [(0, 3), (5, 5)])
def test_a_walk_that_cannot_be_drawn_is_refused_with_its_shape(shape: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match=rf"x has shape \({shape[0]}, {shape[1]}\)"):
        show_walk(torch.zeros(shape), names=["x"])
