"""The walk explorer: its slider, moved by the test, and its words."""

from __future__ import annotations

import pytest
import torch

from course.inspection.facts import positions
from course.lessons.memory_layout import explore_walk
from course.lessons.memory_layout.walk_explorer import step_words

GRID = torch.arange(6).view(2, 3)


def test_the_slider_reaches_from_the_first_element_to_the_last() -> None:
    panel = explore_walk(GRID, GRID.t(), names=["grid", "turned"]).panel
    assert (panel.element.min, panel.element.value, panel.element.max) == (1, 1, 6)
    assert panel.element.description == "Elements read:"


def test_a_move_of_the_slider_shows_where_the_walk_stands_in_each_tensor() -> None:
    panel = explore_walk(GRID, GRID.t(), names=["grid", "turned"]).panel
    panel.element.value = 4
    assert "grid[1, 0] lies at 0 + 1 · 3 + 0 · 1 = 3, 1 place further." in panel.page.value
    assert "turned[1, 1] lies at 0 + 1 · 1 + 1 · 3 = 4, 3 places further." in panel.page.value
    assert "Row by row, turned goes to storage positions 0, 3, 1, 4 …." in panel.page.value


@pytest.mark.parametrize(
    "tensor",
    [
        GRID[:, 1:],
        torch.zeros(3).expand(2, 3),
        torch.arange(12).view(2, 3, 2).transpose(0, 2),
        torch.tensor(5.0),
    ],
    ids=["slice", "expanded", "three dimensions", "none"],
)
def test_the_sum_in_the_words_is_the_position(tensor: torch.Tensor) -> None:
    for number, position in enumerate(positions(tensor), 1):
        words = step_words(tensor, "x", number)
        terms = words.partition(" lies at ")[2].partition(" = ")[0]
        assert eval(terms.replace("·", "*")) == position
        assert f" = {position}," in words


def test_a_step_onto_the_same_place_says_so() -> None:
    assert step_words(torch.zeros(1).expand(3), "x", 2).endswith("= 0, the same place again.")


def test_without_a_front_end_the_whole_walk_is_a_picture() -> None:
    explorer = explore_walk(GRID.t(), names=["turned"])
    assert set(explorer._repr_mimebundle_()) == {"text/plain", "text/html"}
    assert "storage positions 0, 3, 1, 4, 2, 5." in repr(explorer)
    assert "<figure" in explorer._repr_html_()


def test_tensors_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="of one number of elements"):
        explore_walk(GRID, GRID[0], names=["grid", "row"])
